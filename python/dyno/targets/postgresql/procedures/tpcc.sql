-- The transactions of the TPC-C-derived workload, as `dyno run tpcc --mode procedure` calls them.
--
-- They run the statements of the driver's client mode (crates/dyno-drive/src/tpcc) in its order, so
-- that the two modes differ in where a transaction is programmed and in nothing else. What a screen
-- would show is returned as one row, lists as one text. Every table is named with its schema.

CREATE PROCEDURE {place}.dyno_new_order(
    IN wh integer, IN dist integer, IN cust integer, IN entered timestamp,
    -- Item, warehouse and quantity of each line; the lines' numbers in the order of their locks.
    IN entered_lines text, IN lock_order text,
    OUT order_id integer, OUT last_name text, OUT credit text, OUT discount numeric,
    OUT wh_tax numeric, OUT dist_tax numeric, OUT total numeric, OUT shown text
) LANGUAGE plpgsql AS $procedure$
DECLARE
    lines integer[] := string_to_array(entered_lines, ',')::integer[];
    locks integer[] := string_to_array(lock_order, ',')::integer[];
    all_local boolean := true;
    unknown boolean := false;
    goods numeric := 0;
    amounts numeric[];
    texts text[];
    screen text[];
    line integer;
    item_id integer;
    supplier integer;
    pieces integer;
    price numeric;
    item_name text;
    item_text text;
    in_stock integer;
    dist_text text;
    stock_text text;
BEGIN
    SELECT w_tax INTO wh_tax FROM {place}.warehouse WHERE w_id = wh;
    SELECT c_discount, c_last, c_credit INTO discount, last_name, credit
        FROM {place}.customer WHERE c_w_id = wh AND c_d_id = dist AND c_id = cust;
    IF wh_tax IS NULL OR discount IS NULL THEN
        RAISE EXCEPTION 'warehouse % or its customer % of district % is missing: check that the '
            'data is complete and the number of warehouses correct', wh, cust, dist;
    END IF;

    FOREACH line IN ARRAY locks LOOP
        item_id := lines[3 * line - 2];
        supplier := lines[3 * line - 1];
        pieces := lines[3 * line];
        all_local := all_local AND supplier = wh;
        SELECT i_price, i_name, i_data INTO price, item_name, item_text
            FROM {place}.item WHERE i_id = item_id;
        IF NOT FOUND THEN
            unknown := true;
            CONTINUE;
        END IF;
        UPDATE {place}.stock SET
                s_quantity = CASE WHEN s_quantity >= pieces + 10
                    THEN s_quantity - pieces ELSE s_quantity - pieces + 91 END,
                s_ytd = s_ytd + pieces,
                s_order_cnt = s_order_cnt + 1,
                s_remote_cnt = s_remote_cnt + (supplier <> wh)::integer
            WHERE s_w_id = supplier AND s_i_id = item_id
            RETURNING s_quantity, CASE dist
                WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
                WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06
                WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09
                ELSE s_dist_10 END, s_data
            INTO in_stock, dist_text, stock_text;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'item % has no stock in warehouse %: check that the data is complete and '
                'the number of warehouses correct', item_id, supplier;
        END IF;
        amounts[line] := pieces * price;
        texts[line] := dist_text;
        goods := goods + amounts[line];
        -- The item is of the original brand if both texts say so.
        screen[line] := concat_ws('|', item_name, in_stock,
            CASE WHEN strpos(item_text, 'ORIGINAL') > 0 AND strpos(stock_text, 'ORIGINAL') > 0
                THEN 'B' ELSE 'G' END, price, amounts[line]);
    END LOOP;

    UPDATE {place}.district SET d_next_o_id = d_next_o_id + 1
        WHERE d_w_id = wh AND d_id = dist
        RETURNING d_next_o_id - 1, d_tax INTO order_id, dist_tax;

    IF unknown THEN
        ROLLBACK;
        order_id := NULL;
        RETURN;
    END IF;

    INSERT INTO {place}.orders
            (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
        VALUES (order_id, dist, wh, cust, entered, cardinality(locks), all_local::integer);
    INSERT INTO {place}.new_order (no_o_id, no_d_id, no_w_id) VALUES (order_id, dist, wh);
    FOR number IN 1 .. cardinality(locks) LOOP
        INSERT INTO {place}.order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id,
                ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info)
            VALUES (order_id, dist, wh, number, lines[3 * number - 2], lines[3 * number - 1],
                lines[3 * number], amounts[number], texts[number]);
    END LOOP;
    total := goods * (1 - discount) * (1 + wh_tax + dist_tax);
    shown := array_to_string(screen, ';');
END
$procedure$;

CREATE PROCEDURE {place}.dyno_payment(
    IN wh integer, IN dist integer, IN home_wh integer, IN home_dist integer,
    -- The customer by number or by last name; the other is null.
    IN by_number integer, IN by_name text, IN paid numeric, IN entered timestamp,
    OUT cust integer, OUT balance numeric, OUT addresses text, OUT who text, OUT story text
) LANGUAGE plpgsql AS $procedure$
DECLARE
    wh_name text;
    dist_name text;
    wh_address text;
    dist_address text;
    credit text;
BEGIN
    SELECT w_name, concat_ws(',', w_street_1, w_street_2, w_city, w_state, w_zip)
        INTO wh_name, wh_address FROM {place}.warehouse WHERE w_id = wh;
    SELECT d_name, concat_ws(',', d_street_1, d_street_2, d_city, d_state, d_zip)
        INTO dist_name, dist_address FROM {place}.district WHERE d_w_id = wh AND d_id = dist;
    cust := by_number;
    IF by_number IS NULL THEN
        -- Of n customers of the name, by first name, the one at n/2, rounded up.
        SELECT (array_agg(c_id ORDER BY c_first))[(count(*) + 1) / 2] INTO cust
            FROM {place}.customer
            WHERE c_w_id = home_wh AND c_d_id = home_dist AND c_last = by_name;
    END IF;
    SELECT c_credit, concat_ws(',', c_first, c_middle, c_last, c_street_1, c_street_2, c_city,
            c_state, c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount)
        INTO credit, who
        FROM {place}.customer WHERE c_w_id = home_wh AND c_d_id = home_dist AND c_id = cust;
    IF NOT FOUND OR wh_name IS NULL OR dist_name IS NULL THEN
        RAISE EXCEPTION 'a customer, district or warehouse is missing: check that the data is '
            'whole and the number of warehouses correct';
    END IF;
    addresses := wh_address || ';' || dist_address;

    UPDATE {place}.warehouse SET w_ytd = w_ytd + paid WHERE w_id = wh;
    UPDATE {place}.district SET d_ytd = d_ytd + paid WHERE d_w_id = wh AND d_id = dist;
    IF credit = 'BC' THEN
        UPDATE {place}.customer SET
                c_balance = c_balance - paid,
                c_ytd_payment = c_ytd_payment + paid,
                c_payment_cnt = c_payment_cnt + 1,
                c_data = left(concat(cust, ' ', home_dist, ' ', home_wh, ' ', dist, ' ', wh, ' ',
                    paid, ' | ') || c_data, 500)
            WHERE c_w_id = home_wh AND c_d_id = home_dist AND c_id = cust
            RETURNING c_balance, left(c_data, 200) INTO balance, story;
    ELSE
        UPDATE {place}.customer SET
                c_balance = c_balance - paid,
                c_ytd_payment = c_ytd_payment + paid,
                c_payment_cnt = c_payment_cnt + 1
            WHERE c_w_id = home_wh AND c_d_id = home_dist AND c_id = cust
            RETURNING c_balance INTO balance;
    END IF;
    INSERT INTO {place}.history
            (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
        VALUES (cust, home_dist, home_wh, dist, wh, entered, paid,
            wh_name || '    ' || dist_name);
END
$procedure$;

CREATE PROCEDURE {place}.dyno_order_status(
    -- The customer by number or by last name; the other is null.
    IN wh integer, IN dist integer, IN by_number integer, IN by_name text,
    OUT cust integer, OUT balance numeric, OUT who text,
    OUT order_id integer, OUT carrier integer, OUT entered timestamp, OUT shown text
) LANGUAGE plpgsql AS $procedure$
BEGIN
    cust := by_number;
    IF by_number IS NULL THEN
        SELECT (array_agg(c_id ORDER BY c_first))[(count(*) + 1) / 2] INTO cust
            FROM {place}.customer WHERE c_w_id = wh AND c_d_id = dist AND c_last = by_name;
    END IF;
    SELECT c_balance, concat_ws(',', c_first, c_middle, c_last) INTO balance, who
        FROM {place}.customer WHERE c_w_id = wh AND c_d_id = dist AND c_id = cust;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'a customer is missing: check that the data is complete and the number of '
            'warehouses correct';
    END IF;
    SELECT o_id, o_carrier_id, o_entry_d INTO order_id, carrier, entered
        FROM {place}.orders WHERE o_w_id = wh AND o_d_id = dist AND o_c_id = cust
        ORDER BY o_id DESC LIMIT 1;
    -- Every customer has an order in freshly loaded data; elsewhere none is a valid answer.
    IF FOUND THEN
        SELECT string_agg(concat_ws('|', ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
                ol_delivery_d), ';') INTO shown
            FROM {place}.order_line WHERE ol_w_id = wh AND ol_d_id = dist AND ol_o_id = order_id;
    END IF;
END
$procedure$;

CREATE PROCEDURE {place}.dyno_delivery(
    IN wh integer, IN by_carrier integer, IN entered timestamp, OUT delivered integer
) LANGUAGE plpgsql AS $procedure$
DECLARE
    order_id integer;
    cust integer;
    charge numeric;
BEGIN
    delivered := 0;
    FOR dist IN 1 .. 10 LOOP
        DELETE FROM {place}.new_order
            WHERE no_w_id = wh AND no_d_id = dist AND no_o_id = (
                SELECT no_o_id FROM {place}.new_order WHERE no_w_id = wh AND no_d_id = dist
                ORDER BY no_o_id LIMIT 1 FOR UPDATE)
            RETURNING no_o_id INTO order_id;
        -- A district where everything is delivered is skipped.
        CONTINUE WHEN NOT FOUND;
        UPDATE {place}.orders SET o_carrier_id = by_carrier
            WHERE o_w_id = wh AND o_d_id = dist AND o_id = order_id
            RETURNING o_c_id INTO cust;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'order % of district %, warehouse % awaits delivery but has no row in '
                'orders: the data is not whole', order_id, dist, wh;
        END IF;
        WITH charged AS (
            UPDATE {place}.order_line SET ol_delivery_d = entered
                WHERE ol_w_id = wh AND ol_d_id = dist AND ol_o_id = order_id
                RETURNING ol_amount)
            SELECT coalesce(sum(ol_amount), 0) INTO charge FROM charged;
        UPDATE {place}.customer
            SET c_balance = c_balance + charge, c_delivery_cnt = c_delivery_cnt + 1
            WHERE c_w_id = wh AND c_d_id = dist AND c_id = cust;
        delivered := delivered + 1;
    END LOOP;
END
$procedure$;

CREATE PROCEDURE {place}.dyno_stock_level(
    IN wh integer, IN dist integer, IN threshold integer, OUT low integer
) LANGUAGE plpgsql AS $procedure$
DECLARE
    next_id integer;
BEGIN
    SELECT d_next_o_id INTO next_id FROM {place}.district WHERE d_w_id = wh AND d_id = dist;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'warehouse % is missing: check that the data is complete and the number of '
            'warehouses correct', wh;
    END IF;
    SELECT count(DISTINCT s_i_id) INTO low
        FROM {place}.order_line, {place}.stock
        WHERE ol_w_id = wh AND ol_d_id = dist AND ol_o_id >= next_id - 20 AND ol_o_id < next_id
            AND s_w_id = wh AND s_i_id = ol_i_id AND s_quantity < threshold;
END
$procedure$;
