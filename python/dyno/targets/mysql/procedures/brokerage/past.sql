-- Trade-Lookup and Trade-Update: trades of the past.

-- Finds them: 1 by number, 2 of an account, 3 of a security; what is shown of each.
CREATE PROCEDURE {place}.dyno_past_trades(
    how INT, listed VARCHAR(400) {text}, account BIGINT, symbol VARCHAR(15) {text},
    since DATETIME(6), OUT trades INT, OUT numbers VARCHAR(400) {text}, OUT shown TEXT {text}
) READS SQL DATA SQL SECURITY INVOKER COMMENT {mark}
BEGIN
    DECLARE found BOOLEAN;
    DECLARE step, steps INT DEFAULT 0;
    DECLARE number BIGINT;
    DECLARE line VARCHAR(150) {text};
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET found = FALSE;

    IF how = 1 THEN
        SET trades = 0;
        SET steps = 1 + CHAR_LENGTH(listed) - CHAR_LENGTH(REPLACE(listed, ',', ''));
        WHILE step < steps DO
            SET step = step + 1, found = TRUE;
            SET number = SUBSTRING_INDEX(SUBSTRING_INDEX(listed, ',', step), ',', -1);
            SELECT CONCAT_WS('|', t_id, t_bid_price, t_exec_name, t_is_cash, tt_is_mrkt,
                    t_trade_price)
                INTO line
                FROM {place}.trade JOIN {place}.trade_type ON tt_id = t_tt_id
                WHERE t_id = number;
            IF found THEN
                SET trades = trades + 1;
                SET numbers = CONCAT_WS(',', numbers, number);
                SET shown = CONCAT_WS(';', shown, line);
            END IF;
        END WHILE;
    ELSEIF how = 2 THEN
        SELECT COUNT(*), GROUP_CONCAT(t_id ORDER BY t_id),
                GROUP_CONCAT(CONCAT_WS('|', t_id, t_bid_price, t_exec_name, t_is_cash,
                    t_trade_price) ORDER BY t_dts SEPARATOR ';')
            INTO trades, numbers, shown
            FROM (
                SELECT t_id, t_bid_price, t_exec_name, t_is_cash, t_trade_price, t_dts
                FROM {place}.trade WHERE t_ca_id = account AND t_dts >= since
                ORDER BY t_dts LIMIT 20
            ) AS picked;
    ELSE
        SELECT COUNT(*), GROUP_CONCAT(t_id ORDER BY t_id),
                GROUP_CONCAT(CONCAT_WS('|', t_id, t_ca_id, t_exec_name, t_is_cash, t_trade_price,
                    t_qty, t_dts, t_tt_id, tt_name, s_name) ORDER BY t_dts SEPARATOR ';')
            INTO trades, numbers, shown
            FROM (
                SELECT t_id, t_ca_id, t_exec_name, t_is_cash, t_trade_price, t_qty, t_dts, t_tt_id,
                    tt_name, s_name
                FROM {place}.trade
                JOIN {place}.trade_type ON tt_id = t_tt_id
                JOIN {place}.security ON s_symb = t_s_symb
                WHERE t_s_symb = symbol AND t_dts >= since ORDER BY t_dts LIMIT 20
            ) AS picked;
    END IF;
END;

-- Appends the settlement, payment and history of trades.
CREATE PROCEDURE {place}.dyno_trade_details(
    trades INT, numbers VARCHAR(400) {text}, INOUT shown TEXT {text}
) READS SQL DATA SQL SECURITY INVOKER COMMENT {mark}
BEGIN
    DECLARE found BOOLEAN;
    DECLARE step INT DEFAULT 0;
    DECLARE number BIGINT;
    DECLARE settled VARCHAR(80) {text};
    DECLARE paid, story VARCHAR(200) {text};
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET found = FALSE;

    WHILE step < trades DO
        SET step = step + 1, settled = NULL, paid = NULL;
        SET number = SUBSTRING_INDEX(SUBSTRING_INDEX(numbers, ',', step), ',', -1);
        SELECT CONCAT_WS('|', se_amt, se_cash_due_date, se_cash_type) INTO settled
            FROM {place}.settlement WHERE se_t_id = number;
        SELECT CONCAT_WS('|', ct_amt, ct_dts, ct_name) INTO paid
            FROM {place}.cash_transaction WHERE ct_t_id = number;
        SELECT GROUP_CONCAT(CONCAT_WS('|', th_dts, th_st_id) ORDER BY th_dts SEPARATOR '|')
            INTO story
            FROM (
                SELECT th_dts, th_st_id FROM {place}.trade_history WHERE th_t_id = number
                ORDER BY th_dts LIMIT 3
            ) AS picked;
        SET shown = CONCAT_WS(';', shown, settled, paid, story);
    END WHILE;
END;

CREATE PROCEDURE {place}.dyno_trade_lookup(
    -- 1 by number, 2 of an account, 3 of a security, 4 the holdings of an account's first trade.
    how INT, listed VARCHAR(400) {text}, account BIGINT, symbol VARCHAR(15) {text},
    since DATETIME(6)
) READS SQL DATA SQL SECURITY INVOKER COMMENT {mark}
BEGIN
    DECLARE found BOOLEAN DEFAULT TRUE;
    DECLARE trades INT DEFAULT 0;
    DECLARE number BIGINT;
    DECLARE numbers VARCHAR(400) {text};
    DECLARE shown TEXT {text};
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET found = FALSE;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;

    START TRANSACTION;
    IF how = 4 THEN
        SELECT t_id INTO number FROM {place}.trade WHERE t_ca_id = account AND t_dts >= since
            ORDER BY t_dts LIMIT 1;
        IF found THEN
            SELECT COUNT(*), GROUP_CONCAT(CONCAT_WS('|', hh_h_t_id, hh_t_id, hh_before_qty,
                    hh_after_qty) SEPARATOR ';')
                INTO trades, shown
                FROM (
                    SELECT hh_h_t_id, hh_t_id, hh_before_qty, hh_after_qty
                    FROM {place}.holding_history WHERE hh_h_t_id IN (
                        SELECT hh_h_t_id FROM {place}.holding_history WHERE hh_t_id = number)
                    LIMIT 20
                ) AS picked;
        END IF;
    ELSE
        CALL {place}.dyno_past_trades(how, listed, account, symbol, since, trades, numbers, shown);
        CALL {place}.dyno_trade_details(trades, numbers, shown);
    END IF;
    COMMIT;
    SELECT trades, shown;
END;

CREATE PROCEDURE {place}.dyno_trade_update(
    -- 1 by number, 2 of an account, 3 of a security.
    how INT, listed VARCHAR(400) {text}, account BIGINT, symbol VARCHAR(15) {text},
    since DATETIME(6)
) MODIFIES SQL DATA SQL SECURITY INVOKER COMMENT {mark}
BEGIN
    DECLARE found BOOLEAN;
    DECLARE trades INT;
    DECLARE step INT DEFAULT 0;
    DECLARE number BIGINT;
    DECLARE numbers VARCHAR(400) {text};
    DECLARE word VARCHAR(100) {text};
    DECLARE shown TEXT {text};
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET found = FALSE;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;

    START TRANSACTION;
    -- In ascending order: two updates must not take the locks of two trades in different orders.
    CALL {place}.dyno_past_trades(how, listed, account, symbol, since, trades, numbers, shown);
    -- Each change is undone by the next.
    WHILE step < trades DO
        SET step = step + 1, found = TRUE;
        SET number = SUBSTRING_INDEX(SUBSTRING_INDEX(numbers, ',', step), ',', -1);
        IF how = 1 THEN
            UPDATE {place}.trade SET t_exec_name = IF(LOCATE(' X ', t_exec_name) > 0,
                    INSERT(t_exec_name, LOCATE(' X ', t_exec_name), 3, ' '),
                    INSERT(t_exec_name, LOCATE(' ', t_exec_name), 1, ' X '))
                WHERE t_id = number;
        ELSEIF how = 2 THEN
            SELECT se_cash_type INTO word FROM {place}.settlement WHERE se_t_id = number;
            IF found THEN
                UPDATE {place}.settlement SET se_cash_type = IF(RIGHT(word, 8) = ' Account',
                        LEFT(word, CHAR_LENGTH(word) - 8), CONCAT(word, ' Account'))
                    WHERE se_t_id = number;
            END IF;
        ELSE
            SELECT ct_name INTO word FROM {place}.cash_transaction WHERE ct_t_id = number;
            -- A trade on margin has no payment.
            IF found THEN
                UPDATE {place}.cash_transaction SET ct_name = IF(LOCATE(' shares of ', word) > 0,
                        INSERT(word, LOCATE(' shares of ', word), 11, ' Shares of '),
                        INSERT(word, LOCATE(' Shares of ', word), 11, ' shares of '))
                    WHERE ct_t_id = number;
            END IF;
        END IF;
    END WHILE;
    CALL {place}.dyno_trade_details(trades, numbers, shown);
    COMMIT;
    SELECT trades, shown;
END;
