-- Trade-Order and Trade-Cleanup.

-- The first call of a Trade-Order. It leaves its transaction to the second.
CREATE PROCEDURE {place}.dyno_trade_order(
    -- Who else orders, by place, or null; the company and issue that name the security instead of
    -- its symbol, or null.
    account BIGINT, other INT, kind CHAR(3) {text}, given_symbol VARCHAR(15) {text},
    comp VARCHAR(60) {text}, issue VARCHAR(6) {text}
) READS SQL DATA SQL SECURITY INVOKER COMMENT {mark}
BEGIN
    DECLARE found BOOLEAN DEFAULT TRUE;
    DECLARE cust, broker_id BIGINT;
    DECLARE tier, tax_status, counted, at_market, is_sale INT;
    DECLARE executor VARCHAR(49) {text};
    DECLARE owner_tax VARCHAR(20) {text};
    DECLARE others VARCHAR(1200) {text};
    DECLARE assets, worth DECIMAL(14, 2);
    DECLARE symbol VARCHAR(15) {text} DEFAULT given_symbol;
    DECLARE open_price DECIMAL(8, 2);
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET found = FALSE;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;

    START TRANSACTION;
    SELECT ca_b_id, ca_c_id, ca_tax_st, ca_bal, c_tier, CONCAT(c_f_name, ' ', c_l_name), c_tax_id
        INTO broker_id, cust, tax_status, assets, tier, executor, owner_tax
        FROM {place}.customer_account
        JOIN {place}.broker ON b_id = ca_b_id
        JOIN {place}.customer ON c_id = ca_c_id
        WHERE ca_id = account;
    SELECT COUNT(*),
            GROUP_CONCAT(CONCAT(ap_f_name, ' ', ap_l_name) ORDER BY ap_tax_id SEPARATOR '|')
        INTO counted, others
        FROM {place}.account_permission WHERE ap_ca_id = account AND ap_tax_id <> owner_tax;
    IF other IS NOT NULL AND counted > 0 THEN
        SET executor = SUBSTRING_INDEX(SUBSTRING_INDEX(others, '|', 1 + other % counted), '|', -1);
    END IF;
    SELECT COALESCE(SUM(hs_qty * lt_price), 0) INTO worth
        FROM {place}.holding_summary JOIN {place}.last_trade ON lt_s_symb = hs_s_symb
        WHERE hs_ca_id = account;
    SET assets = assets + worth;
    SELECT tt_is_mrkt, tt_is_sell INTO at_market, is_sale
        FROM {place}.trade_type WHERE tt_id = kind;

    IF comp IS NOT NULL THEN
        SELECT s_symb INTO symbol
            FROM {place}.company
            JOIN {place}.security ON s_co_id = co_id
            JOIN {place}.last_trade ON lt_s_symb = s_symb
            WHERE co_name = comp AND s_issue = issue LIMIT 1;
    END IF;
    SELECT lt_open_price INTO open_price
        FROM {place}.security
        JOIN {place}.company ON co_id = s_co_id
        JOIN {place}.last_trade ON lt_s_symb = s_symb
        WHERE s_symb = symbol;
    IF NOT found THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT =
            'an account or a security is missing: check that the data is complete';
    END IF;
    SELECT cust, broker_id, tier, tax_status, executor, assets, symbol, open_price;
END;

-- The second call of a Trade-Order, with the price that the exchange has named.
CREATE PROCEDURE {place}.dyno_trade_order_entry(
    number BIGINT, account BIGINT, cust BIGINT, broker_id BIGINT, tier INT,
    kind CHAR(3) {text}, symbol VARCHAR(15) {text}, shares INT, bid DECIMAL(8, 2),
    lifo INT, cash INT, executor VARCHAR(49) {text}, withdrawn INT, entered DATETIME(6)
) MODIFIES SQL DATA SQL SECURITY INVOKER COMMENT {mark}
BEGIN
    DECLARE found BOOLEAN DEFAULT TRUE;
    DECLARE lot BIGINT;
    DECLARE lot_shares, closed INT;
    DECLARE open_shares INT DEFAULT shares;
    DECLARE sells BOOLEAN DEFAULT kind IN ('TMS', 'TLS', 'TSL');
    DECLARE order_status CHAR(4) {text} DEFAULT IF(kind IN ('TMB', 'TMS'), 'SBMT', 'PNDG');
    DECLARE lot_price DECIMAL(8, 2);
    DECLARE rate DECIMAL(5, 2);
    DECLARE tax_rate DECIMAL(7, 5);
    DECLARE charged, commission, tax DECIMAL(10, 2);
    DECLARE gain DECIMAL(14, 2) DEFAULT 0;
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

    SELECT ch_chrg INTO charged FROM {place}.charge WHERE ch_tt_id = kind AND ch_c_tier = tier;
    SELECT cr_rate INTO rate
        FROM {place}.commission_rate JOIN {place}.security ON s_ex_id = cr_ex_id
        WHERE s_symb = symbol AND cr_c_tier = tier AND cr_tt_id = kind AND cr_from_qty <= shares
            AND cr_to_qty >= shares;
    IF NOT found THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT =
            'charge or commission of a trade is missing: check that the data is complete';
    END IF;
    SELECT COALESCE(SUM(tx_rate), 0) INTO tax_rate
        FROM {place}.customer_taxrate JOIN {place}.taxrate ON tx_id = cx_tx_id
        WHERE cx_c_id = cust;
    -- The tax that the customer has to expect.
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
        SET gain = gain + IF(sells, closed, -closed) * (bid - lot_price);
    END LOOP;
    CLOSE lots;
    SET tax = TRUNCATE(GREATEST(gain, 0) * tax_rate, 2);
    SET commission = ROUND(shares * bid * rate / 100, 2);

    INSERT INTO {place}.trade (t_id, t_dts, t_st_id, t_tt_id, t_is_cash, t_s_symb, t_qty,
            t_bid_price, t_ca_id, t_exec_name, t_trade_price, t_chrg, t_comm, t_tax, t_lifo)
        VALUES (number, entered, order_status, kind, cash, symbol, shares, bid, account, executor,
            NULL, charged, commission, 0, lifo);
    IF order_status = 'PNDG' THEN
        INSERT INTO {place}.trade_request (tr_t_id, tr_tt_id, tr_s_symb, tr_qty, tr_bid_price,
                tr_b_id)
            VALUES (number, kind, symbol, shares, bid, broker_id);
    END IF;
    INSERT INTO {place}.trade_history (th_t_id, th_dts, th_st_id)
        VALUES (number, entered, order_status);
    IF withdrawn THEN
        ROLLBACK;
    ELSE
        COMMIT;
    END IF;
    SELECT charged, commission, tax;
END;

-- Before the first transaction: what earlier runs left unfinished is cancelled, never before its last
-- step: the clock may have gone back.
CREATE PROCEDURE {place}.dyno_trade_cleanup(last_loaded BIGINT, entered DATETIME(6))
    MODIFIES SQL DATA SQL SECURITY INVOKER COMMENT {mark}
BEGIN
    DECLARE next_number BIGINT;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;

    START TRANSACTION;
    INSERT INTO {place}.trade_history (th_t_id, th_dts, th_st_id)
        SELECT t_id, GREATEST(t_dts, entered), 'SBMT'
        FROM {place}.trade WHERE t_id IN (SELECT tr_t_id FROM {place}.trade_request);
    INSERT INTO {place}.trade_history (th_t_id, th_dts, th_st_id)
        SELECT t_id, GREATEST(t_dts, entered), 'CNCL'
        FROM {place}.trade WHERE t_id IN (SELECT tr_t_id FROM {place}.trade_request);
    -- Joins: before 11.1, MariaDB evaluates a subquery for each row of an updated table.
    UPDATE {place}.trade JOIN {place}.trade_request ON tr_t_id = t_id
        SET t_st_id = 'CNCL', t_dts = GREATEST(t_dts, entered);
    INSERT INTO {place}.trade_history (th_t_id, th_dts, th_st_id)
        SELECT t_id, GREATEST(t_dts, entered), 'CNCL'
        FROM {place}.trade
        WHERE t_id > last_loaded AND t_st_id IN ('SBMT', 'PNDG');
    UPDATE {place}.trade SET t_st_id = 'CNCL', t_dts = GREATEST(t_dts, entered)
        WHERE t_id > last_loaded AND t_st_id IN ('SBMT', 'PNDG');
    DELETE FROM {place}.trade_request;
    SELECT COALESCE(MAX(t_id), 0) + 1 INTO next_number FROM {place}.trade;
    COMMIT;
    SELECT next_number;
END;
