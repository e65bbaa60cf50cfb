-- The transactions of the TPC-E-derived workload, as `dyno run brokerage --mode procedure` calls
-- them. Here: Market-Feed and Trade-Result, which the exchange causes.
--
-- All run the statements of the driver's client mode (crates/dyno-drive/src/workloads/brokerage) in
-- its order, so that the two modes differ in where a transaction is programmed and in nothing else.
-- What a screen would show is returned as one row, lists as one text. Every table is named with its
-- schema.

CREATE PROCEDURE {place}.dyno_market_feed(
    IN entered timestamp, IN symbol text, IN price numeric, IN shares integer,
    OUT submitted integer, OUT orders text
) LANGUAGE plpgsql AS $procedure$
DECLARE
    triggered bigint[] := ARRAY[]::bigint[];
    number bigint;
    since timestamp;
BEGIN
    UPDATE {place}.last_trade SET lt_price = price, lt_vol = lt_vol + shares, lt_dts = entered
        WHERE lt_s_symb = symbol;
    -- The rows stay locked, so that two feeds do not submit one order twice.
    FOR number IN
        SELECT tr_t_id FROM {place}.trade_request WHERE tr_s_symb = symbol AND (
            (tr_tt_id IN ('TSL', 'TLB') AND tr_bid_price >= price) OR
            (tr_tt_id = 'TLS' AND tr_bid_price <= price)) FOR UPDATE
    LOOP
        triggered := triggered || number;
    END LOOP;
    FOREACH number IN ARRAY triggered LOOP
        -- An order found here may have begun after this feed, which may have waited for its commit.
        UPDATE {place}.trade SET t_dts = greatest(t_dts, entered), t_st_id = 'SBMT'
            WHERE t_id = number RETURNING t_dts INTO since;
        DELETE FROM {place}.trade_request WHERE tr_t_id = number;
        INSERT INTO {place}.trade_history (th_t_id, th_dts, th_st_id)
            VALUES (number, since, 'SBMT');
    END LOOP;
    submitted := cardinality(triggered);
    orders := array_to_string(triggered, ',');
END
$procedure$;

CREATE PROCEDURE {place}.dyno_trade_result(
    IN number bigint, IN account bigint, IN cust bigint, IN broker_id bigint, IN tier integer,
    IN kind text, IN symbol text, IN shares integer, IN price numeric, IN lifo integer,
    IN cash integer, IN tax_status integer, IN entered timestamp, IN due date,
    OUT changes integer, OUT commission numeric, OUT tax numeric, OUT amount numeric
) LANGUAGE plpgsql AS $procedure$
DECLARE
    sells boolean := kind IN ('TMS', 'TLS', 'TSL');
    sign integer := CASE WHEN sells THEN -1 ELSE 1 END;
    open_shares integer := shares;
    before integer;
    after integer;
    lot record;
    closed integer;
    lot_after integer;
    gain numeric := 0;
    charged numeric;
    rate numeric;
    tax_rate numeric;
    what text;
BEGIN
    -- Results of one account follow each other.
    PERFORM ca_bal FROM {place}.customer_account WHERE ca_id = account FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'account % is missing: check that the data is complete', account;
    END IF;
    SELECT t_chrg, concat(tt_name, ' ', shares, ' shares of ', s_name) INTO charged, what
        FROM {place}.trade
        JOIN {place}.trade_type ON tt_id = t_tt_id
        JOIN {place}.security ON s_symb = t_s_symb
        WHERE t_id = number;
    SELECT cr_rate INTO rate
        FROM {place}.commission_rate JOIN {place}.security ON s_ex_id = cr_ex_id
        WHERE s_symb = symbol AND cr_c_tier = tier AND cr_tt_id = kind AND cr_from_qty <= shares
            AND cr_to_qty >= shares;
    IF charged IS NULL OR rate IS NULL THEN
        RAISE EXCEPTION 'trade % or its commission is missing: check that the data is complete',
            number;
    END IF;
    SELECT coalesce(sum(tx_rate), 0) INTO tax_rate
        FROM {place}.customer_taxrate JOIN {place}.taxrate ON tx_id = cx_tx_id
        WHERE cx_c_id = cust;
    SELECT hs_qty INTO before FROM {place}.holding_summary
        WHERE hs_ca_id = account AND hs_s_symb = symbol;

    -- Holdings refer to the account's number of shares: it comes before them, and goes after them.
    after := coalesce(before, 0) + sign * shares;
    IF before IS NULL THEN
        INSERT INTO {place}.holding_summary (hs_qty, hs_ca_id, hs_s_symb)
            VALUES (after, account, symbol);
    ELSIF after <> 0 THEN
        UPDATE {place}.holding_summary SET hs_qty = after
            WHERE hs_ca_id = account AND hs_s_symb = symbol;
    END IF;
    changes := 0;
    -- A sale closes bought shares, a purchase closes short ones, the last or the first ones first.
    FOR lot IN
        SELECT h_t_id, h_qty, h_price FROM {place}.holding
        WHERE h_ca_id = account AND h_s_symb = symbol
        ORDER BY CASE WHEN lifo = 1 THEN h_dts END DESC, CASE WHEN lifo = 1 THEN h_t_id END DESC,
            h_dts, h_t_id
    LOOP
        EXIT WHEN open_shares = 0;
        CONTINUE WHEN (lot.h_qty > 0) <> sells;
        closed := least(open_shares, abs(lot.h_qty));
        open_shares := open_shares - closed;
        lot_after := lot.h_qty + sign * closed;
        gain := gain - sign * closed * (price - lot.h_price);
        changes := changes + 1;
        INSERT INTO {place}.holding_history (hh_h_t_id, hh_t_id, hh_before_qty, hh_after_qty)
            VALUES (lot.h_t_id, number, lot.h_qty, lot_after);
        IF lot_after = 0 THEN
            DELETE FROM {place}.holding WHERE h_t_id = lot.h_t_id;
        ELSE
            UPDATE {place}.holding SET h_qty = lot_after WHERE h_t_id = lot.h_t_id;
        END IF;
    END LOOP;
    IF open_shares > 0 THEN
        INSERT INTO {place}.holding_history (hh_h_t_id, hh_t_id, hh_before_qty, hh_after_qty)
            VALUES (number, number, 0, sign * open_shares);
        INSERT INTO {place}.holding (h_t_id, h_ca_id, h_s_symb, h_dts, h_price, h_qty)
            VALUES (number, account, symbol, entered, price, sign * open_shares);
    END IF;
    IF after = 0 THEN
        DELETE FROM {place}.holding_summary WHERE hs_ca_id = account AND hs_s_symb = symbol;
    END IF;

    tax := CASE WHEN tax_status IN (1, 2) THEN trunc(greatest(gain, 0) * tax_rate, 2) ELSE 0 END;
    commission := round(shares * price * rate / 100, 2);
    amount := -sign * shares * price - charged - commission
        - CASE WHEN tax_status = 1 THEN tax ELSE 0 END;
    UPDATE {place}.trade SET t_comm = commission, t_tax = tax, t_dts = entered,
            t_st_id = 'CMPT', t_trade_price = price
        WHERE t_id = number;
    INSERT INTO {place}.trade_history (th_t_id, th_dts, th_st_id)
        VALUES (number, entered, 'CMPT');
    INSERT INTO {place}.settlement (se_t_id, se_cash_type, se_cash_due_date, se_amt)
        VALUES (number, CASE WHEN cash = 1 THEN 'Cash Account' ELSE 'Margin' END, due, amount);
    IF cash = 1 THEN
        UPDATE {place}.customer_account SET ca_bal = ca_bal + amount WHERE ca_id = account;
        INSERT INTO {place}.cash_transaction (ct_t_id, ct_dts, ct_amt, ct_name)
            VALUES (number, entered, amount, what);
    END IF;
    -- The broker comes last: many accounts have the same one.
    UPDATE {place}.broker
        SET b_comm_total = b_comm_total + commission, b_num_trades = b_num_trades + 1
        WHERE b_id = broker_id;
END
$procedure$;
