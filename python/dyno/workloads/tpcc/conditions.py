"""The thirteen consistency conditions, as SQL that returns violations.

Source: 1 to 12 are those of the TPC-C specification, 3.3.2.1–12. None of them reads STOCK; 13 is
Dyno's own. ``UNION ALL`` and grouping combine the two sides of an
equation. With an inner join, a group that is missing on one side would go unnoticed; here it counts
as zero. All sums are exact.
"""

from __future__ import annotations

from dyno.workloads.conditions import Condition

# Delivered amounts, one row per order, with the order's customer. A line without an order belongs
# to no customer; condition 7 finds it.
_DELIVERED = """(
            SELECT ol_w_id, ol_d_id, ol_o_id, SUM(ol_amount) AS amount
            FROM order_line
            WHERE ol_delivery_d IS NOT NULL
            GROUP BY ol_w_id, ol_d_id, ol_o_id
        ) AS amounts
        JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id"""

WAREHOUSE_YTD = Condition(
    1,
    "W_YTD is the sum of its districts' D_YTD",
    """
    SELECT w_id, SUM(w_ytd) AS w_ytd, SUM(d_ytd) AS sum_d_ytd
    FROM (
        SELECT w_id, COALESCE(w_ytd, 0) AS w_ytd, 0 AS d_ytd FROM warehouse
        UNION ALL
        SELECT d_w_id, 0, COALESCE(d_ytd, 0) FROM district
    ) AS sides
    GROUP BY w_id
    HAVING SUM(w_ytd) <> SUM(d_ytd)
    """,
)

NEXT_ORDER = Condition(
    2,
    "D_NEXT_O_ID - 1 is the largest O_ID, and the largest NO_O_ID if there are new orders",
    """
    SELECT w_id, d_id, MAX(next_o_id) AS d_next_o_id, MAX(o_id) AS o_id, MAX(no_o_id) AS no_o_id
    FROM (
        SELECT d_w_id AS w_id, d_id, COALESCE(d_next_o_id, 0) AS next_o_id, 0 AS o_id, 0 AS no_o_id
        FROM district
        UNION ALL
        SELECT o_w_id, o_d_id, 0, MAX(o_id), 0 FROM orders GROUP BY o_w_id, o_d_id
        UNION ALL
        SELECT no_w_id, no_d_id, 0, 0, MAX(no_o_id) FROM new_order GROUP BY no_w_id, no_d_id
    ) AS sides
    GROUP BY w_id, d_id
    HAVING MAX(next_o_id) - 1 <> MAX(o_id) OR (MAX(no_o_id) <> 0 AND MAX(no_o_id) <> MAX(o_id))
    """,
)

NEW_ORDER_RANGE = Condition(
    3,
    "The NO_O_ID of a district have no gap",
    """
    SELECT
        no_w_id, no_d_id, MIN(no_o_id) AS smallest, MAX(no_o_id) AS largest, COUNT(*) AS new_orders
    FROM new_order
    GROUP BY no_w_id, no_d_id
    HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)
    """,
)

DISTRICT_LINES = Condition(
    4,
    "The sum of O_OL_CNT of a district is its number of order lines",
    """
    SELECT w_id, d_id, SUM(ol_cnt) AS sum_o_ol_cnt, SUM(order_lines) AS order_lines
    FROM (
        SELECT o_w_id AS w_id, o_d_id AS d_id, COALESCE(o_ol_cnt, 0) AS ol_cnt, 0 AS order_lines
        FROM orders
        UNION ALL
        SELECT ol_w_id, ol_d_id, 0, COUNT(*) FROM order_line GROUP BY ol_w_id, ol_d_id
    ) AS sides
    GROUP BY w_id, d_id
    HAVING SUM(ol_cnt) <> SUM(order_lines)
    """,
)

NEW_ORDER_CARRIER = Condition(
    5,
    "O_CARRIER_ID is null if, and only if, the order is in NEW_ORDER",
    """
    SELECT o_w_id AS w_id, o_d_id AS d_id, o_id, o_carrier_id, no_o_id
    FROM orders
    LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
    WHERE (o_carrier_id IS NULL AND no_o_id IS NULL)
        OR (o_carrier_id IS NOT NULL AND no_o_id IS NOT NULL)
    UNION ALL
    SELECT no_w_id, no_d_id, o_id, o_carrier_id, no_o_id
    FROM new_order
    LEFT JOIN orders ON o_w_id = no_w_id AND o_d_id = no_d_id AND o_id = no_o_id
    WHERE o_id IS NULL
    """,
)

ORDER_LINES = Condition(
    6,
    "O_OL_CNT is the number of the order's lines",
    """
    SELECT w_id, d_id, o_id, SUM(ol_cnt) AS o_ol_cnt, SUM(order_lines) AS order_lines
    FROM (
        SELECT o_w_id AS w_id, o_d_id AS d_id, o_id, COALESCE(o_ol_cnt, 0) AS ol_cnt,
            0 AS order_lines
        FROM orders
        UNION ALL
        SELECT ol_w_id, ol_d_id, ol_o_id, 0, COUNT(*)
        FROM order_line
        GROUP BY ol_w_id, ol_d_id, ol_o_id
    ) AS sides
    GROUP BY w_id, d_id, o_id
    HAVING SUM(ol_cnt) <> SUM(order_lines)
    """,
)

LINE_DELIVERY = Condition(
    7,
    "OL_DELIVERY_D is null if, and only if, O_CARRIER_ID of its order is",
    """
    SELECT ol_w_id, ol_d_id, ol_o_id, ol_number, ol_delivery_d, o_id, o_carrier_id
    FROM order_line
    LEFT JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id
    WHERE o_id IS NULL
        OR (ol_delivery_d IS NULL AND o_carrier_id IS NOT NULL)
        OR (ol_delivery_d IS NOT NULL AND o_carrier_id IS NULL)
    """,
)

WAREHOUSE_HISTORY = Condition(
    8,
    "W_YTD is the sum of H_AMOUNT paid in the warehouse",
    """
    SELECT w_id, SUM(w_ytd) AS w_ytd, SUM(h_amount) AS sum_h_amount
    FROM (
        SELECT w_id, COALESCE(w_ytd, 0) AS w_ytd, 0 AS h_amount FROM warehouse
        UNION ALL
        SELECT h_w_id, 0, SUM(h_amount) FROM history GROUP BY h_w_id
    ) AS sides
    GROUP BY w_id
    HAVING SUM(w_ytd) <> SUM(h_amount)
    """,
)

DISTRICT_HISTORY = Condition(
    9,
    "D_YTD is the sum of H_AMOUNT paid in the district",
    """
    SELECT w_id, d_id, SUM(d_ytd) AS d_ytd, SUM(h_amount) AS sum_h_amount
    FROM (
        SELECT d_w_id AS w_id, d_id, COALESCE(d_ytd, 0) AS d_ytd, 0 AS h_amount FROM district
        UNION ALL
        SELECT h_w_id, h_d_id, 0, SUM(h_amount) FROM history GROUP BY h_w_id, h_d_id
    ) AS sides
    GROUP BY w_id, d_id
    HAVING SUM(d_ytd) <> SUM(h_amount)
    """,
)

CUSTOMER_BALANCE = Condition(
    10,
    "C_BALANCE is what the customer was delivered less what the customer paid",
    f"""
    SELECT w_id, d_id, c_id, SUM(balance) AS c_balance, SUM(delivered) AS delivered,
        SUM(paid) AS paid
    FROM (
        SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, COALESCE(c_balance, 0) AS balance,
            0 AS delivered, 0 AS paid
        FROM customer
        UNION ALL
        SELECT o_w_id, o_d_id, o_c_id, 0, amount, 0 FROM {_DELIVERED}
        UNION ALL
        SELECT h_c_w_id, h_c_d_id, h_c_id, 0, 0, h_amount FROM history
    ) AS sides
    GROUP BY w_id, d_id, c_id
    HAVING SUM(balance) <> SUM(delivered) - SUM(paid)
    """,  # noqa: S608  (a fixed subquery)
)

DELIVERED_ORDERS = Condition(
    11,
    "A district has 2100 orders more than new orders",
    """
    SELECT w_id, d_id, SUM(orders) AS orders, SUM(new_orders) AS new_orders
    FROM (
        SELECT d_w_id AS w_id, d_id, 0 AS orders, 0 AS new_orders FROM district
        UNION ALL
        SELECT o_w_id, o_d_id, COUNT(*), 0 FROM orders GROUP BY o_w_id, o_d_id
        UNION ALL
        SELECT no_w_id, no_d_id, 0, COUNT(*) FROM new_order GROUP BY no_w_id, no_d_id
    ) AS sides
    GROUP BY w_id, d_id
    HAVING SUM(orders) - SUM(new_orders) <> 2100
    """,
    load_only="it holds only right after a load; deliveries and new orders change it",
)

CUSTOMER_PAYMENT = Condition(
    12,
    "C_BALANCE + C_YTD_PAYMENT is what the customer was delivered",
    f"""
    SELECT w_id, d_id, c_id, SUM(balance) AS c_balance, SUM(paid) AS c_ytd_payment,
        SUM(delivered) AS delivered
    FROM (
        SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, COALESCE(c_balance, 0) AS balance,
            COALESCE(c_ytd_payment, 0) AS paid, 0 AS delivered
        FROM customer
        UNION ALL
        SELECT o_w_id, o_d_id, o_c_id, 0, 0, amount FROM {_DELIVERED}
    ) AS sides
    GROUP BY w_id, d_id, c_id
    HAVING SUM(balance) + SUM(paid) <> SUM(delivered)
    """,  # noqa: S608  (a fixed subquery)
)

# The load enters orders 1 to 3,000 of each district and leaves the counters of the stock at zero.
STOCK_COUNTERS = Condition(
    13,
    "S_YTD, S_ORDER_CNT and S_REMOTE_CNT count what was ordered from the warehouse since the load",
    """
    SELECT w_id, SUM(ytd) AS sum_s_ytd, SUM(quantity) AS sum_ol_quantity,
        SUM(order_cnt) AS sum_s_order_cnt, SUM(order_lines) AS order_lines,
        SUM(remote_cnt) AS sum_s_remote_cnt, SUM(remote_lines) AS remote_lines
    FROM (
        SELECT s_w_id AS w_id, SUM(s_ytd) AS ytd, SUM(s_order_cnt) AS order_cnt,
            SUM(s_remote_cnt) AS remote_cnt, 0 AS quantity, 0 AS order_lines, 0 AS remote_lines
        FROM stock
        GROUP BY s_w_id
        UNION ALL
        SELECT ol_supply_w_id, 0, 0, 0, SUM(ol_quantity), COUNT(*),
            SUM(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END)
        FROM order_line
        WHERE ol_o_id > 3000
        GROUP BY ol_supply_w_id
    ) AS sides
    GROUP BY w_id
    HAVING SUM(ytd) <> SUM(quantity) OR SUM(order_cnt) <> SUM(order_lines)
        OR SUM(remote_cnt) <> SUM(remote_lines)
    """,
)

CONDITIONS = (
    WAREHOUSE_YTD,
    NEXT_ORDER,
    NEW_ORDER_RANGE,
    DISTRICT_LINES,
    NEW_ORDER_CARRIER,
    ORDER_LINES,
    LINE_DELIVERY,
    WAREHOUSE_HISTORY,
    DISTRICT_HISTORY,
    CUSTOMER_BALANCE,
    DELIVERED_ORDERS,
    CUSTOMER_PAYMENT,
    STOCK_COUNTERS,
)
