//! The statements of client mode, over the specification's tables and columns.

use std::borrow::Cow;

use crate::wire::{Statement, StatementId, Type};
use crate::workloads::declared::{statements, statements_of};

const INT: Type = Type::Int;
const TEXT: Type = Type::Text;
const MONEY: Type = Type::Decimal(2);
/// Taxes and discounts.
const RATE: Type = Type::Decimal(4);
const TIME: Type = Type::Timestamp;

statements! {
    /// New-Order: tax of the warehouse.
    WAREHOUSE_TAX = "warehouse_tax",
        "select w_tax from warehouse where w_id = $1",
        &[INT] => &[RATE];
    /// New-Order: discount, last name and credit of the customer.
    CUSTOMER_TERMS = "customer_terms",
        "select c_discount, c_last, c_credit from customer \
         where c_w_id = $1 and c_d_id = $2 and c_id = $3",
        &[INT, INT, INT] => &[RATE, TEXT, TEXT];
    /// New-Order: price, name and data of an item.
    ITEM = "item",
        "select i_price, i_name, i_data from item where i_id = $1",
        &[INT] => &[MONEY, TEXT, TEXT];
    /// New-Order: takes the next order number of a district; returns it with the tax.
    TAKE_ORDER_NUMBER = "take_order_number",
        "update district set d_next_o_id = d_next_o_id + 1 where d_w_id = $1 and d_id = $2 \
         returning d_next_o_id - 1, d_tax",
        &[INT, INT] => &[INT, RATE];
    /// New-Order: the order.
    INSERT_ORDER = "insert_order",
        "insert into orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) \
         values ($1, $2, $3, $4, $5, $6, $7)",
        &[INT, INT, INT, INT, TIME, INT, INT] => &[];
    /// New-Order: marks the order as undelivered.
    INSERT_NEW_ORDER = "insert_new_order",
        "insert into new_order (no_o_id, no_d_id, no_w_id) values ($1, $2, $3)",
        &[INT, INT, INT] => &[];
    /// New-Order: a line.
    INSERT_LINE = "insert_line",
        "insert into order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, \
         ol_quantity, ol_amount, ol_dist_info) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        &[INT, INT, INT, INT, INT, INT, INT, MONEY, TEXT] => &[];
    /// Payment: name and address of the warehouse.
    WAREHOUSE_ADDRESS = "warehouse_address",
        "select w_name, w_street_1, w_street_2, w_city, w_state, w_zip from warehouse \
         where w_id = $1",
        &[INT] => &[TEXT, TEXT, TEXT, TEXT, TEXT, TEXT];
    /// Payment: name and address of the district.
    DISTRICT_ADDRESS = "district_address",
        "select d_name, d_street_1, d_street_2, d_city, d_state, d_zip from district \
         where d_w_id = $1 and d_id = $2",
        &[INT, INT] => &[TEXT, TEXT, TEXT, TEXT, TEXT, TEXT];
    /// Payment: a customer by number.
    PAYER_BY_NUMBER = "payer_by_number",
        "select c_id, c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, \
         c_state, c_zip, c_phone, c_since, c_credit_lim, c_discount from customer \
         where c_w_id = $1 and c_d_id = $2 and c_id = $3",
        &[INT, INT, INT] => PAYER;
    /// Payment: the customers of a last name, by first name.
    PAYERS_BY_NAME = "payers_by_name",
        "select c_id, c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, \
         c_state, c_zip, c_phone, c_since, c_credit_lim, c_discount from customer \
         where c_w_id = $1 and c_d_id = $2 and c_last = $3 order by c_first",
        &[INT, INT, TEXT] => PAYER;
    /// Payment: adds to the warehouse's year-to-date total.
    PAY_WAREHOUSE = "pay_warehouse",
        "update warehouse set w_ytd = w_ytd + $1 where w_id = $2",
        &[MONEY, INT] => &[];
    /// Payment: adds to the district's year-to-date total.
    PAY_DISTRICT = "pay_district",
        "update district set d_ytd = d_ytd + $1 where d_w_id = $2 and d_id = $3",
        &[MONEY, INT, INT] => &[];
    /// Payment: updates the customer's balance.
    PAY_CUSTOMER = "pay_customer",
        "update customer set c_balance = c_balance - $1, c_ytd_payment = c_ytd_payment + $1, \
         c_payment_cnt = c_payment_cnt + 1 \
         where c_w_id = $2 and c_d_id = $3 and c_id = $4 returning c_balance",
        &[MONEY, INT, INT, INT] => &[MONEY];
    /// Payment: updates a bad-credit customer, including the record in their data.
    PAY_BAD_CREDIT = "pay_bad_credit",
        "update customer set c_balance = c_balance - $1, c_ytd_payment = c_ytd_payment + $1, \
         c_payment_cnt = c_payment_cnt + 1, c_data = left($5 || c_data, 500) \
         where c_w_id = $2 and c_d_id = $3 and c_id = $4 returning c_balance, left(c_data, 200)",
        &[MONEY, INT, INT, INT, TEXT] => &[MONEY, TEXT];
    /// Payment: inserts the history row.
    INSERT_HISTORY = "insert_history",
        "insert into history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, \
         h_data) values ($1, $2, $3, $4, $5, $6, $7, $8)",
        &[INT, INT, INT, INT, INT, TIME, MONEY, TEXT] => &[];
    /// Order-Status: a customer by number.
    ASKER_BY_NUMBER = "asker_by_number",
        "select c_id, c_balance, c_first, c_middle, c_last from customer \
         where c_w_id = $1 and c_d_id = $2 and c_id = $3",
        &[INT, INT, INT] => &[INT, MONEY, TEXT, TEXT, TEXT];
    /// Order-Status: the customers of a last name, by first name.
    ASKERS_BY_NAME = "askers_by_name",
        "select c_id, c_balance, c_first, c_middle, c_last from customer \
         where c_w_id = $1 and c_d_id = $2 and c_last = $3 order by c_first",
        &[INT, INT, TEXT] => &[INT, MONEY, TEXT, TEXT, TEXT];
    /// Order-Status: a customer's last order.
    LAST_ORDER = "last_order",
        "select o_id, o_carrier_id, o_entry_d from orders \
         where o_w_id = $1 and o_d_id = $2 and o_c_id = $3 order by o_id desc limit 1",
        &[INT, INT, INT] => &[INT, INT, TIME];
    /// Order-Status: an order's lines.
    LINES = "lines",
        "select ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d from order_line \
         where ol_w_id = $1 and ol_d_id = $2 and ol_o_id = $3",
        &[INT, INT, INT] => &[INT, INT, INT, MONEY, TIME];
    /// Delivery: takes a district's oldest undelivered order. A concurrent Delivery that waits for
    /// the row lock continues with the next order rather than with none.
    TAKE_OLDEST = "take_oldest",
        "delete from new_order where no_w_id = $1 and no_d_id = $2 and no_o_id = (\
         select no_o_id from new_order where no_w_id = $1 and no_d_id = $2 \
         order by no_o_id limit 1 for update) returning no_o_id",
        &[INT, INT] => &[INT];
    /// Delivery: sets the order's carrier.
    DELIVER_ORDER = "deliver_order",
        "update orders set o_carrier_id = $1 where o_w_id = $2 and o_d_id = $3 and o_id = $4 \
         returning o_c_id",
        &[INT, INT, INT, INT] => &[INT];
    /// Delivery: sets the delivery date of the lines; returns their amounts.
    DELIVER_LINES = "deliver_lines",
        "update order_line set ol_delivery_d = $1 \
         where ol_w_id = $2 and ol_d_id = $3 and ol_o_id = $4 returning ol_amount",
        &[TIME, INT, INT, INT] => &[MONEY];
    /// Delivery: adds to the customer's balance.
    CHARGE_CUSTOMER = "charge_customer",
        "update customer set c_balance = c_balance + $1, c_delivery_cnt = c_delivery_cnt + 1 \
         where c_w_id = $2 and c_d_id = $3 and c_id = $4",
        &[MONEY, INT, INT, INT] => &[];
    /// Stock-Level: the district's next order number.
    NEXT_ORDER = "next_order",
        "select d_next_o_id from district where d_w_id = $1 and d_id = $2",
        &[INT, INT] => &[INT];
    /// Stock-Level: items of the last orders with low stock.
    LOW_STOCK = "low_stock",
        "select count(distinct s_i_id) from order_line, stock \
         where ol_w_id = $1 and ol_d_id = $2 and ol_o_id >= $3 and ol_o_id < $4 \
         and s_w_id = $1 and s_i_id = ol_i_id and s_quantity < $5",
        &[INT, INT, INT, INT, INT] => &[INT];
}

const PAYER: &[Type] =
    &[INT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TIME, MONEY, RATE];

const TAKE_STOCK: [&str; 10] = [
    "take_stock_01",
    "take_stock_02",
    "take_stock_03",
    "take_stock_04",
    "take_stock_05",
    "take_stock_06",
    "take_stock_07",
    "take_stock_08",
    "take_stock_09",
    "take_stock_10",
];

/// New-Order: takes a quantity of an item from a warehouse's stock; returns the district's text for
/// the order line. Adds 91 first if the stock would fall below 10 (clause 2.4.2.2).
pub const fn take_stock(district: i32) -> StatementId {
    StatementId(FIXED.len() as u16 + district as u16 - 1)
}

/// All statements, in the order of their indexes.
pub fn all() -> Vec<Statement> {
    let stock = (1..).zip(TAKE_STOCK).map(|(district, name)| Statement {
        name,
        sql: Cow::Owned(format!(
            "update stock set s_quantity = case when s_quantity >= $1 + 10 \
             then s_quantity - $1 else s_quantity - $1 + 91 end, \
             s_ytd = s_ytd + $1, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + $2 \
             where s_w_id = $3 and s_i_id = $4 \
             returning s_quantity, s_dist_{district:02}, s_data"
        )),
        params: &[INT, INT, INT, INT],
        returns: &[INT, TEXT, TEXT],
    });
    statements_of(FIXED).chain(stock).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_names_and_parameters_agree() {
        let all = all();
        assert_eq!(all[usize::from(ITEM.0)].name, "item");
        assert_eq!(all[usize::from(LOW_STOCK.0)].name, "low_stock");
        assert_eq!(all[usize::from(take_stock(1).0)].name, "take_stock_01");
        assert_eq!(all[usize::from(take_stock(10).0)].name, "take_stock_10");
        assert_eq!(all.len(), usize::from(take_stock(10).0) + 1);
        for statement in &all {
            let count = statement.params.len();
            assert!(statement.sql.contains(&format!("${count}")), "{}", statement.name);
            assert!(!statement.sql.contains(&format!("${}", count + 1)), "{}", statement.name);
            let same_name = all.iter().filter(|other| other.name == statement.name);
            assert_eq!(same_name.count(), 1);
        }
    }
}
