//! The consistency conditions of the TPC-C-derived workload.

use std::collections::BTreeMap;

use super::server::Server;

/// Counts the violations of each consistency condition (TPC-C specification, clause 3.3.2).
pub fn violations(server: &Server) -> BTreeMap<&'static str, String> {
    const CONDITIONS: [(&str, &str); 11] = [
        (
            "1",
            "select count(*) from warehouse left join (select d_w_id, sum(d_ytd) as ytd from district group by 1) d on d_w_id = w_id where w_ytd is distinct from ytd",
        ),
        (
            "2",
            "select count(*) from district left join (select o_w_id, o_d_id, max(o_id) as m from orders group by 1, 2) o on (o_w_id, o_d_id) = (d_w_id, d_id) left join (select no_w_id, no_d_id, max(no_o_id) as n from new_order group by 1, 2) n on (no_w_id, no_d_id) = (d_w_id, d_id) where d_next_o_id - 1 is distinct from m or (n is not null and n <> m)",
        ),
        (
            "3",
            "select count(*) from (select max(no_o_id) - min(no_o_id) + 1 as span, count(*) as rows from new_order group by no_w_id, no_d_id) n where span <> rows",
        ),
        (
            "4",
            "select count(*) from (select o_w_id, o_d_id, sum(o_ol_cnt) as s from orders group by 1, 2) o full join (select ol_w_id, ol_d_id, count(*) as c from order_line group by 1, 2) l on (ol_w_id, ol_d_id) = (o_w_id, o_d_id) where s is distinct from c",
        ),
        (
            "5",
            "select count(*) from orders full join new_order on (no_w_id, no_d_id, no_o_id) = (o_w_id, o_d_id, o_id) where o_id is null or (o_carrier_id is null) <> (no_o_id is not null)",
        ),
        (
            "6",
            "select count(*) from orders full join (select ol_w_id, ol_d_id, ol_o_id, count(*) as c from order_line group by 1, 2, 3) l on (ol_w_id, ol_d_id, ol_o_id) = (o_w_id, o_d_id, o_id) where o_ol_cnt is distinct from c",
        ),
        (
            "7",
            "select count(*) from order_line left join orders on (o_w_id, o_d_id, o_id) = (ol_w_id, ol_d_id, ol_o_id) where o_id is null or (ol_delivery_d is null) <> (o_carrier_id is null)",
        ),
        (
            "8",
            "select count(*) from warehouse left join (select h_w_id, sum(h_amount) as s from history group by 1) h on h_w_id = w_id where w_ytd is distinct from s",
        ),
        (
            "9",
            "select count(*) from district left join (select h_w_id, h_d_id, sum(h_amount) as s from history group by 1, 2) h on (h_w_id, h_d_id) = (d_w_id, d_id) where d_ytd is distinct from s",
        ),
        (
            "10 and 12",
            "with delivered as (select o_w_id, o_d_id, o_c_id, sum(ol_amount) as s from orders join order_line on (ol_w_id, ol_d_id, ol_o_id) = (o_w_id, o_d_id, o_id) where ol_delivery_d is not null group by 1, 2, 3), paid as (select h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) as p from history group by 1, 2, 3) select count(*) from customer left join delivered on (o_w_id, o_d_id, o_c_id) = (c_w_id, c_d_id, c_id) left join paid on (h_c_w_id, h_c_d_id, h_c_id) = (c_w_id, c_d_id, c_id) where c_balance <> coalesce(s, 0) - coalesce(p, 0) or c_balance + c_ytd_payment <> coalesce(s, 0)",
        ),
        (
            "counts",
            "select count(*) from (select h_c_w_id, h_c_d_id, h_c_id, count(*) as c from history group by 1, 2, 3) h full join customer on (h_c_w_id, h_c_d_id, h_c_id) = (c_w_id, c_d_id, c_id) where c_payment_cnt is distinct from c",
        ),
    ];
    CONDITIONS
        .into_iter()
        .map(|(name, sql)| (name, server.psql("tpcc", sql)))
        .filter(|(_, count)| count != "0")
        .collect()
}
