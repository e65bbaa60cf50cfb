//! A stream whose first bytes, those of a TLS handshake, are inside of the protocol's packets.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::packet::{HEADER, PRELOGIN, put_message};

/// Bytes of a packet.
const PACKET: usize = 4096;

/// The stream. After [`open`](Self::open) it is the connection itself.
#[derive(Debug)]
pub struct Tunnel {
    stream: TcpStream,
    packets: Option<Packets>,
}

/// The packets of a handshake.
#[derive(Debug, Default)]
struct Packets {
    /// Written and not yet in packets.
    plain: BytesMut,
    /// Packets to send.
    out: BytesMut,
    /// The header of the packet that is being read.
    head: BytesMut,
    /// Bytes left in it.
    left: usize,
}

impl Tunnel {
    /// Wraps a connection.
    pub fn new(stream: TcpStream) -> Self {
        Self { stream, packets: Some(Packets::default()) }
    }

    /// Ends the packets: the handshake is complete.
    pub fn open(&mut self) {
        self.packets = None;
    }

    /// Bytes of the packet at the start of a message. SQL Server closes a connection on which a
    /// record of TLS has more than one packet or only a part of one.
    pub fn first_packet(bytes: &[u8]) -> usize {
        let length = match bytes {
            [_, _, high, low, ..] => usize::from(u16::from_be_bytes([*high, *low])),
            _ => bytes.len(),
        };
        length.max(HEADER).min(bytes.len())
    }

    /// The connection.
    pub const fn stream(&self) -> &TcpStream {
        &self.stream
    }
}

impl AsyncRead for Tunnel {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { stream, packets } = self.get_mut();
        let Some(packets) = packets else { return Pin::new(stream).poll_read(context, buffer) };
        while packets.left == 0 {
            let mut head = [0; HEADER];
            let missing = HEADER - packets.head.len();
            let mut part = ReadBuf::new(&mut head[..missing]);
            ready!(Pin::new(&mut *stream).poll_read(context, &mut part))?;
            if part.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            packets.head.extend_from_slice(part.filled());
            if packets.head.len() == HEADER {
                let length = u16::from_be_bytes([packets.head[2], packets.head[3]]);
                packets.left = usize::from(length).saturating_sub(HEADER);
                packets.head.clear();
            }
        }
        let mut bytes = [0; PACKET];
        let most = PACKET.min(packets.left).min(buffer.remaining());
        let mut part = ReadBuf::new(&mut bytes[..most]);
        ready!(Pin::new(stream).poll_read(context, &mut part))?;
        packets.left -= part.filled().len();
        buffer.put_slice(part.filled());
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Tunnel {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let Self { stream, packets } = self.get_mut();
        let Some(packets) = packets else { return Pin::new(stream).poll_write(context, bytes) };
        packets.plain.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, packets } = self.get_mut();
        if let Some(packets) = packets {
            if !packets.plain.is_empty() {
                put_message(&mut packets.out, PRELOGIN, &packets.plain, PACKET);
                packets.plain.clear();
            }
            while !packets.out.is_empty() {
                let written = ready!(Pin::new(&mut *stream).poll_write(context, &packets.out))?;
                packets.out.advance(written);
            }
        }
        Pin::new(stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
