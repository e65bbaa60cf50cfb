-- Trade-Lookup and Trade-Update: trades of the past.

-- Finds trades of the past: 1 by number, 2 of an account, 3 of a security; what is shown of each.
CREATE PROCEDURE {place}.dyno_past_trades(
    IN how integer, IN listed text, IN account bigint, IN symbol text, IN since timestamp,
    OUT numbers bigint[], OUT lines text[]
) LANGUAGE plpgsql AS $procedure$
DECLARE
    number bigint;
    line text;
BEGIN
    numbers := ARRAY[]::bigint[];
    IF how = 1 THEN
        FOREACH number IN ARRAY string_to_array(listed, ',')::bigint[] LOOP
            SELECT concat_ws('|', t_id, t_bid_price, t_exec_name, t_is_cash, tt_is_mrkt,
                    t_trade_price)
                INTO line
                FROM {place}.trade JOIN {place}.trade_type ON tt_id = t_tt_id
                WHERE t_id = number;
            IF FOUND THEN
                numbers := numbers || number;
                lines := lines || line;
            END IF;
        END LOOP;
    ELSIF how = 2 THEN
        FOR number, line IN
            SELECT t_id, concat_ws('|', t_id, t_bid_price, t_exec_name, t_is_cash, t_trade_price)
            FROM {place}.trade WHERE t_ca_id = account AND t_dts >= since
            ORDER BY t_dts LIMIT 20
        LOOP
            numbers := numbers || number;
            lines := lines || line;
        END LOOP;
    ELSE
        FOR number, line IN
            SELECT t_id, concat_ws('|', t_id, t_ca_id, t_exec_name, t_is_cash, t_trade_price,
                t_qty, t_dts, t_tt_id, tt_name, s_name)
            FROM {place}.trade
            JOIN {place}.trade_type ON tt_id = t_tt_id
            JOIN {place}.security ON s_symb = t_s_symb
            WHERE t_s_symb = symbol AND t_dts >= since ORDER BY t_dts LIMIT 20
        LOOP
            numbers := numbers || number;
            lines := lines || line;
        END LOOP;
    END IF;
END
$procedure$;

-- The settlement, payment and history of trades.
CREATE PROCEDURE {place}.dyno_trade_details(
    IN numbers bigint[], IN lines text[], OUT shown text
) LANGUAGE plpgsql AS $procedure$
DECLARE
    number bigint;
    settled text;
    paid text;
    story text;
BEGIN
    shown := array_to_string(lines, ';');
    FOREACH number IN ARRAY numbers LOOP
        SELECT concat_ws('|', se_amt, se_cash_due_date, se_cash_type) INTO settled
            FROM {place}.settlement WHERE se_t_id = number;
        SELECT concat_ws('|', ct_amt, ct_dts, ct_name) INTO paid
            FROM {place}.cash_transaction WHERE ct_t_id = number;
        SELECT string_agg(concat_ws('|', th_dts, th_st_id), '|' ORDER BY th_dts) INTO story
            FROM (
                SELECT th_dts, th_st_id FROM {place}.trade_history WHERE th_t_id = number
                ORDER BY th_dts LIMIT 3
            ) AS picked;
        shown := concat_ws(';', shown, settled, paid, story);
    END LOOP;
END
$procedure$;

CREATE PROCEDURE {place}.dyno_trade_lookup(
    -- 1 by number, 2 of an account, 3 of a security, 4 the holdings of an account's first trade.
    IN how integer, IN listed text, IN account bigint, IN symbol text, IN since timestamp,
    OUT trades integer, OUT shown text
) LANGUAGE plpgsql AS $procedure$
DECLARE
    number bigint;
    numbers bigint[];
    lines text[];
BEGIN
    IF how = 4 THEN
        SELECT t_id INTO number FROM {place}.trade WHERE t_ca_id = account AND t_dts >= since
            ORDER BY t_dts LIMIT 1;
        trades := 0;
        IF FOUND THEN
            SELECT count(*), string_agg(concat_ws('|', hh_h_t_id, hh_t_id, hh_before_qty,
                    hh_after_qty), ';')
                INTO trades, shown
                FROM (
                    SELECT hh_h_t_id, hh_t_id, hh_before_qty, hh_after_qty
                    FROM {place}.holding_history WHERE hh_h_t_id IN (
                        SELECT hh_h_t_id FROM {place}.holding_history WHERE hh_t_id = number)
                    LIMIT 20
                ) AS picked;
        END IF;
        RETURN;
    END IF;
    CALL {place}.dyno_past_trades(how, listed, account, symbol, since, numbers, lines);
    CALL {place}.dyno_trade_details(numbers, lines, shown);
    trades := cardinality(numbers);
END
$procedure$;

CREATE PROCEDURE {place}.dyno_trade_update(
    -- 1 by number, 2 of an account, 3 of a security.
    IN how integer, IN listed text, IN account bigint, IN symbol text, IN since timestamp,
    OUT trades integer, OUT shown text
) LANGUAGE plpgsql AS $procedure$
DECLARE
    number bigint;
    numbers bigint[];
    lines text[];
    word text;
BEGIN
    CALL {place}.dyno_past_trades(how, listed, account, symbol, since, numbers, lines);
    -- Two updates must not take the locks of two trades in different orders.
    SELECT coalesce(array_agg(each ORDER BY each), ARRAY[]::bigint[]) INTO numbers
        FROM unnest(numbers) AS each;
    -- Each change is undone by the next.
    FOREACH number IN ARRAY numbers LOOP
        IF how = 1 THEN
            UPDATE {place}.trade SET t_exec_name = CASE WHEN strpos(t_exec_name, ' X ') > 0
                    THEN regexp_replace(t_exec_name, ' X ', ' ')
                    ELSE regexp_replace(t_exec_name, ' ', ' X ') END
                WHERE t_id = number;
        ELSIF how = 2 THEN
            SELECT se_cash_type INTO word FROM {place}.settlement WHERE se_t_id = number;
            UPDATE {place}.settlement SET se_cash_type = CASE WHEN right(word, 8) = ' Account'
                    THEN left(word, -8) ELSE word || ' Account' END
                WHERE se_t_id = number;
        ELSE
            SELECT ct_name INTO word FROM {place}.cash_transaction WHERE ct_t_id = number;
            -- A trade on margin has no payment.
            IF FOUND THEN
                UPDATE {place}.cash_transaction
                    SET ct_name = CASE WHEN strpos(word, ' shares of ') > 0
                        THEN regexp_replace(word, ' shares of ', ' Shares of ')
                        ELSE regexp_replace(word, ' Shares of ', ' shares of ') END
                    WHERE ct_t_id = number;
            END IF;
        END IF;
    END LOOP;
    CALL {place}.dyno_trade_details(numbers, lines, shown);
    trades := cardinality(numbers);
END
$procedure$;
