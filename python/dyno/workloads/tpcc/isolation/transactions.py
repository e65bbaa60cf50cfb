"""The workload's transactions for the scenarios: complete, small, and in portable SQL.

Each leaves the data consistent (all conditions except 11), like the driver's: its commits stay, as
after a run. Statements that write come first, so that concurrent transactions wait at their first
statement rather than half-way.
"""

# ruff: noqa: S608  (numbers of Dyno's own, none from outside)

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from dyno.contracts.target import Connection
from dyno.workloads import utc

QUANTITY = 5


@dataclass(frozen=True)
class CustomerKey:
    """A district and one of its customers."""

    warehouse: int = 1
    district: int = 1
    customer: int = 1

    @property
    def of_district(self) -> str:
        """Condition for the district's row."""
        return f"d_w_id = {self.warehouse} AND d_id = {self.district}"

    @property
    def of_customer(self) -> str:
        """Condition for the customer's row."""
        return f"c_w_id = {self.warehouse} AND c_d_id = {self.district} AND c_id = {self.customer}"

    def of_order(self, prefix: str, number: Any) -> str:
        """Condition for the rows of an order; ``prefix`` is that of the table's columns."""
        return (
            f"{prefix}_w_id = {self.warehouse} AND {prefix}_d_id = {self.district} "
            f"AND {prefix}{'_id' if prefix == 'o' else '_o_id'} = {int(number)}"
        )


def value(session: Connection, sql: str) -> Any:
    """The only value of the first row; None if there is no row."""
    rows = session.execute(sql).rows
    return rows[0][0] if rows else None


def next_number(session: Connection, place: CustomerKey) -> int:
    """The district's next order number."""
    return int(value(session, f"SELECT d_next_o_id FROM district WHERE {place.of_district}"))


def new_order(session: Connection, place: CustomerKey, item: int = 1) -> int:
    """Enters an order of one line; returns its number."""
    session.execute(f"UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE {place.of_district}")
    number = next_number(session, place) - 1
    warehouse, district = place.warehouse, place.district
    session.execute(
        "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) "
        f"VALUES ({number}, {district}, {warehouse}, {place.customer}, {utc.now()}, 1, 1)"
    )
    session.execute(
        "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) "
        f"VALUES ({number}, {district}, {warehouse})"
    )
    session.execute(
        f"UPDATE stock SET s_ytd = s_ytd + {QUANTITY}, s_order_cnt = s_order_cnt + 1 "
        f"WHERE s_w_id = {warehouse} AND s_i_id = {item}"
    )
    session.execute(
        "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, "
        f"ol_quantity, ol_amount, ol_dist_info) SELECT {number}, {district}, {warehouse}, 1, i_id, "
        f"{warehouse}, {QUANTITY}, {QUANTITY} * i_price, s_dist_{district:02} FROM item, stock "
        f"WHERE i_id = {item} AND s_w_id = {warehouse} AND s_i_id = i_id"
    )
    return number


def payment(session: Connection, place: CustomerKey, amount: str) -> None:
    """The customer pays ``amount``, in the target's units."""
    session.execute(
        f"UPDATE customer SET c_balance = c_balance - {amount}, c_ytd_payment = c_ytd_payment + "
        f"{amount}, c_payment_cnt = c_payment_cnt + 1 WHERE {place.of_customer}"
    )
    session.execute(f"UPDATE district SET d_ytd = d_ytd + {amount} WHERE {place.of_district}")
    session.execute(f"UPDATE warehouse SET w_ytd = w_ytd + {amount} WHERE w_id = {place.warehouse}")
    session.execute(
        "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)"
        f" VALUES ({place.customer}, {place.district}, {place.warehouse}, {place.district}, "
        f"{place.warehouse}, {utc.now()}, {amount}, 'isolation')"
    )


def delivery(session: Connection, place: CustomerKey, number: int) -> None:
    """Delivers one order to its customer, that of ``place``."""
    session.execute(
        f"UPDATE customer SET c_balance = c_balance + (SELECT SUM(ol_amount) FROM order_line "
        f"WHERE {place.of_order('ol', number)}), c_delivery_cnt = c_delivery_cnt + 1 "
        f"WHERE {place.of_customer}"
    )
    session.execute(f"DELETE FROM new_order WHERE {place.of_order('no', number)}")
    session.execute(f"UPDATE orders SET o_carrier_id = 1 WHERE {place.of_order('o', number)}")
    session.execute(
        f"UPDATE order_line SET ol_delivery_d = {utc.now()} WHERE {place.of_order('ol', number)}"
    )


def last_order(session: Connection, place: CustomerKey) -> Any:
    """Order-Status: the number of the customer's last order."""
    return value(
        session,
        f"SELECT MAX(o_id) FROM orders WHERE o_w_id = {place.warehouse} "
        f"AND o_d_id = {place.district} AND o_c_id = {place.customer}",
    )


def waiting_orders(session: Connection, place: CustomerKey) -> Any:
    """The number of undelivered orders in the district, which Delivery reads."""
    return value(
        session,
        f"SELECT COUNT(*) FROM new_order WHERE no_w_id = {place.warehouse} "
        f"AND no_d_id = {place.district}",
    )


def oldest(session: Connection, place: CustomerKey) -> tuple[CustomerKey, int]:
    """The district's oldest undelivered order, the next one to deliver, and its customer.

    Enters an order if there is none.
    """
    number = value(
        session,
        f"SELECT MIN(no_o_id) FROM new_order WHERE no_w_id = {place.warehouse} "
        f"AND no_d_id = {place.district}",
    )
    if number is None:
        number = new_order(session, place)
    customer = value(session, f"SELECT o_c_id FROM orders WHERE {place.of_order('o', number)}")
    return replace(place, customer=int(customer)), int(number)


def balance(session: Connection, place: CustomerKey) -> Any:
    """The customer's balance."""
    return value(session, f"SELECT c_balance FROM customer WHERE {place.of_customer}")


def order_amount(session: Connection, place: CustomerKey, number: int) -> Any:
    """The total amount of an order."""
    return value(
        session, f"SELECT SUM(ol_amount) FROM order_line WHERE {place.of_order('ol', number)}"
    )


def price(session: Connection, item: int) -> Any:
    """The price of an item."""
    return value(session, f"SELECT i_price FROM item WHERE i_id = {item}")


def set_price(session: Connection, item: int, price: Any) -> None:
    """Changes the price of an item."""
    session.execute(f"UPDATE item SET i_price = {price} WHERE i_id = {item}")
