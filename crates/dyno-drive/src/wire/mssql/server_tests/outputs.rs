//! Procedures with output parameters.

use super::*;

const GIVE_BACK: StatementId = StatementId(2);

#[test]
fn outputs_are_read_as_a_row() {
    with_place(async |place| {
        let mut session = place.wire(&json!({})).connect(&calls(), &alarm()).await.unwrap();
        let slots = [7, 8, -1].map(|key| session.queue(GIVE_BACK, &[Value::Int(key)]));
        session.flush().await.unwrap();
        for (slot, key) in slots.into_iter().zip([7, 8]) {
            assert_eq!((session.rows(slot), session.affected(slot).unwrap()), (1, 1));
            assert_eq!(session.int(slot, 0, 0).unwrap(), key);
            assert_eq!(session.int(slot, 0, 1).unwrap(), key);
            assert_eq!(session.decimal(slot, 0, 2).unwrap(), 100 * key);
            assert_eq!(session.text(slot, 0, 3).unwrap(), format!("d\u{e9}j\u{e0} vu {key}"));
            assert!(!session.is_null(slot, 0, 4).unwrap());
        }
        for column in 0..5 {
            assert!(session.is_null(slots[2], 0, column).unwrap(), "{column}");
        }
    });
}
