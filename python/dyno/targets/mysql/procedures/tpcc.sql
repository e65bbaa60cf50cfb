-- The transactions of the TPC-C-derived workload, as `dyno run tpcc --mode procedure` calls them.
--
-- They run the statements of the driver's client mode (crates/dyno-drive/src/tpcc) in the words of
-- its dialect, so that the two modes differ in where a transaction is programmed and in nothing
-- else. What a screen would show is returned as one row, lists as one text. A call is a transaction
-- of its own: it commits before it returns the row, and an error rolls it back. Every table is named
-- with its database.
--
-- Before it commits each looks whether all its changes were made. MariaDB 10.11 lets a procedure go
-- on after a DELETE that was killed as it began, without an error and with nothing deleted (seen once
-- in some 200 kills), and what follows would be committed.
--
-- There are no arrays. An order's lines come as a text, of which SUBSTRING_INDEX cuts each line.
-- Server CPU for ten lines in MariaDB 10.11 and MySQL 8.0.31: 26 and 41 µs; 54 and 43 µs from a JSON
-- array, 24 and 101 µs by a cursor over JSON_TABLE, which has to join the lines to their locks. What
-- a line gets in the order of the locks waits for its insert in one cell of 34 characters of another
-- text: the district's text (24), and the amount (10).

CREATE PROCEDURE {place}.dyno_new_order(
    wh INT, dist INT, cust INT, entered DATETIME(6),
    -- Item, warehouse and quantity of each line; the lines' numbers in the order of their locks.
    entered_lines VARCHAR(400) {text}, lock_order VARCHAR(50) {text}
) MODIFIES SQL DATA SQL SECURITY INVOKER COMMENT {mark}
BEGIN
    DECLARE found, all_local BOOLEAN DEFAULT TRUE;
    DECLARE unknown, lost BOOLEAN DEFAULT FALSE;
    DECLARE order_id, item_id, supplier, pieces, in_stock INT;
    DECLARE line_count INT
        DEFAULT 1 + CHAR_LENGTH(lock_order) - CHAR_LENGTH(REPLACE(lock_order, ',', ''));
    DECLARE step, line INT DEFAULT 0;
    DECLARE discount, wh_tax, dist_tax DECIMAL(4, 4);
    DECLARE price, amount DECIMAL(6, 2);
    DECLARE goods DECIMAL(12, 2) DEFAULT 0;
    DECLARE total DECIMAL(22, 10);
    DECLARE credit CHAR(2) {text};
    DECLARE last_name VARCHAR(16) {text};
    DECLARE item_name, dist_text VARCHAR(24) {text};
    DECLARE item_text, stock_text, triple VARCHAR(50) {text};
    DECLARE problem VARCHAR(128) {text};
    DECLARE cells VARCHAR(510) {text} DEFAULT SPACE(34 * line_count);
    DECLARE shown VARCHAR(1200) {text};
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET found = FALSE;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;

    START TRANSACTION;
    SELECT w_tax INTO wh_tax FROM {place}.warehouse WHERE w_id = wh;
    SELECT c_discount, c_last, c_credit INTO discount, last_name, credit
        FROM {place}.customer WHERE c_w_id = wh AND c_d_id = dist AND c_id = cust;
    IF NOT found THEN
        SET problem = CONCAT('no warehouse ', wh, ' or no customer ', cust, ' in its district ',
            dist, ': check that the data is complete and the number of warehouses correct');
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = problem;
    END IF;

    locking: WHILE step < line_count DO
        SET step = step + 1;
        SET line = SUBSTRING_INDEX(SUBSTRING_INDEX(lock_order, ',', step), ',', -1);
        SET triple = SUBSTRING_INDEX(SUBSTRING_INDEX(entered_lines, ',', 3 * line), ',', -3);
        SET item_id = SUBSTRING_INDEX(triple, ',', 1);
        SET supplier = SUBSTRING_INDEX(SUBSTRING_INDEX(triple, ',', 2), ',', -1);
        SET pieces = SUBSTRING_INDEX(triple, ',', -1);
        SET all_local = all_local AND supplier = wh;
        SELECT i_price, i_name, i_data INTO price, item_name, item_text
            FROM {place}.item WHERE i_id = item_id;
        IF NOT found THEN
            SET unknown = TRUE, found = TRUE;
            ITERATE locking;
        END IF;
        UPDATE {place}.stock SET
                s_quantity = CASE WHEN s_quantity >= pieces + 10
                    THEN s_quantity - pieces ELSE s_quantity - pieces + 91 END,
                s_ytd = s_ytd + pieces,
                s_order_cnt = s_order_cnt + 1,
                s_remote_cnt = s_remote_cnt + (supplier <> wh)
            WHERE s_w_id = supplier AND s_i_id = item_id;
        SET lost = lost OR ROW_COUNT() = 0;
        SELECT s_quantity, CASE dist
                WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
                WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06
                WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09
                ELSE s_dist_10 END, s_data
            INTO in_stock, dist_text, stock_text
            FROM {place}.stock WHERE s_w_id = supplier AND s_i_id = item_id;
        IF NOT found THEN
            SET problem = CONCAT('item ', item_id, ' has no stock in warehouse ', supplier,
                ': check that the data is complete and the number of warehouses correct');
            SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = problem;
        END IF;
        SET amount = pieces * price;
        SET goods = goods + amount;
        SET cells = INSERT(cells, 34 * line - 33, 34,
            CONCAT(RPAD(dist_text, 24, ' '), LPAD(amount, 10, '0')));
        -- The item is of the original brand if both texts say so. The lines are shown as they were
        -- locked, each with its number.
        SET shown = CONCAT_WS(';', shown, CONCAT_WS('|', line, item_name, in_stock,
            IF(LOCATE('ORIGINAL', item_text) > 0 AND LOCATE('ORIGINAL', stock_text) > 0, 'B', 'G'),
            price, amount));
    END WHILE;

    UPDATE {place}.district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = wh AND d_id = dist;
    SET lost = lost OR ROW_COUNT() = 0;
    SELECT d_next_o_id - 1, d_tax INTO order_id, dist_tax
        FROM {place}.district WHERE d_w_id = wh AND d_id = dist;

    IF unknown THEN
        ROLLBACK;
        SET order_id = NULL;
    ELSE
        INSERT INTO {place}.orders
                (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
            VALUES (order_id, dist, wh, cust, entered, line_count, all_local);
        INSERT INTO {place}.new_order (no_o_id, no_d_id, no_w_id) VALUES (order_id, dist, wh);
        SET line = 0;
        WHILE line < line_count DO
            SET line = line + 1;
            SET triple = SUBSTRING_INDEX(SUBSTRING_INDEX(entered_lines, ',', 3 * line), ',', -3);
            INSERT INTO {place}.order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id,
                    ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info)
                VALUES (order_id, dist, wh, line, SUBSTRING_INDEX(triple, ',', 1),
                    SUBSTRING_INDEX(SUBSTRING_INDEX(triple, ',', 2), ',', -1),
                    SUBSTRING_INDEX(triple, ',', -1), SUBSTRING(cells, 34 * line - 9, 10),
                    SUBSTRING(cells, 34 * line - 33, 24));
        END WHILE;
        SET total = goods * (1 - discount) * (1 + wh_tax + dist_tax);
        IF lost THEN
            SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT =
                'a change was not made: its statement was stopped, or its row is missing';
        END IF;
        COMMIT;
    END IF;
    SELECT order_id, last_name, credit, discount, wh_tax, dist_tax, total, shown;
END;

CREATE PROCEDURE {place}.dyno_payment(
    wh INT, dist INT, home_wh INT, home_dist INT,
    -- The customer by number or by last name; the other is null.
    by_number INT, by_name VARCHAR(16) {text}, paid DECIMAL(6, 2), entered DATETIME(6)
) MODIFIES SQL DATA SQL SECURITY INVOKER COMMENT {mark}
BEGIN
    DECLARE found BOOLEAN DEFAULT TRUE;
    DECLARE lost BOOLEAN DEFAULT FALSE;
    DECLARE cust INT DEFAULT by_number;
    DECLARE passed INT;
    DECLARE balance DECIMAL(12, 2);
    DECLARE credit CHAR(2) {text};
    DECLARE wh_name, dist_name VARCHAR(10) {text};
    DECLARE wh_address, dist_address VARCHAR(80) {text};
    DECLARE addresses VARCHAR(161) {text};
    DECLARE who VARCHAR(300) {text};
    DECLARE story VARCHAR(200) {text};
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET found = FALSE;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;

    START TRANSACTION;
    SELECT w_name, CONCAT_WS(',', w_street_1, w_street_2, w_city, w_state, w_zip)
        INTO wh_name, wh_address FROM {place}.warehouse WHERE w_id = wh;
    SELECT d_name, CONCAT_WS(',', d_street_1, d_street_2, d_city, d_state, d_zip)
        INTO dist_name, dist_address FROM {place}.district WHERE d_w_id = wh AND d_id = dist;
    IF by_number IS NULL THEN
        -- Of n customers of the name, by first name, the one at n/2, rounded up.
        SELECT COUNT(*) INTO passed FROM {place}.customer
            WHERE c_w_id = home_wh AND c_d_id = home_dist AND c_last = by_name;
        SET passed = (passed - 1) DIV 2;
        SELECT c_id INTO cust FROM {place}.customer
            WHERE c_w_id = home_wh AND c_d_id = home_dist AND c_last = by_name
            ORDER BY c_first LIMIT passed, 1;
    END IF;
    SELECT c_credit, CONCAT_WS(',', c_first, c_middle, c_last, c_street_1, c_street_2, c_city,
            c_state, c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount)
        INTO credit, who
        FROM {place}.customer WHERE c_w_id = home_wh AND c_d_id = home_dist AND c_id = cust;
    IF NOT found THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'a customer, district or warehouse is missing: '
            'check that the data is complete and the number of warehouses correct';
    END IF;
    SET addresses = CONCAT(wh_address, ';', dist_address);

    UPDATE {place}.warehouse SET w_ytd = w_ytd + paid WHERE w_id = wh;
    SET lost = lost OR ROW_COUNT() = 0;
    UPDATE {place}.district SET d_ytd = d_ytd + paid WHERE d_w_id = wh AND d_id = dist;
    SET lost = lost OR ROW_COUNT() = 0;
    IF credit = 'BC' THEN
        UPDATE {place}.customer SET
                c_balance = c_balance - paid,
                c_ytd_payment = c_ytd_payment + paid,
                c_payment_cnt = c_payment_cnt + 1,
                c_data = LEFT(CONCAT(cust, ' ', home_dist, ' ', home_wh, ' ', dist, ' ', wh, ' ',
                    paid, ' | ', c_data), 500)
            WHERE c_w_id = home_wh AND c_d_id = home_dist AND c_id = cust;
        SET lost = lost OR ROW_COUNT() = 0;
        SELECT c_balance, LEFT(c_data, 200) INTO balance, story
            FROM {place}.customer WHERE c_w_id = home_wh AND c_d_id = home_dist AND c_id = cust;
    ELSE
        UPDATE {place}.customer SET
                c_balance = c_balance - paid,
                c_ytd_payment = c_ytd_payment + paid,
                c_payment_cnt = c_payment_cnt + 1
            WHERE c_w_id = home_wh AND c_d_id = home_dist AND c_id = cust;
        SET lost = lost OR ROW_COUNT() = 0;
        SELECT c_balance INTO balance
            FROM {place}.customer WHERE c_w_id = home_wh AND c_d_id = home_dist AND c_id = cust;
    END IF;
    INSERT INTO {place}.history
            (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
        VALUES (cust, home_dist, home_wh, dist, wh, entered, paid,
            CONCAT(wh_name, '    ', dist_name));
    IF lost THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT =
            'a change was not made: its statement was stopped, or its row is missing';
    END IF;
    COMMIT;
    SELECT cust, balance, addresses, who, story;
END;

CREATE PROCEDURE {place}.dyno_order_status(
    -- The customer by number or by last name; the other is null.
    wh INT, dist INT, by_number INT, by_name VARCHAR(16) {text}
) READS SQL DATA SQL SECURITY INVOKER COMMENT {mark}
BEGIN
    DECLARE found BOOLEAN DEFAULT TRUE;
    DECLARE cust INT DEFAULT by_number;
    DECLARE passed, order_id, carrier INT;
    DECLARE balance DECIMAL(12, 2);
    DECLARE entered DATETIME(6);
    DECLARE who VARCHAR(36) {text};
    DECLARE shown VARCHAR(1200) {text};
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET found = FALSE;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;

    START TRANSACTION;
    IF by_number IS NULL THEN
        SELECT COUNT(*) INTO passed FROM {place}.customer
            WHERE c_w_id = wh AND c_d_id = dist AND c_last = by_name;
        SET passed = (passed - 1) DIV 2;
        SELECT c_id INTO cust FROM {place}.customer
            WHERE c_w_id = wh AND c_d_id = dist AND c_last = by_name
            ORDER BY c_first LIMIT passed, 1;
    END IF;
    SELECT c_balance, CONCAT_WS(',', c_first, c_middle, c_last) INTO balance, who
        FROM {place}.customer WHERE c_w_id = wh AND c_d_id = dist AND c_id = cust;
    IF NOT found THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'a customer is missing: check that the data is '
            'whole and the number of warehouses correct';
    END IF;
    SELECT o_id, o_carrier_id, o_entry_d INTO order_id, carrier, entered
        FROM {place}.orders WHERE o_w_id = wh AND o_d_id = dist AND o_c_id = cust
        ORDER BY o_id DESC LIMIT 1;
    -- Every customer has an order in freshly loaded data; elsewhere none is a valid answer.
    IF found THEN
        SELECT GROUP_CONCAT(CONCAT_WS('|', ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
                ol_delivery_d) SEPARATOR ';') INTO shown
            FROM {place}.order_line WHERE ol_w_id = wh AND ol_d_id = dist AND ol_o_id = order_id;
    END IF;
    COMMIT;
    SELECT cust, balance, who, order_id, carrier, entered, shown;
END;

CREATE PROCEDURE {place}.dyno_delivery(wh INT, by_carrier INT, entered DATETIME(6))
    MODIFIES SQL DATA SQL SECURITY INVOKER COMMENT {mark}
BEGIN
    DECLARE found BOOLEAN DEFAULT TRUE;
    DECLARE lost BOOLEAN DEFAULT FALSE;
    DECLARE dist, delivered INT DEFAULT 0;
    DECLARE order_id, cust INT;
    DECLARE charge DECIMAL(12, 2);
    DECLARE problem VARCHAR(128) {text};
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET found = FALSE;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;

    START TRANSACTION;
    -- Client mode does each step for all districts, which saves it round trips; here each district
    -- is done with before the next.
    districts: WHILE dist < 10 DO
        SET dist = dist + 1;
        SELECT no_o_id INTO order_id FROM {place}.new_order
            WHERE no_w_id = wh AND no_d_id = dist ORDER BY no_o_id LIMIT 1 FOR UPDATE;
        -- A district where everything is delivered is skipped.
        IF NOT found THEN
            SET found = TRUE;
            ITERATE districts;
        END IF;
        DELETE FROM {place}.new_order
            WHERE no_w_id = wh AND no_d_id = dist AND no_o_id = order_id;
        SET lost = lost OR ROW_COUNT() = 0;
        UPDATE {place}.orders SET o_carrier_id = by_carrier
            WHERE o_w_id = wh AND o_d_id = dist AND o_id = order_id;
        SET lost = lost OR ROW_COUNT() = 0;
        SELECT o_c_id INTO cust
            FROM {place}.orders WHERE o_w_id = wh AND o_d_id = dist AND o_id = order_id;
        IF NOT found THEN
            SET problem = CONCAT('order ', order_id, ' of district ', dist, ', warehouse ', wh,
                ' awaits delivery but has no row in orders: the data is not whole');
            SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = problem;
        END IF;
        UPDATE {place}.order_line SET ol_delivery_d = entered
            WHERE ol_w_id = wh AND ol_d_id = dist AND ol_o_id = order_id;
        SET lost = lost OR ROW_COUNT() = 0;
        SELECT COALESCE(SUM(ol_amount), 0) INTO charge
            FROM {place}.order_line WHERE ol_w_id = wh AND ol_d_id = dist AND ol_o_id = order_id;
        UPDATE {place}.customer
            SET c_balance = c_balance + charge, c_delivery_cnt = c_delivery_cnt + 1
            WHERE c_w_id = wh AND c_d_id = dist AND c_id = cust;
        SET lost = lost OR ROW_COUNT() = 0;
        SET delivered = delivered + 1;
    END WHILE;
    IF lost THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT =
            'a change was not made: its statement was stopped, or its row is missing';
    END IF;
    COMMIT;
    SELECT delivered;
END;

CREATE PROCEDURE {place}.dyno_stock_level(wh INT, dist INT, threshold INT)
    READS SQL DATA SQL SECURITY INVOKER COMMENT {mark}
BEGIN
    DECLARE found BOOLEAN DEFAULT TRUE;
    DECLARE next_id, low INT;
    DECLARE problem VARCHAR(128) {text};
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET found = FALSE;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;

    START TRANSACTION;
    SELECT d_next_o_id INTO next_id FROM {place}.district WHERE d_w_id = wh AND d_id = dist;
    IF NOT found THEN
        SET problem = CONCAT('warehouse ', wh, ' is missing: check that the data is complete and the ',
            'number of warehouses correct');
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = problem;
    END IF;
    SELECT COUNT(DISTINCT s_i_id) INTO low
        FROM {place}.order_line, {place}.stock
        WHERE ol_w_id = wh AND ol_d_id = dist AND ol_o_id >= next_id - 20 AND ol_o_id < next_id
            AND s_w_id = wh AND s_i_id = ol_i_id AND s_quantity < threshold;
    COMMIT;
    SELECT low;
END;
