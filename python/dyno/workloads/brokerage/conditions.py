"""The consistency conditions, as SQL that returns violations.

1–3 are those of the TPC-E specification (3.3.1); the others are Dyno's. As in ``tpcc``, the two
sides of an equation are combined by ``UNION ALL`` and grouping, so that a row that is missing on
one side counts as zero. Amounts are compared exactly, and no condition has an amount as a constant:
SQLite stores them in cents.
"""

from __future__ import annotations

from dyno.workloads.conditions import Condition

_SELLS = "t_tt_id IN ('TMS', 'TLS', 'TSL')"
_LIMIT = "t_tt_id IN ('TLB', 'TLS', 'TSL')"

BROKER_TRADES = Condition(
    1,
    "B_NUM_TRADES is the number of completed trades of the broker's accounts",
    """
    SELECT b_id, SUM(num_trades) AS b_num_trades, SUM(trades) AS trades
    FROM (
        SELECT b_id, b_num_trades AS num_trades, 0 AS trades FROM broker
        UNION ALL
        SELECT ca_b_id, 0, COUNT(*)
        FROM trade
        JOIN customer_account ON ca_id = t_ca_id
        WHERE t_st_id = 'CMPT'
        GROUP BY ca_b_id
    ) AS sides
    GROUP BY b_id
    HAVING SUM(num_trades) <> SUM(trades)
    """,
)

BROKER_COMMISSION = Condition(
    2,
    "B_COMM_TOTAL is the sum of T_COMM of the completed trades of the broker's accounts",
    """
    SELECT b_id, SUM(comm_total) AS b_comm_total, SUM(comm) AS sum_t_comm
    FROM (
        SELECT b_id, b_comm_total AS comm_total, 0 AS comm FROM broker
        UNION ALL
        SELECT ca_b_id, 0, SUM(t_comm)
        FROM trade
        JOIN customer_account ON ca_id = t_ca_id
        WHERE t_st_id = 'CMPT'
        GROUP BY ca_b_id
    ) AS sides
    GROUP BY b_id
    HAVING SUM(comm_total) <> SUM(comm)
    """,
)

HOLDING_TOTALS = Condition(
    3,
    "HS_QTY is the sum of H_QTY of the account's holdings in the security",
    """
    SELECT ca_id, symb, SUM(summary) AS hs_qty, SUM(held) AS sum_h_qty
    FROM (
        SELECT hs_ca_id AS ca_id, hs_s_symb AS symb, hs_qty AS summary, 0 AS held
        FROM holding_summary
        UNION ALL
        SELECT h_ca_id, h_s_symb, 0, SUM(h_qty) FROM holding GROUP BY h_ca_id, h_s_symb
    ) AS sides
    GROUP BY ca_id, symb
    HAVING SUM(summary) <> SUM(held)
    """,
)

HISTORY = Condition(
    4,
    "A completed trade was submitted and completed once; limit orders were pending once",
    f"""
    SELECT
        t_id, SUM(completed) AS completed, SUM(limited) AS limit_order,
        SUM(pending_rows) AS pending, SUM(submitted_rows) AS submitted, SUM(completed_rows) AS ended
    FROM (
        SELECT
            t_id, 1 AS trades, CASE WHEN t_st_id = 'CMPT' THEN 1 ELSE 0 END AS completed,
            CASE WHEN {_LIMIT} THEN 1 ELSE 0 END AS limited,
            0 AS pending_rows, 0 AS submitted_rows, 0 AS completed_rows
        FROM trade
        UNION ALL
        SELECT
            th_t_id, 0, 0, 0,
            CASE WHEN th_st_id = 'PNDG' THEN 1 ELSE 0 END,
            CASE WHEN th_st_id = 'SBMT' THEN 1 ELSE 0 END,
            CASE WHEN th_st_id = 'CMPT' THEN 1 ELSE 0 END
        FROM trade_history
    ) AS sides
    GROUP BY t_id
    HAVING SUM(trades) <> 1
        OR SUM(completed) <> SUM(completed_rows)
        OR SUM(limited) <> SUM(pending_rows)
        OR (SUM(completed) = 1 AND SUM(submitted_rows) <> 1)
    """,  # noqa: S608  (a fixed condition)
)

TIMES = Condition(
    5,
    "T_DTS is the last TH_DTS of the trade",
    """
    SELECT t_id, t_dts, last_dts
    FROM trade
    LEFT JOIN (
        SELECT th_t_id, MAX(th_dts) AS last_dts FROM trade_history GROUP BY th_t_id
    ) AS lasts ON th_t_id = t_id
    WHERE last_dts IS NULL OR last_dts <> t_dts
    """,
)

HOLDINGS = Condition(
    6,
    "H_QTY is what the holding's history leaves of it",
    """
    SELECT t_id, SUM(held) AS h_qty, SUM(changes) AS changes
    FROM (
        SELECT h_t_id AS t_id, h_qty AS held, 0 AS changes FROM holding
        UNION ALL
        SELECT hh_h_t_id, 0, SUM(hh_after_qty - hh_before_qty)
        FROM holding_history
        GROUP BY hh_h_t_id
    ) AS sides
    GROUP BY t_id
    HAVING SUM(held) <> SUM(changes)
    """,
)

CHANGES = Condition(
    7,
    "A completed trade changed holdings by its T_QTY",
    f"""
    SELECT t_id, SUM(quantity) AS quantity, SUM(changes) AS changes
    FROM (
        SELECT t_id, CASE WHEN {_SELLS} THEN -t_qty ELSE t_qty END AS quantity, 0 AS changes
        FROM trade
        WHERE t_st_id = 'CMPT'
        UNION ALL
        SELECT hh_t_id, 0, SUM(hh_after_qty - hh_before_qty) FROM holding_history GROUP BY hh_t_id
    ) AS sides
    GROUP BY t_id
    HAVING SUM(quantity) <> SUM(changes)
    """,  # noqa: S608
)

SETTLEMENTS = Condition(
    8,
    "A completed trade has one settlement: its value less charge, commission and withheld tax",
    f"""
    SELECT t_id, SUM(due) AS due, SUM(amount) AS se_amt
    FROM (
        SELECT
            t_id, 1 AS completed, 0 AS settled, 0 AS amount,
            CASE WHEN {_SELLS} THEN t_qty * t_trade_price ELSE -t_qty * t_trade_price END
                - t_chrg - t_comm - CASE WHEN ca_tax_st = 1 THEN t_tax ELSE 0 END AS due
        FROM trade
        JOIN customer_account ON ca_id = t_ca_id
        WHERE t_st_id = 'CMPT'
        UNION ALL
        SELECT se_t_id, 0, 1, se_amt, 0 FROM settlement
    ) AS sides
    GROUP BY t_id
    HAVING SUM(completed) <> 1 OR SUM(settled) <> 1 OR SUM(due) <> SUM(amount)
    """,  # noqa: S608
)

CASH = Condition(
    9,
    "CT_AMT is SE_AMT of a completed trade with T_IS_CASH, and other trades have none",
    """
    SELECT t_id, SUM(cash_trades) AS cash_trades, SUM(settled) AS se_amt, SUM(paid) AS ct_amt
    FROM (
        SELECT t_id, 1 AS cash_trades, 0 AS payments, se_amt AS settled, 0 AS paid
        FROM trade
        JOIN settlement ON se_t_id = t_id
        WHERE t_st_id = 'CMPT' AND t_is_cash = 1
        UNION ALL
        SELECT ct_t_id, 0, 1, 0, ct_amt FROM cash_transaction
    ) AS sides
    GROUP BY t_id
    HAVING SUM(cash_trades) <> SUM(payments) OR SUM(settled) <> SUM(paid)
    """,
)

BALANCES = Condition(
    10,
    "CA_BAL less the account's CT_AMT is the opening balance: in proportion to the customer's tier",
    # 6 / c_tier is a whole number in each engine.
    """
    SELECT smallest, largest
    FROM (
        SELECT MIN(opening * (6 / c_tier)) AS smallest, MAX(opening * (6 / c_tier)) AS largest
        FROM (
            SELECT account, SUM(balance) - SUM(paid) AS opening
            FROM (
                SELECT ca_id AS account, ca_bal AS balance, 0 AS paid FROM customer_account
                UNION ALL
                SELECT t_ca_id, 0, SUM(ct_amt)
                FROM cash_transaction
                JOIN trade ON t_id = ct_t_id
                GROUP BY t_ca_id
            ) AS sides
            GROUP BY account
        ) AS openings
        JOIN customer_account ON ca_id = account
        JOIN customer ON c_id = ca_c_id
    ) AS ends
    WHERE smallest <> largest
    """,
)

REQUESTS = Condition(
    11,
    "TRADE_REQUEST has the pending trades, with their broker, and no others",
    """
    SELECT t_id, t_st_id, tr_t_id
    FROM trade
    JOIN customer_account ON ca_id = t_ca_id
    LEFT JOIN trade_request
        ON tr_t_id = t_id AND tr_tt_id = t_tt_id AND tr_s_symb = t_s_symb AND tr_qty = t_qty
        AND tr_bid_price = t_bid_price AND tr_b_id = ca_b_id
    WHERE t_st_id = 'PNDG' AND tr_t_id IS NULL
    UNION ALL
    SELECT t_id, t_st_id, tr_t_id
    FROM trade_request
    LEFT JOIN trade ON t_id = tr_t_id
    WHERE t_id IS NULL OR t_st_id <> 'PNDG'
    """,
)

LAST_TRADES = Condition(
    12,
    "A security has a last trade, which is not before its completed trades",
    """
    SELECT s_symb, lt_dts, last_dts
    FROM security
    LEFT JOIN last_trade ON lt_s_symb = s_symb
    LEFT JOIN (
        SELECT t_s_symb, MAX(t_dts) AS last_dts
        FROM trade
        WHERE t_st_id = 'CMPT'
        GROUP BY t_s_symb
    ) AS lasts ON t_s_symb = s_symb
    WHERE lt_dts IS NULL OR last_dts > lt_dts
    """,
    load_only="it holds only right after a load; a trade completes before its market feed",
)

LAST_PRICES = Condition(
    13,
    "LT_PRICE is DM_CLOSE of the last day, and LT_VOL its DM_VOL",
    """
    SELECT s_symb, lt_price, dm_close, lt_vol, dm_vol
    FROM security
    LEFT JOIN last_trade ON lt_s_symb = s_symb
    LEFT JOIN (
        SELECT dm_s_symb, dm_close, dm_vol
        FROM daily_market
        WHERE dm_date = (SELECT MAX(dm_date) FROM daily_market)
    ) AS lasts ON dm_s_symb = s_symb
    WHERE lt_price IS NULL OR dm_close IS NULL OR lt_price <> dm_close OR lt_vol <> dm_vol
    """,
    load_only="it holds only right after a load; market feeds change last trades",
)

CHARGES = Condition(
    14,
    "T_CHRG is the charge of the trade's type and the customer's tier",
    """
    SELECT t_id, t_chrg, ch_chrg
    FROM trade
    LEFT JOIN customer_account ON ca_id = t_ca_id
    LEFT JOIN customer ON c_id = ca_c_id
    LEFT JOIN charge ON ch_tt_id = t_tt_id AND ch_c_tier = c_tier
    WHERE ch_chrg IS NULL OR t_chrg <> ch_chrg
    """,
)

HELD_TRADES = Condition(
    15,
    "A holding has account, security, price and time of its trade",
    """
    SELECT h_t_id, t_id, h_ca_id, t_ca_id, h_s_symb, t_s_symb
    FROM holding
    LEFT JOIN trade ON t_id = h_t_id
    WHERE t_id IS NULL OR h_ca_id <> t_ca_id OR h_s_symb <> t_s_symb OR h_dts <> t_dts
        OR t_trade_price IS NULL OR h_price <> t_trade_price
    """,
)

SYMBOLS = Condition(
    16,
    "EX_NUM_SYMB is the number of securities of the exchange",
    """
    SELECT ex_id, SUM(num_symb) AS ex_num_symb, SUM(securities) AS securities
    FROM (
        SELECT ex_id, ex_num_symb AS num_symb, 0 AS securities FROM exchange
        UNION ALL
        SELECT s_ex_id, 0, COUNT(*) FROM security GROUP BY s_ex_id
    ) AS sides
    GROUP BY ex_id
    HAVING SUM(num_symb) <> SUM(securities)
    """,
)

LAST_VOLUMES = Condition(
    17,
    "A security has a last trade with a price, and at least DM_VOL of the last day",
    # Market feeds add to LT_VOL. Data-Maintenance adds single shares to DM_VOL; trades have 100.
    """
    SELECT s_symb, lt_price, lt_vol, dm_vol
    FROM security
    LEFT JOIN last_trade ON lt_s_symb = s_symb
    LEFT JOIN (
        SELECT dm_s_symb, dm_vol
        FROM daily_market
        WHERE dm_date = (SELECT MAX(dm_date) FROM daily_market)
    ) AS lasts ON dm_s_symb = s_symb
    WHERE lt_price IS NULL OR lt_price <= 0 OR dm_vol IS NULL OR dm_vol - lt_vol >= 100
    """,
)

CONDITIONS = (
    BROKER_TRADES, BROKER_COMMISSION, HOLDING_TOTALS, HISTORY, TIMES, HOLDINGS, CHANGES,
    SETTLEMENTS, CASH, BALANCES, REQUESTS, LAST_TRADES, LAST_PRICES, CHARGES, HELD_TRADES, SYMBOLS,
    LAST_VOLUMES,
)  # fmt: skip
