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

/// Babelfish has no procedures with outputs of type varchar(max).
#[test]
fn nothing_of_an_output_is_lost() {
    with_place(async |place| {
        let mut loader = place.loader().await;
        loader
            .run(
                "create procedure precise @k int, @money decimal(20, 6) output, \
                 @words varchar(8000) output as begin set nocount on; \
                 set @money = cast(@k as decimal(20, 6)) / 1000; \
                 set @words = replicate('ab', 4000); end",
            )
            .await
            .unwrap();
        let statement = Statement {
            name: "precise",
            sql: "exec precise $1, $2 output, $3 output".into(),
            params: &[INT],
            returns: &[Type::Decimal(2), Type::Text],
        };
        let wire = place.wire(&json!({}));
        let mut session = wire.connect(&[statement], &alarm()).await.unwrap();
        let slots = [1230, 1234].map(|key| session.queue(StatementId(0), &[Value::Int(key)]));
        session.flush().await.unwrap();
        assert_eq!(session.decimal(slots[0], 0, 0).unwrap(), 123);
        let error = session.decimal(slots[1], 0, 0).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Protocol, "{error}");
        assert_eq!(session.text(slots[0], 0, 1).unwrap(), "ab".repeat(4000));
    });
}
