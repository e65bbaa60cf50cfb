//! A byte stream to the server with one reused buffer each way.

use std::future::{Future as _, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::BytesMut;
use dyno_record::{Error, ErrorKind, Result};
use tokio::io::{AsyncReadExt as _, AsyncWrite as _};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;

use super::{Config, tls};
use crate::wire::tls::{Connector, server_end_point};

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
    Tls(Box<TlsStream<TcpStream>>),
}

impl Transport {
    /// Connects the socket, and shakes hands over it where there is a `connector` for TLS.
    ///
    /// # Errors
    /// `unreachable`, or `usage` for a socket path that is too long.
    pub async fn connect(config: &Config, connector: Option<&Connector>) -> Result<Self> {
        let stream = match (Self::dial(config).await?, connector) {
            (Stream::Tcp(stream), Some(connector)) => {
                Stream::Tls(Box::new(tls::secure(stream, config, connector).await?))
            }
            (stream, _) => stream,
        };
        Ok(Self {
            stream,
            read: BytesMut::with_capacity(BUFFER),
            write: BytesMut::with_capacity(BUFFER),
        })
    }

    async fn dial(config: &Config) -> Result<Stream> {
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
            None => match TcpStream::connect((config.address(), config.port)).await {
                Ok(stream) => stream.set_nodelay(true).map(|()| Stream::Tcp(stream)),
                Err(error) => Err(error),
            },
        };
        stream.map_err(|error| {
            let kind = match error.kind() {
                io::ErrorKind::PermissionDenied => ErrorKind::Denied,
                _ => ErrorKind::Unreachable,
            };
            Error::new(kind, format!("cannot connect: {error}"))
        })
    }

    /// What a login over this connection can be bound to: the server's end of TLS, if there is TLS
    /// and its certificate allows it.
    pub fn end_point(&self) -> Option<Vec<u8>> {
        let Stream::Tls(stream) = &self.stream else { return None };
        server_end_point(stream.get_ref().1.peer_certificates()?.first()?)
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
                Stream::Tls(stream) => Pin::new(stream).poll_write(context, rest),
            };
            match written {
                Poll::Ready(Ok(bytes)) => *rest = &rest[bytes..],
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => ready!(self.poll_drain(context))?,
            }
        }
        // What TLS has encrypted and not sent yet; the sockets keep nothing back.
        while let Stream::Tls(stream) = &mut self.stream {
            match Pin::new(stream).poll_flush(context) {
                Poll::Pending => ready!(self.poll_drain(context))?,
                flushed @ Poll::Ready(_) => return flushed,
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Reads while nothing can be sent. To be called until it is pending: only the absence of
    /// anything to read arms the wake-up.
    fn poll_drain(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match ready!(self.poll_read(context)) {
            Ok(0) => Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
            read => Poll::Ready(read.map(drop)),
        }
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
            Stream::Tls(stream) => pin!(stream.read_buf(&mut self.read)).poll(context),
        }
    }
}
