//! Records of TLS and packets, with a server that the test plays itself: SQL Server closes a
//! connection on which a record has anything but one packet.

use std::io::{Read as _, Write as _};
use std::sync::Arc;

use bytes::{BufMut as _, Bytes, BytesMut};
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::channel;

use super::packet::{ANSWER, BATCH, CALLS, HEADER, LOGIN, PRELOGIN, ROWS, put_message};
use super::*;
use crate::wire::{Session as _, StatementId, Type, Value};

/// The end of a text, and of a call.
const RUN: &[u8] = &[0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const CALLED: &[u8] = &[0xFE, 0, 0, 0xE0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/// The number of a prepared text.
const PREPARED: &[u8] = &[0xAC, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x26, 4, 4, 9, 0, 0, 0];
/// The login is accepted.
const ACCEPTED: &[u8] = &[0xAD, 1, 0, 1];
/// Bytes of a header of a record.
const RECORD: usize = 5;

/// The server's end of an encrypted connection.
struct Server {
    stream: TcpStream,
    tls: ServerConnection,
}

/// A message, and the number of its packets.
struct Message {
    kind: u8,
    body: Vec<u8>,
    packets: usize,
}

impl Server {
    /// Accepts a connection, its handshake, and a login that asks for packets of `asked` bytes.
    /// Agrees on packets of 32,767 bytes.
    async fn accept(listener: TcpListener, asked: u32) -> Self {
        let (mut stream, _) = listener.accept().await.unwrap();
        assert_eq!(packet(&mut stream).await.0, PRELOGIN);
        let mut body = BytesMut::new();
        prelogin::put_request(true, &mut body);
        let mut out = BytesMut::new();
        put_message(&mut out, ANSWER, &body, 4096);
        stream.write_all(&out).await.unwrap();

        let mut tls = ServerConnection::new(Arc::new(certified())).unwrap();
        while tls.is_handshaking() {
            let (kind, body) = packet(&mut stream).await;
            assert_eq!(kind, PRELOGIN);
            tls.read_tls(&mut &body[..]).unwrap();
            tls.process_new_packets().unwrap();
            out.clear();
            let mut bytes = Vec::new();
            while tls.wants_write() {
                tls.write_tls(&mut bytes).unwrap();
            }
            put_message(&mut out, PRELOGIN, &bytes, 4096);
            stream.write_all(&out).await.unwrap();
        }
        let mut server = Self { stream, tls };
        let login = server.request().await;
        assert_eq!((login.kind, &login.body[8..12]), (LOGIN, &asked.to_le_bytes()[..]));
        let mut size = BytesMut::new();
        size.put_slice(&[0xE3, 13, 0, 4, 5]);
        text::put_utf16(&mut size, "32767");
        size.put_u8(0);
        server.answer(&[&size, ACCEPTED, RUN]).await;
        server
    }

    /// The next message, each of whose packets must be one record.
    async fn request(&mut self) -> Message {
        let mut message = Message { kind: 0, body: Vec::new(), packets: 0 };
        loop {
            let packet = self.record().await;
            let length = usize::from(u16::from_be_bytes([packet[2], packet[3]]));
            assert_eq!(packet.len(), length, "a record with other than one packet");
            message.kind = packet[0];
            message.body.extend_from_slice(&packet[HEADER..]);
            message.packets += 1;
            if packet[1] & 1 != 0 {
                return message;
            }
        }
    }

    /// What the next record has.
    async fn record(&mut self) -> Vec<u8> {
        let mut bytes = vec![0; RECORD];
        self.stream.read_exact(&mut bytes).await.unwrap();
        let length = usize::from(u16::from_be_bytes([bytes[3], bytes[4]]));
        bytes.resize(RECORD + length, 0);
        self.stream.read_exact(&mut bytes[RECORD..]).await.unwrap();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            self.tls.read_tls(&mut rest).unwrap();
        }
        let state = self.tls.process_new_packets().unwrap();
        let mut plain = vec![0; state.plaintext_bytes_to_read()];
        self.tls.reader().read_exact(&mut plain).unwrap();
        plain
    }

    async fn answer(&mut self, tokens: &[&[u8]]) {
        let mut out = BytesMut::new();
        put_message(&mut out, ANSWER, &tokens.concat(), 4096);
        self.tls.writer().write_all(&out).unwrap();
        let mut bytes = Vec::new();
        while self.tls.wants_write() {
            self.tls.write_tls(&mut bytes).unwrap();
        }
        self.stream.write_all(&bytes).await.unwrap();
    }

    /// Runs a text.
    async fn run(&mut self) {
        assert_eq!(self.request().await.kind, BATCH);
        self.answer(&[RUN]).await;
    }
}

/// The type and the body of a packet that is not encrypted.
async fn packet(stream: &mut TcpStream) -> (u8, Vec<u8>) {
    let mut head = [0; HEADER];
    stream.read_exact(&mut head).await.unwrap();
    let mut body = vec![0; usize::from(u16::from_be_bytes([head[2], head[3]])) - HEADER];
    stream.read_exact(&mut body).await.unwrap();
    (head[0], body)
}

fn certified() -> ServerConfig {
    let key = KeyPair::generate().unwrap();
    let signed = CertificateParams::default().self_signed(&key).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![signed.der().clone()], key)
        .unwrap()
}

/// Where a server listens, and the configuration of its clients.
async fn listening() -> (TcpListener, Config) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = serde_json::json!({
        "host": "127.0.0.1", "port": port, "user": "u", "database": "d", "tls": {"trust": true},
        "connect_timeout_s": 60
    });
    (listener, serde_json::from_value(config).unwrap())
}

fn run(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(work);
}

#[test]
fn prepared_texts_and_calls_have_one_packet_in_a_record() {
    const CALLED_TIMES: usize = 3000;
    let sql = format!("select '{}' + $1", "x".repeat(7500));
    let statement = |name| Statement {
        name,
        sql: sql.clone().into(),
        params: &[Type::Text],
        returns: &[Type::Text],
    };
    let statements = ["one", "two", "three", "four"].map(statement);
    run(async {
        let (listener, config) = listening().await;
        let playing = async {
            let mut server = Server::accept(listener, login::DRIVEN_PACKET as u32).await;
            // The options of a session, and whether it is Babelfish.
            server.run().await;
            server.run().await;
            let message = server.request().await;
            assert_eq!(message.kind, CALLS);
            assert!(message.packets > 3 && message.body.len() > 3 * login::ENCRYPTED_PACKET);
            // Each also as a text that may run alone.
            server.answer(&[PREPARED, CALLED].repeat(2 * statements.len())).await;
            server
        };
        let wire = Mssql::new(config).unwrap();
        let alarm = Alarm::new().unwrap();
        let (session, mut server) = tokio::join!(wire.connect(&statements, &alarm), playing);
        let mut session = session.unwrap();
        for _ in 0..CALLED_TIMES {
            session.queue(StatementId(0), &[Value::Text("a text")]);
        }
        let playing = async {
            let message = server.request().await;
            assert!(message.packets > 3 && message.body.len() > 3 * login::ENCRYPTED_PACKET);
            server.answer(&vec![CALLED; CALLED_TIMES]).await;
        };
        let (flushed, ()) = tokio::join!(session.flush(), playing);
        flushed.unwrap();
    });
}

#[test]
fn rows_to_load_have_one_packet_in_a_record() {
    run(async {
        let (listener, config) = listening().await;
        let (send, chunks) = channel(1);
        let rows = async move {
            for _ in 0..20 {
                send.send(Bytes::from_static(&[0; 9000])).await.unwrap();
            }
        };
        let loading = async {
            let endpoint = Endpoint::new(config).unwrap();
            let mut loader = Loader::connect(&endpoint).await.unwrap();
            loader.load("insert bulk t (a int)", &[], chunks).await.unwrap();
        };
        let playing = async {
            // Without TLS a load asks for packets that are larger than a record.
            let mut server = Server::accept(listener, 16_383).await;
            // The options of a session, and the begin of the load.
            server.run().await;
            server.run().await;
            let message = server.request().await;
            assert_eq!((message.kind, message.packets), (ROWS, 20 * 9000 / 16_383 + 1));
            server.answer(&[RUN]).await;
        };
        tokio::join!(loading, playing, rows);
    });
}
