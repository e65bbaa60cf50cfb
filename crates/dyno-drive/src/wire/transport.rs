//! A byte stream to a server with one reused buffer in each direction.

use std::future::{Future as _, poll_fn};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::BytesMut;
use dyno_record::{Error, ErrorKind, Result, monotonic_ns};
use rustix::net::sockopt;
use tokio::io::{AsyncReadExt as _, AsyncWrite as _};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use super::LONGEST_ANSWERS;
use super::mssql::Tunnel;
use super::tls::{Connector, server_end_point};
use super::unix::UnixSocket;
use crate::alarm::Alarm;

const BUFFER: usize = 16 * 1024;
/// A read buffer that grew beyond this for an unusual answer is released.
const KEEP: usize = 1 << 20;
/// Minimum time to leave answers unread while the server has not read all commands: until the
/// second next multiple of this.
const PATIENCE_NS: u64 = 10_000_000;
/// Maximum length of a unix socket path.
const LONGEST_PATH: usize = 107;

/// The connection's socket and buffers.
#[derive(Debug)]
pub struct Transport {
    stream: Stream,
    /// Received and not consumed.
    pub read: BytesMut,
    /// To be sent.
    pub write: BytesMut,
}

#[derive(Debug)]
enum Stream {
    Unix(UnixSocket),
    Tcp(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    Tunnel(Box<TlsStream<Tunnel>>),
}

impl Transport {
    /// Connects to the unix socket at `path`.
    ///
    /// # Errors
    /// `unreachable` or `denied`; `usage` for a path that is too long.
    pub async fn unix(path: &Path) -> Result<Self> {
        let length = path.as_os_str().len();
        if length > LONGEST_PATH {
            return Err(Error::new(
                ErrorKind::Usage,
                format!(
                    "the socket path {} has {length} bytes; the maximum is {LONGEST_PATH}: use \
                     a shorter directory",
                    path.display()
                ),
            ));
        }
        let stream = UnixSocket::connect(path).await.map_err(|error| no_connection(&error))?;
        Ok(Self::new(Stream::Unix(stream)))
    }

    /// Connects to a port of a host.
    ///
    /// # Errors
    /// `unreachable` or `denied`.
    pub async fn tcp(host: &str, port: u16) -> Result<Self> {
        let stream = TcpStream::connect((host, port)).await;
        let stream = stream.and_then(|stream| settled(&stream).map(|()| stream));
        Ok(Self::new(Stream::Tcp(stream.map_err(|error| no_connection(&error))?)))
    }

    fn new(stream: Stream) -> Self {
        let buffer = || BytesMut::with_capacity(BUFFER);
        Self { stream, read: buffer(), write: buffer() }
    }

    /// Continues over TLS with the server named `host`; `ca` is the user's name for the list of
    /// authorities.
    ///
    /// # Errors
    /// As [`Connector::connect`]; `unreachable` if unconsumed data has arrived, which could be from
    /// anyone; `usage` over anything but TCP.
    pub async fn secure(self, connector: &Connector, host: &str, ca: &str) -> Result<Self> {
        let stream = connector.connect(host, self.plain()?, ca).await?;
        Ok(Self::new(Stream::Tls(Box::new(stream))))
    }

    /// Like [`secure`](Self::secure), with the handshake inside of packets.
    ///
    /// # Errors
    /// As [`secure`](Self::secure).
    pub async fn tunnel(self, connector: &Connector, host: &str, ca: &str) -> Result<Self> {
        let stream = Tunnel::new(self.plain()?);
        let mut stream = connector.connect(host, stream, ca).await?;
        stream.get_mut().0.open();
        Ok(Self::new(Stream::Tunnel(Box::new(stream))))
    }

    /// The connection, over which nothing unconsumed has arrived.
    fn plain(self) -> Result<TcpStream> {
        let Stream::Tcp(stream) = self.stream else {
            return Err(Error::new(ErrorKind::Usage, "TLS is supported over TCP only"));
        };
        if !self.read.is_empty() {
            let message = "TLS with the server failed: it sent unencrypted data before the \
             handshake";
            return Err(Error::new(ErrorKind::Unreachable, message));
        }
        Ok(stream)
    }

    /// Whether others cannot read the connection.
    pub const fn is_private(&self) -> bool {
        matches!(self.stream, Stream::Unix(_) | Stream::Tls(_) | Stream::Tunnel(_))
    }

    /// The channel binding of a login over this connection: the server's end of TLS, if there is
    /// TLS and its certificate supports it.
    pub fn end_point(&self) -> Option<Vec<u8>> {
        let Stream::Tls(stream) = &self.stream else { return None };
        server_end_point(stream.get_ref().1.peer_certificates()?.first()?)
    }

    /// Whether its other end is on this machine, or forwarded from here.
    pub fn is_local(&self) -> bool {
        let peer = match &self.stream {
            Stream::Unix(_) => return true,
            Stream::Tcp(stream) => stream.peer_addr(),
            Stream::Tls(stream) => stream.get_ref().0.peer_addr(),
            Stream::Tunnel(stream) => stream.get_ref().0.stream().peer_addr(),
        };
        peer.is_ok_and(|peer| peer.ip().to_canonical().is_loopback())
    }

    /// Discards received data.
    pub fn forget(&mut self) {
        self.read.clear();
        if self.read.capacity() > KEEP {
            self.read = BytesMut::with_capacity(BUFFER);
        }
    }

    /// Sends all of `write` and empties it.
    ///
    /// # Errors
    /// Those of the operating system.
    pub async fn send(&mut self) -> io::Result<()> {
        let result = self.send_part(0..self.write.len()).await;
        self.write.clear();
        result
    }

    /// Sends a part of `write`, which stays in the buffer.
    ///
    /// # Errors
    /// Those of the operating system.
    pub async fn send_part(&mut self, part: Range<usize>) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.write);
        let result = self.send_bytes(&bytes[part]).await;
        self.write = bytes;
        result
    }

    /// Sends a part of `write`, which stays in the buffer: commands that the server reads and
    /// answers one at a time. Over a unix socket, returns once the server has read the last one, or
    /// has not for so long that it may be waiting for its answers to be read; otherwise returns at
    /// once.
    ///
    /// # Errors
    /// Those of the operating system.
    pub async fn send_commands(&mut self, part: Range<usize>, alarm: &Alarm) -> io::Result<()> {
        let Stream::Unix(socket) = &mut self.stream else { return self.send_part(part).await };
        socket.hush()?;
        self.send_part(part).await?;
        let Stream::Unix(socket) = &self.stream else { return Ok(()) };
        // All sessions of a thread share these wake-up times of the timer.
        let patience = alarm.sleep_until((monotonic_ns() / PATIENCE_NS + 2) * PATIENCE_NS);
        tokio::select! {
            biased;
            taken = poll_fn(|context| socket.poll_taken(context)) => taken?,
            () = patience => {}
        }
        socket.take(&mut self.read)?;
        socket.listen()
    }

    /// Sends `bytes`. Reads incoming data while the server does not accept more, so that the two
    /// cannot deadlock.
    ///
    /// # Errors
    /// Those of the operating system.
    pub async fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        loop {
            let (mut piece, later) = rest.split_at(self.piece(rest));
            poll_fn(|context| self.poll_send(&mut piece, context)).await?;
            if later.is_empty() {
                return Ok(());
            }
            rest = later;
        }
    }

    /// How many bytes to send before the next flush: in the tunnel one packet, so that each record
    /// of TLS has exactly one.
    fn piece(&self, bytes: &[u8]) -> usize {
        match &self.stream {
            Stream::Tunnel(_) => Tunnel::first_packet(bytes),
            Stream::Unix(_) | Stream::Tcp(_) | Stream::Tls(_) => bytes.len(),
        }
    }

    fn poll_send(&mut self, rest: &mut &[u8], context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !rest.is_empty() {
            let written = match &mut self.stream {
                Stream::Unix(socket) => socket.poll_write(context, rest),
                Stream::Tcp(stream) => Pin::new(stream).poll_write(context, rest),
                Stream::Tls(stream) => Pin::new(stream).poll_write(context, rest),
                Stream::Tunnel(stream) => Pin::new(stream).poll_write(context, rest),
            };
            match written {
                Poll::Ready(Ok(bytes)) => *rest = &rest[bytes..],
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => ready!(self.poll_drain(context))?,
            }
        }
        // Data that TLS has encrypted but not sent; sockets hold back nothing.
        loop {
            let flushed = match &mut self.stream {
                Stream::Tls(stream) => Pin::new(stream).poll_flush(context),
                Stream::Tunnel(stream) => Pin::new(stream).poll_flush(context),
                Stream::Unix(_) | Stream::Tcp(_) => return Poll::Ready(Ok(())),
            };
            match flushed {
                Poll::Pending => ready!(self.poll_drain(context))?,
                Poll::Ready(_) => return flushed,
            }
        }
    }

    /// Reads while nothing can be sent. Call it until it returns pending: only a read without data
    /// arms the wake-up.
    fn poll_drain(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.read.len() > LONGEST_ANSWERS {
            let message = "the server sends without end and reads nothing";
            return Poll::Ready(Err(io::Error::other(message)));
        }
        match ready!(self.poll_read(context)) {
            Ok(0) => Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
            read => Poll::Ready(read.map(drop)),
        }
    }

    /// Reads at least one more byte.
    ///
    /// # Errors
    /// Those of the operating system; `UnexpectedEof` if the server has closed the connection.
    pub async fn receive(&mut self) -> io::Result<()> {
        match poll_fn(|context| self.poll_read(context)).await {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            read => read.map(drop),
        }
    }

    /// Reads available data without waiting. False if there was none.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    pub async fn receive_available(&mut self) -> io::Result<bool> {
        match poll_fn(|context| Poll::Ready(self.poll_read(context))).await {
            Poll::Pending => Ok(false),
            Poll::Ready(Ok(0)) => Err(io::ErrorKind::UnexpectedEof.into()),
            Poll::Ready(read) => read.map(|_| true),
        }
    }

    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if self.read.capacity() - self.read.len() < BUFFER / 4 {
            self.read.reserve(BUFFER);
        }
        // A `read_buf` future has no state: dropping it unfinished loses nothing.
        match &mut self.stream {
            Stream::Unix(socket) => socket.poll_read(context, &mut self.read),
            Stream::Tcp(stream) => pin!(stream.read_buf(&mut self.read)).poll(context),
            Stream::Tls(stream) => pin!(stream.read_buf(&mut self.read)).poll(context),
            Stream::Tunnel(stream) => pin!(stream.read_buf(&mut self.read)).poll(context),
        }
    }
}

/// Disables Nagle's algorithm, and enables keepalive: a statement may take any time, so only a dead
/// connection ends the wait for an answer.
fn settled(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, Duration::from_secs(60))?;
    sockopt::set_tcp_keepintvl(stream, Duration::from_secs(10))?;
    sockopt::set_tcp_keepcnt(stream, 6)?;
    sockopt::set_tcp_user_timeout(stream, 120_000)?;
    Ok(())
}

/// The error of a connection that failed during work.
pub fn lost(error: &io::Error) -> Error {
    Error::new(ErrorKind::ConnectionLost, format!("the connection broke: {error}"))
}

fn no_connection(error: &io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::PermissionDenied => ErrorKind::Denied,
        _ => ErrorKind::Unreachable,
    };
    Error::new(kind, format!("cannot connect: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt as _;
    use tokio::net::TcpListener;

    #[test]
    fn a_server_that_sends_without_end_and_reads_nothing_is_left() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let port = listener.local_addr().unwrap().port();
            let mut transport = Transport::tcp("127.0.0.1", port).await.unwrap();
            let (mut server, _) = listener.accept().await.unwrap();
            let endless = async move {
                for _ in 0..(8 * LONGEST_ANSWERS) >> 14 {
                    if server.write_all(&[0; 1 << 14]).await.is_err() {
                        break;
                    }
                }
            };
            let sending = async {
                let sent = transport.send_bytes(&vec![0; LONGEST_ANSWERS]).await;
                let read = transport.read.len();
                drop(transport);
                (sent, read)
            };
            let ((sent, read), ()) = tokio::join!(sending, endless);
            assert!(sent.is_err() && read < 2 * LONGEST_ANSWERS);
        });
    }
}
