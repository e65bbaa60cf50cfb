-- The transactions of the TPC-E-derived workload, as `dyno run brokerage --mode procedure` calls
-- them. Here: Market-Feed and Trade-Result, which the exchange causes.
--
-- All run the statements of the driver's client mode (crates/dyno-drive/src/workloads/brokerage) in
-- its order, so that the two modes differ in where a transaction is programmed and in nothing else.
-- What a screen would show is returned as one row, lists as one text; MySQL cuts lists at
-- group_concat_max_len, by default 1,024 bytes. A call is a transaction of its own, except the two
-- of Trade-Order: it commits before it returns the row, and an error rolls it back. Every table is
-- named with its database. Those that change rows look whether the changes were made (tpcc.sql says
-- why).

CREATE PROCEDURE {place}.dyno_market_feed(
    entered DATETIME(6), symbol VARCHAR(15) {text}, price DECIMAL(8, 2), shares INT
) MODIFIES SQL DATA SQL SECURITY INVOKER COMMENT {mark}
BEGIN
    DECLARE lost BOOLEAN DEFAULT FALSE;
    DECLARE step, submitted INT DEFAULT 0;
    DECLARE number BIGINT;
    DECLARE orders TEXT {text};
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;

    START TRANSACTION;
    UPDATE {place}.last_trade SET lt_price = price, lt_vol = lt_vol + shares, lt_dts = entered
        WHERE lt_s_symb = symbol;
    -- The rows stay locked, so that two feeds do not submit one order twice.
    SELECT COUNT(*), GROUP_CONCAT(tr_t_id) INTO submitted, orders
        FROM {place}.trade_request WHERE tr_s_symb = symbol AND (
            (tr_tt_id IN ('TSL', 'TLB') AND tr_bid_price >= price) OR
            (tr_tt_id = 'TLS' AND tr_bid_price <= price)) FOR UPDATE;
    WHILE step < submitted DO
        SET step = step + 1;
        SET number = SUBSTRING_INDEX(SUBSTRING_INDEX(orders, ',', step), ',', -1);
        -- An order found here may have begun after this feed, which may have waited for its commit.
        UPDATE {place}.trade SET t_dts = GREATEST(t_dts, entered), t_st_id = 'SBMT'
            WHERE t_id = number;
        SET lost = lost OR ROW_COUNT() = 0;
        DELETE FROM {place}.trade_request WHERE tr_t_id = number;
        SET lost = lost OR ROW_COUNT() = 0;
        INSERT INTO {place}.trade_history (th_t_id, th_dts, th_st_id)
            SELECT t_id, t_dts, 'SBMT' FROM {place}.trade WHERE t_id = number;
    END WHILE;
    IF lost THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT =
            'a change was not made: its statement was stopped, or its row is missing';
    END IF;
    COMMIT;
    SELECT submitted, orders;
END;

CREATE PROCEDURE {place}.dyno_trade_result(
    number BIGINT, account BIGINT, cust BIGINT, broker_id BIGINT, tier INT,
    kind CHAR(3) {text}, symbol VARCHAR(15) {text}, shares INT, price DECIMAL(8, 2),
    lifo INT, cash INT, tax_status INT, entered DATETIME(6), due DATE
) MODIFIES SQL DATA SQL SECURITY INVOKER COMMENT {mark}
BEGIN
    DECLARE found BOOLEAN DEFAULT TRUE;
    DECLARE lost BOOLEAN DEFAULT FALSE;
    DECLARE sells BOOLEAN DEFAULT kind IN ('TMS', 'TLS', 'TSL');
    DECLARE direction INT DEFAULT IF(kind IN ('TMS', 'TLS', 'TSL'), -1, 1);
    DECLARE open_shares INT DEFAULT shares;
    DECLARE held, held_after, lot_shares, lot_after, closed INT;
    DECLARE changes INT DEFAULT 0;
    DECLARE lot BIGINT;
    DECLARE lot_price DECIMAL(8, 2);
    DECLARE rate DECIMAL(5, 2);
    DECLARE tax_rate DECIMAL(7, 5);
    DECLARE balance, gain DECIMAL(14, 2) DEFAULT 0;
    DECLARE charged, commission, amount DECIMAL(10, 2);
    DECLARE tax DECIMAL(10, 2) DEFAULT 0;
    DECLARE what VARCHAR(110) {text};
    DECLARE lots CURSOR FOR
        SELECT h_t_id, h_qty, h_price FROM {place}.holding
        WHERE h_ca_id = account AND h_s_symb = symbol
        ORDER BY CASE WHEN lifo = 1 THEN h_dts END DESC, CASE WHEN lifo = 1 THEN h_t_id END DESC,
            h_dts, h_t_id;
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET found = FALSE;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;

    START TRANSACTION;
    -- Results of one account follow each other.
    SELECT ca_bal INTO balance
        FROM {place}.customer_account WHERE ca_id = account FOR UPDATE;
    SELECT t_chrg, CONCAT(tt_name, ' ', shares, ' shares of ', s_name) INTO charged, what
        FROM {place}.trade
        JOIN {place}.trade_type ON tt_id = t_tt_id
        JOIN {place}.security ON s_symb = t_s_symb
        WHERE t_id = number;
    SELECT cr_rate INTO rate
        FROM {place}.commission_rate JOIN {place}.security ON s_ex_id = cr_ex_id
        WHERE s_symb = symbol AND cr_c_tier = tier AND cr_tt_id = kind AND cr_from_qty <= shares
            AND cr_to_qty >= shares;
    IF NOT found THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT =
            'a trade, its account or its commission is missing: check that the data is complete';
    END IF;
    SELECT COALESCE(SUM(tx_rate), 0) INTO tax_rate
        FROM {place}.customer_taxrate JOIN {place}.taxrate ON tx_id = cx_tx_id
        WHERE cx_c_id = cust;
    SELECT hs_qty INTO held FROM {place}.holding_summary
        WHERE hs_ca_id = account AND hs_s_symb = symbol;

    -- Holdings refer to the account's number of shares: it comes before them, and goes after them.
    SET held_after = COALESCE(held, 0) + direction * shares;
    IF held IS NULL THEN
        INSERT INTO {place}.holding_summary (hs_qty, hs_ca_id, hs_s_symb)
            VALUES (held_after, account, symbol);
    ELSEIF held_after <> 0 THEN
        UPDATE {place}.holding_summary SET hs_qty = held_after
            WHERE hs_ca_id = account AND hs_s_symb = symbol;
        SET lost = lost OR ROW_COUNT() = 0;
    END IF;
    -- A sale closes bought shares, a purchase closes short ones, the last or the first ones first.
    SET found = TRUE;
    OPEN lots;
    closing: LOOP
        FETCH lots INTO lot, lot_shares, lot_price;
        IF NOT found OR open_shares = 0 THEN
            LEAVE closing;
        END IF;
        IF (lot_shares > 0) <> sells THEN
            ITERATE closing;
        END IF;
        SET closed = LEAST(open_shares, ABS(lot_shares));
        SET open_shares = open_shares - closed;
        SET lot_after = lot_shares + direction * closed;
        SET gain = gain - direction * closed * (price - lot_price);
        SET changes = changes + 1;
        INSERT INTO {place}.holding_history (hh_h_t_id, hh_t_id, hh_before_qty, hh_after_qty)
            VALUES (lot, number, lot_shares, lot_after);
        IF lot_after = 0 THEN
            DELETE FROM {place}.holding WHERE h_t_id = lot;
        ELSE
            UPDATE {place}.holding SET h_qty = lot_after WHERE h_t_id = lot;
        END IF;
        SET lost = lost OR ROW_COUNT() = 0;
    END LOOP;
    CLOSE lots;
    IF open_shares > 0 THEN
        INSERT INTO {place}.holding_history (hh_h_t_id, hh_t_id, hh_before_qty, hh_after_qty)
            VALUES (number, number, 0, direction * open_shares);
        INSERT INTO {place}.holding (h_t_id, h_ca_id, h_s_symb, h_dts, h_price, h_qty)
            VALUES (number, account, symbol, entered, price, direction * open_shares);
    END IF;
    IF held_after = 0 THEN
        DELETE FROM {place}.holding_summary WHERE hs_ca_id = account AND hs_s_symb = symbol;
        SET lost = lost OR ROW_COUNT() = 0;
    END IF;

    IF tax_status IN (1, 2) THEN
        SET tax = TRUNCATE(GREATEST(gain, 0) * tax_rate, 2);
    END IF;
    SET commission = ROUND(shares * price * rate / 100, 2);
    SET amount = -direction * shares * price - charged - commission - IF(tax_status = 1, tax, 0);
    UPDATE {place}.trade SET t_comm = commission, t_tax = tax, t_dts = entered,
            t_st_id = 'CMPT', t_trade_price = price
        WHERE t_id = number;
    SET lost = lost OR ROW_COUNT() = 0;
    INSERT INTO {place}.trade_history (th_t_id, th_dts, th_st_id)
        VALUES (number, entered, 'CMPT');
    INSERT INTO {place}.settlement (se_t_id, se_cash_type, se_cash_due_date, se_amt)
        VALUES (number, IF(cash = 1, 'Cash Account', 'Margin'), due, amount);
    IF cash = 1 THEN
        UPDATE {place}.customer_account SET ca_bal = ca_bal + amount WHERE ca_id = account;
        SET lost = lost OR ROW_COUNT() = 0;
        INSERT INTO {place}.cash_transaction (ct_t_id, ct_dts, ct_amt, ct_name)
            VALUES (number, entered, amount, what);
    END IF;
    -- The broker comes last: many accounts have the same one.
    UPDATE {place}.broker
        SET b_comm_total = b_comm_total + commission, b_num_trades = b_num_trades + 1
        WHERE b_id = broker_id;
    IF lost OR ROW_COUNT() = 0 THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT =
            'a change was not made: its statement was stopped, or its row is missing';
    END IF;
    COMMIT;
    SELECT changes, commission, tax, amount;
END;
