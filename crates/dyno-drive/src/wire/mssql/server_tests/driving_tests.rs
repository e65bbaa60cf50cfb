//! Workloads on the server.

use dyno_gen::Workload;
use dyno_record::Control;

use super::loading_tests::{create, loaded, number, plan};
use super::*;
use crate::workloads::contract::Workload as Driven;
use crate::workloads::{Visitor, WorkloadPlan};
use crate::{DrivePlan, Outcome, drive};

/// The statements of a workload in T-SQL.
struct Statements;

impl Visitor for Statements {
    type Output = Vec<Statement>;

    fn visit<W: Driven + Clone>(self, workload: &W) -> Result<Vec<Statement>> {
        Ok(workload.statements(Dialect::Mssql))
    }
}

#[test]
#[ignore = "long"]
fn the_server_prepares_every_statement() {
    with_place(async |place| {
        let brokerage = json!({"kind": "brokerage", "params": {"scale": 1, "days": 5, "seed": 1}});
        let tpcc = json!({"kind": "tpcc", "params": {"warehouses": 1, "c_load": 7}});
        for (workload, params) in [(Workload::Brokerage, brokerage), (Workload::Tpcc, tpcc)] {
            create(place, workload).await;
            let plan: WorkloadPlan = serde_json::from_value(params).unwrap();
            let statements = plan.visit(1, Statements).unwrap();
            let wire = place.wire(&json!({}));
            for statement in &statements {
                let one = std::slice::from_ref(statement);
                let connected = wire.connect(one, &alarm()).await;
                let mut session = connected.unwrap_or_else(|error| panic!("{error}"));
                let values = vec![Value::Null; statement.params.len()];
                session.queue_begin(Access::Write);
                let slot = session.queue(StatementId(0), &values);
                match session.flush().await {
                    Ok(()) => assert!(session.rows(slot) <= 1, "{}", statement.name),
                    // Columns of inserted rows may not be null.
                    Err(error) => assert!(error.message.contains("[error 515]"), "{error}"),
                }
                session.recover().await.unwrap();
            }
            super::loading_tests::drop_tables(place, workload).await;
        }
    });
}

/// Drives in a thread of its own: a run has its own runtimes.
pub fn driven(plan: DrivePlan) -> Result<Outcome> {
    std::thread::spawn(move || drive(&plan, &Control::new())).join().unwrap()
}

#[test]
#[ignore = "long"]
fn transactions_keep_the_data_consistent() {
    with_place(async |place| {
        create(place, Workload::Tpcc).await;
        loaded(plan(place, "tpcc", &json!({"scale": 1}))).unwrap();
        let mut wire = place.endpoint.clone();
        wire["kind"] = json!("mssql");
        wire["lock_wait_s"] = json!(5);
        let spool = std::env::temp_dir().join(format!("{}.jsonl", place.database));
        let params = json!({"warehouses": 1, "c_load": dyno_gen::tpcc::c_load(7)});
        let plan = json!({
            "wire": wire, "seed": 5, "users": 4, "loop": {"kind": "closed"},
            "workload": {"kind": "tpcc", "params": params},
            "warmup_s": 0, "duration_s": 4, "interval_s": 0.25,
            "clock": {"unix_ns": 1_700_000_000_000_000_000i64, "monotonic_ns": 0}, "spool": spool
        });
        let outcome = driven(serde_json::from_value(plan).unwrap()).unwrap();
        std::fs::remove_file(&spool).unwrap();
        let errors: u64 = outcome.ops.values().flat_map(|op| op.errors.values()).sum();
        assert_eq!(errors, 0, "{:?}", outcome.errors_first);
        assert!(outcome.ops.len() >= 4 && outcome.tps > 0.0, "{:?}", outcome.ops.keys());
        let conditions = [
            "select count(*) from warehouse \
             where w_ytd <> (select sum(d_ytd) from district where d_w_id = w_id)",
            "select count(*) from district where d_next_o_id - 1 <> \
             (select max(o_id) from orders where o_w_id = d_w_id and o_d_id = d_id)",
            "select count(*) from orders where o_ol_cnt <> (select count(*) from order_line \
             where ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id)",
            "select count(*) from orders left join new_order on no_w_id = o_w_id \
             and no_d_id = o_d_id and no_o_id = o_id \
             where (o_carrier_id is null and no_o_id is null) \
             or (o_carrier_id is not null and no_o_id is not null)",
            "select count(*) from district where d_ytd <> (select sum(h_amount) from history \
             where h_w_id = d_w_id and h_d_id = d_id)",
        ];
        for condition in conditions {
            assert_eq!(number(place, condition, &[INT]).await, 0, "{condition}");
        }
        let delivered = "select count(*) from orders where o_id > 3000";
        assert!(number(place, delivered, &[INT]).await > 0);
    });
}
