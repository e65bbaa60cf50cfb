//! A bare loop of point selects over SQL Server's protocol, for `benches/bench_mssql.py`: one
//! connection, `sp_execute` of one prepared statement, blocking reads, no checks.
//!
//! `bare_tds HOST:PORT USER PASSWORD DATABASE SQL KEYS SECONDS` prints selects and seconds.

use std::io::{Read, Result, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const HEADERS: [u8; 22] = [22, 0, 0, 0, 18, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0];

fn main() -> Result<()> {
    let all: Vec<String> = std::env::args().skip(1).collect();
    let [address, user, password, database, sql, keys, seconds] = &all[..] else {
        panic!("seven arguments are needed")
    };
    let (keys, seconds): (u32, f64) = (keys.parse().unwrap(), seconds.parse().unwrap());
    let mut server = Server { stream: TcpStream::connect(address)?, bytes: vec![0; 1 << 16] };
    server.stream.set_nodelay(true)?;
    server.ask(18, &[0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 255, 1, 0, 0, 0, 0, 0, 2])?;
    server.ask(16, &login(user, password, database))?;
    let length = server.ask(3, &prepare(sql))?;
    let answer = &server.bytes[..length];
    let at = answer.windows(3).rposition(|part| part == [0x26, 4, 4]).expect("no handle");
    let mut body = [&HEADERS[..], &[255, 255, 12, 0, 0, 0, 0, 0, 0x26, 4, 4]].concat();
    body.extend_from_slice(&answer[at + 3..at + 7]);
    body.extend_from_slice(&[0, 0, 0x26, 4, 4, 0, 0, 0, 0]);
    let mut message = packet(3, &body);
    let place = message.len() - 4;

    let (start, end) = (Instant::now(), Duration::from_secs_f64(seconds));
    let (mut done, mut key) = (0u64, 1u32);
    while start.elapsed() < end {
        // A cheap sequence over all keys in no order.
        key = key.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        message[place..].copy_from_slice(&(key % keys + 1).to_le_bytes());
        server.stream.write_all(&message)?;
        server.answer()?;
        done += 1;
    }
    println!("{done} {}", start.elapsed().as_secs_f64());
    Ok(())
}

struct Server {
    stream: TcpStream,
    bytes: Vec<u8>,
}

impl Server {
    fn ask(&mut self, kind: u8, body: &[u8]) -> Result<usize> {
        self.stream.write_all(&packet(kind, body))?;
        self.answer()
    }

    /// Reads an answer; returns its bytes.
    fn answer(&mut self) -> Result<usize> {
        let (mut read, mut at) = (0, 0);
        loop {
            read += self.stream.read(&mut self.bytes[read..])?;
            while let [_, status, high, low, ..] = self.bytes[at..read] {
                let length = usize::from(u16::from_be_bytes([high, low]));
                if read < at + length {
                    break;
                }
                at += length;
                if status == 1 {
                    return Ok(read);
                }
            }
        }
    }
}

fn packet(kind: u8, body: &[u8]) -> Vec<u8> {
    let [high, low] = (body.len() as u16 + 8).to_be_bytes();
    [&[kind, 1, high, low, 0, 0, 1, 0][..], body].concat()
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn login(user: &str, password: &str, database: &str) -> Vec<u8> {
    let (mut places, mut texts) = (Vec::new(), Vec::new());
    for (number, text) in ["", user, password, "bare", "", "", "", "", database].iter().enumerate()
    {
        let mut bytes = utf16(text);
        places.extend((94 + texts.len() as u16).to_le_bytes());
        places.extend((bytes.len() as u16 / 2).to_le_bytes());
        if number == 2 {
            for byte in &mut bytes {
                *byte = byte.rotate_left(4) ^ 0xA5;
            }
        }
        texts.extend(bytes);
    }
    places.resize(94 - 36, 0);
    let mut body = ((94 + texts.len()) as u32).to_le_bytes().to_vec();
    body.extend(0x7400_0004u32.to_le_bytes());
    body.extend(4096u32.to_le_bytes());
    body.extend([0; 12]);
    body.extend([0xE0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    [body, places, texts].concat()
}

fn prepare(sql: &str) -> Vec<u8> {
    let mut body = [&HEADERS[..], &[255, 255, 11, 0, 0, 0, 0, 1, 0x26, 4, 0]].concat();
    for text in ["@p1 int", sql] {
        let bytes = utf16(text);
        body.extend([0, 0, 0xE7, 0x40, 0x1F, 9, 4, 0xD0, 0, 0x34]);
        body.extend((bytes.len() as u16).to_le_bytes());
        body.extend(bytes);
    }
    body.extend([0, 0, 0x26, 4, 4, 1, 0, 0, 0]);
    body
}
