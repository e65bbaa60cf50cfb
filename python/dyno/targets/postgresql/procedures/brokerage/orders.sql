-- Trade-Order and Trade-Cleanup.

CREATE PROCEDURE {place}.dyno_trade_order(
    -- Who else orders, by place, or null; the company and issue that name the security instead of
    -- its symbol, or null.
    IN account bigint, IN other integer, IN kind text, IN given_symbol text, IN comp text,
    IN issue text,
    OUT cust bigint, OUT broker_id bigint, OUT tier integer, OUT tax_status integer,
    OUT executor text, OUT assets numeric, OUT symbol text, OUT open_price numeric
) LANGUAGE plpgsql AS $procedure$
DECLARE
    others text[];
    worth numeric;
    owner_tax text;
BEGIN
    SELECT ca_b_id, ca_c_id, ca_tax_st, ca_bal, c_tier, concat(c_f_name, ' ', c_l_name), c_tax_id
        INTO broker_id, cust, tax_status, assets, tier, executor, owner_tax
        FROM {place}.customer_account
        JOIN {place}.broker ON b_id = ca_b_id
        JOIN {place}.customer ON c_id = ca_c_id
        WHERE ca_id = account;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'account % is missing: check that the data is complete', account;
    END IF;
    SELECT array_agg(concat(ap_f_name, ' ', ap_l_name) ORDER BY ap_tax_id) INTO others
        FROM {place}.account_permission WHERE ap_ca_id = account AND ap_tax_id <> owner_tax;
    IF other IS NOT NULL AND cardinality(others) > 0 THEN
        executor := others[1 + other % cardinality(others)];
    END IF;
    SELECT coalesce(sum(hs_qty * lt_price), 0) INTO worth
        FROM {place}.holding_summary JOIN {place}.last_trade ON lt_s_symb = hs_s_symb
        WHERE hs_ca_id = account;
    assets := assets + worth;
    PERFORM tt_is_mrkt, tt_is_sell FROM {place}.trade_type WHERE tt_id = kind;

    symbol := given_symbol;
    IF comp IS NOT NULL THEN
        SELECT s_symb INTO symbol
            FROM {place}.company
            JOIN {place}.security ON s_co_id = co_id
            JOIN {place}.last_trade ON lt_s_symb = s_symb
            WHERE co_name = comp AND s_issue = issue;
    END IF;
    SELECT lt_open_price INTO open_price
        FROM {place}.security
        JOIN {place}.company ON co_id = s_co_id
        JOIN {place}.last_trade ON lt_s_symb = s_symb
        WHERE s_symb = symbol;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'security % is missing: check that the data is complete', symbol;
    END IF;
END
$procedure$;

-- The second call of a Trade-Order, with the price that the exchange has named.
CREATE PROCEDURE {place}.dyno_trade_order_entry(
    IN number bigint, IN account bigint, IN cust bigint, IN broker_id bigint, IN tier integer,
    IN kind text, IN symbol text, IN shares integer, IN bid numeric, IN lifo integer,
    IN cash integer, IN executor text,
    -- Whether the caller rolls back: it has begun the transaction.
    IN withdrawn integer, IN entered timestamp,
    OUT charged numeric, OUT commission numeric, OUT tax numeric
) LANGUAGE plpgsql AS $procedure$
DECLARE
    at_market boolean := kind IN ('TMB', 'TMS');
    status text := CASE WHEN kind IN ('TMB', 'TMS') THEN 'SBMT' ELSE 'PNDG' END;
    sells boolean := kind IN ('TMS', 'TLS', 'TSL');
    sign integer := CASE WHEN sells THEN -1 ELSE 1 END;
    open_shares integer := shares;
    lot record;
    closed integer;
    gain numeric := 0;
    rate numeric;
    tax_rate numeric;
BEGIN
    SELECT ch_chrg INTO charged FROM {place}.charge WHERE ch_tt_id = kind AND ch_c_tier = tier;
    SELECT cr_rate INTO rate
        FROM {place}.commission_rate JOIN {place}.security ON s_ex_id = cr_ex_id
        WHERE s_symb = symbol AND cr_c_tier = tier AND cr_tt_id = kind AND cr_from_qty <= shares
            AND cr_to_qty >= shares;
    IF charged IS NULL OR rate IS NULL THEN
        RAISE EXCEPTION 'charge or commission of a trade % is missing: check that the data is '
            'complete', kind;
    END IF;
    SELECT coalesce(sum(tx_rate), 0) INTO tax_rate
        FROM {place}.customer_taxrate JOIN {place}.taxrate ON tx_id = cx_tx_id
        WHERE cx_c_id = cust;
    -- The tax that the customer has to expect.
    FOR lot IN
        SELECT h_qty, h_price FROM {place}.holding
        WHERE h_ca_id = account AND h_s_symb = symbol
        ORDER BY CASE WHEN lifo = 1 THEN h_dts END DESC, CASE WHEN lifo = 1 THEN h_t_id END DESC,
            h_dts, h_t_id
    LOOP
        EXIT WHEN open_shares = 0;
        CONTINUE WHEN (lot.h_qty > 0) <> sells;
        closed := least(open_shares, abs(lot.h_qty));
        open_shares := open_shares - closed;
        gain := gain - sign * closed * (bid - lot.h_price);
    END LOOP;
    tax := trunc(greatest(gain, 0) * tax_rate, 2);
    commission := round(shares * bid * rate / 100, 2);

    INSERT INTO {place}.trade (t_id, t_dts, t_st_id, t_tt_id, t_is_cash, t_s_symb, t_qty,
            t_bid_price, t_ca_id, t_exec_name, t_trade_price, t_chrg, t_comm, t_tax, t_lifo)
        VALUES (number, entered, status, kind, cash, symbol, shares, bid, account, executor, NULL,
            charged, commission, 0, lifo);
    IF NOT at_market THEN
        INSERT INTO {place}.trade_request (tr_t_id, tr_tt_id, tr_s_symb, tr_qty, tr_bid_price,
                tr_b_id)
            VALUES (number, kind, symbol, shares, bid, broker_id);
    END IF;
    INSERT INTO {place}.trade_history (th_t_id, th_dts, th_st_id)
        VALUES (number, entered, status);
END
$procedure$;

-- Before the first transaction: what earlier runs left unfinished is cancelled, never before its last
-- step: the clock may have gone back.
CREATE PROCEDURE {place}.dyno_trade_cleanup(
    IN last_loaded bigint, IN entered timestamp, OUT next_number bigint
) LANGUAGE plpgsql AS $procedure$
BEGIN
    INSERT INTO {place}.trade_history (th_t_id, th_dts, th_st_id)
        SELECT t_id, greatest(t_dts, entered), 'SBMT'
        FROM {place}.trade WHERE t_id IN (SELECT tr_t_id FROM {place}.trade_request);
    INSERT INTO {place}.trade_history (th_t_id, th_dts, th_st_id)
        SELECT t_id, greatest(t_dts, entered), 'CNCL'
        FROM {place}.trade WHERE t_id IN (SELECT tr_t_id FROM {place}.trade_request);
    UPDATE {place}.trade SET t_st_id = 'CNCL', t_dts = greatest(t_dts, entered)
        WHERE t_id IN (SELECT tr_t_id FROM {place}.trade_request);
    INSERT INTO {place}.trade_history (th_t_id, th_dts, th_st_id)
        SELECT t_id, greatest(t_dts, entered), 'CNCL'
        FROM {place}.trade
        WHERE t_id > last_loaded AND t_st_id IN ('SBMT', 'PNDG');
    UPDATE {place}.trade SET t_st_id = 'CNCL', t_dts = greatest(t_dts, entered)
        WHERE t_id > last_loaded AND t_st_id IN ('SBMT', 'PNDG');
    DELETE FROM {place}.trade_request;
    SELECT coalesce(max(t_id), 0) + 1 INTO next_number FROM {place}.trade;
END
$procedure$;
