use super::super::text::utf16_lossy;
use super::*;

fn endpoint() -> Endpoint {
    let config = serde_json::from_str(
        r#"{"host": "h", "port": 1433, "user": "us", "password": "pä", "database": "db"}"#,
    );
    Endpoint::new(config.unwrap()).unwrap()
}

/// The text at a place of the fixed part.
fn text(body: &[u8], place: usize) -> Vec<u8> {
    let at = |place: usize| usize::from(u16::from_le_bytes([body[place], body[place + 1]]));
    let (start, units) = (at(place), at(place + 2));
    body[start..start + units * 2].to_vec()
}

#[test]
fn a_login_has_its_texts_where_it_says() {
    let mut body = BytesMut::new();
    put_login(&endpoint(), 8000, &mut body);
    let number = |place: usize| u32::from_le_bytes(body[place..place + 4].try_into().unwrap());
    assert_eq!(number(0) as usize, body.len());
    assert_eq!((number(4), number(8)), (VERSION, 8000));
    let texts = [40, 48, 52, 64].map(|place| utf16_lossy(&text(&body, place)));
    assert_eq!(texts, ["us", "dyno", "h,1433", ""].map(str::to_owned));
    assert_eq!(utf16_lossy(&text(&body, 68)), "db");
    let features = u16::from_le_bytes([body[56], body[57]]) as usize;
    assert_eq!(body[number(features) as usize..], FEATURES);
}

#[test]
fn the_password_is_hidden_as_the_protocol_describes_it() {
    let mut body = BytesMut::new();
    put_login(&endpoint(), 4096, &mut body);
    let hidden = text(&body, 44);
    let plain: Vec<u8> = hidden.iter().map(|byte| (byte ^ 0xA5).rotate_left(4)).collect();
    assert_eq!(utf16_lossy(&plain), "p\u{e4}");
    // 'p' is 0x70 0x00: its halves change places, then 0xA5.
    assert_eq!(hidden[..2], [0x07 ^ 0xA5, 0xA5]);
}

#[test]
fn a_server_that_closes_the_connection_is_unreachable() {
    let lost = Error::new(ErrorKind::ConnectionLost, "x");
    assert_eq!(unreachable(lost).kind, ErrorKind::Unreachable);
    assert_eq!(unreachable(Error::new(ErrorKind::Protocol, "x")).kind, ErrorKind::Protocol);
}
