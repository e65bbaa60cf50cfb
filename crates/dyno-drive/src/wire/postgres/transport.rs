//! A byte stream to the server with one reused buffer each way.

use std::future::{Future as _, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::BytesMut;
use dyno_record::{Error, ErrorKind, Result};
use tokio::io::{AsyncReadExt as _, AsyncWrite as _};
use tokio::net::{TcpStream, UnixStream};

use super::Config;

const BUFFER: usize = 16 * 1024;

/// The connection's socket and buffers.
#[derive(Debug)]
pub struct Transport {
    stream: Stream,
    /// What has arrived and not been consumed.
    pub read: BytesMut,
    /// What is to be sent.
    pub write: BytesMut,
}

#[derive(Debug)]
enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Transport {
    /// Connects the socket.
    ///
    /// # Errors
    /// `unreachable`, or `usage` for a socket path that is too long.
    pub async fn connect(config: &Config) -> Result<Self> {
        let stream = match config.socket() {
            Some(path) => {
                let length = path.as_os_str().len();
                if length > 107 {
                    return Err(Error::new(
                        ErrorKind::Usage,
                        format!(
                            "the socket path {} has {length} bytes; 107 are possible: use a shorter directory",
                            path.display()
                        ),
                    ));
                }
                UnixStream::connect(path).await.map(Stream::Unix)
            }
            None => match TcpStream::connect((config.host.as_str(), config.port)).await {
                Ok(stream) => stream.set_nodelay(true).map(|()| Stream::Tcp(stream)),
                Err(error) => Err(error),
            },
        };
        let stream = stream.map_err(|error| {
            let kind = match error.kind() {
                io::ErrorKind::PermissionDenied => ErrorKind::Denied,
                _ => ErrorKind::Unreachable,
            };
            Error::new(kind, format!("cannot connect: {error}"))
        })?;
        Ok(Self {
            stream,
            read: BytesMut::with_capacity(BUFFER),
            write: BytesMut::with_capacity(BUFFER),
        })
    }

    /// Sends all of `write`, and empties it.
    pub async fn send(&mut self) -> io::Result<()> {
        let mut bytes = std::mem::take(&mut self.write);
        let result = self.send_bytes(&bytes).await;
        bytes.clear();
        self.write = bytes;
        result
    }

    /// Sends `bytes`. While the server does not take them, what it sends is read, so that the two
    /// cannot wait for each other.
    pub async fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        poll_fn(|context| self.poll_send(&mut rest, context)).await
    }

    fn poll_send(&mut self, rest: &mut &[u8], context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !rest.is_empty() {
            let written = match &mut self.stream {
                Stream::Unix(stream) => Pin::new(stream).poll_write(context, rest),
                Stream::Tcp(stream) => Pin::new(stream).poll_write(context, rest),
            };
            match written {
                Poll::Ready(Ok(bytes)) => *rest = &rest[bytes..],
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {
                    // Loop while there is something to read: only its absence arms the wake-up.
                    if ready!(self.poll_read(context))? == 0 {
                        return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
                    }
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Reads at least a byte more.
    pub async fn receive(&mut self) -> io::Result<()> {
        match poll_fn(|context| self.poll_read(context)).await {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Reads what is there, without waiting. False if there was nothing.
    pub async fn receive_available(&mut self) -> io::Result<bool> {
        let polled = poll_fn(|context| Poll::Ready(self.poll_read(context))).await;
        match polled {
            Poll::Pending => Ok(false),
            Poll::Ready(Ok(0)) => Err(io::ErrorKind::UnexpectedEof.into()),
            Poll::Ready(Ok(_)) => Ok(true),
            Poll::Ready(Err(error)) => Err(error),
        }
    }

    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if self.read.capacity() - self.read.len() < BUFFER / 4 {
            self.read.reserve(BUFFER);
        }
        // A `read_buf` future keeps no state: dropping it unfinished loses nothing.
        match &mut self.stream {
            Stream::Unix(stream) => pin!(stream.read_buf(&mut self.read)).poll(context),
            Stream::Tcp(stream) => pin!(stream.read_buf(&mut self.read)).poll(context),
        }
    }
}
