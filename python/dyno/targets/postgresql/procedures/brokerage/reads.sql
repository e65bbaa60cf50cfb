-- Transactions that only read.

CREATE PROCEDURE {place}.dyno_broker_volume(
    IN wanted_sector text,
    IN broker_1 text, IN broker_2 text, IN broker_3 text, IN broker_4 text, IN broker_5 text, IN
    broker_6 text, IN broker_7 text, IN broker_8 text, IN broker_9 text, IN broker_10 text, IN
    broker_11 text, IN broker_12 text, IN broker_13 text, IN broker_14 text, IN broker_15 text,
    IN broker_16 text, IN broker_17 text, IN broker_18 text, IN broker_19 text, IN broker_20
    text, IN broker_21 text, IN broker_22 text, IN broker_23 text, IN broker_24 text, IN
    broker_25 text, IN broker_26 text, IN broker_27 text, IN broker_28 text, IN broker_29 text,
    IN broker_30 text,
    OUT brokers integer, OUT shown text
) LANGUAGE plpgsql AS $procedure$
BEGIN
    SELECT count(*), string_agg(concat_ws('|', called, volume), ';' ORDER BY volume DESC)
        INTO brokers, shown
        FROM (
            SELECT b_name AS called, sum(tr_qty * tr_bid_price) AS volume
            FROM {place}.trade_request
            JOIN {place}.broker ON b_id = tr_b_id
            JOIN {place}.security ON s_symb = tr_s_symb
            JOIN {place}.company ON co_id = s_co_id
            JOIN {place}.industry ON in_id = co_in_id
            JOIN {place}.sector ON sc_id = in_sc_id
            WHERE sc_name = wanted_sector AND b_name IN (
                broker_1, broker_2, broker_3, broker_4, broker_5, broker_6,
                broker_7, broker_8, broker_9, broker_10, broker_11, broker_12,
                broker_13, broker_14, broker_15, broker_16, broker_17,
                broker_18, broker_19, broker_20, broker_21, broker_22,
                broker_23, broker_24, broker_25, broker_26, broker_27,
                broker_28, broker_29, broker_30)
            GROUP BY b_name
        ) AS volumes;
END
$procedure$;

CREATE PROCEDURE {place}.dyno_customer_position(
    -- The tax number if the customer is found by it; the account whose history is shown.
    IN cust bigint, IN by_tax text, IN with_history integer,
    OUT accounts integer, OUT who text, OUT assets text, OUT history text
) LANGUAGE plpgsql AS $procedure$
DECLARE
    own bigint := cust;
    ids bigint[];
BEGIN
    IF by_tax IS NOT NULL THEN
        SELECT c_id INTO own FROM {place}.customer WHERE c_tax_id = by_tax;
    END IF;
    SELECT concat_ws('|', c_st_id, c_l_name, c_f_name, c_m_name, c_gndr, c_tier, c_dob, c_ad_id,
            c_ctry_1, c_area_1, c_local_1, c_ext_1, c_ctry_2, c_area_2, c_local_2, c_ext_2,
            c_ctry_3, c_area_3, c_local_3, c_ext_3, c_email_1, c_email_2, c_tax_id)
        INTO who FROM {place}.customer WHERE c_id = own;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'customer % is missing: check that the data is complete', cust;
    END IF;
    SELECT count(*), array_agg(id ORDER BY worth, id),
            string_agg(concat_ws('|', id, balance, worth), ';' ORDER BY worth, id)
        INTO accounts, ids, assets
        FROM (
            SELECT ca_id AS id, ca_bal AS balance, coalesce(sum(hs_qty * lt_price), 0) AS worth
            FROM {place}.customer_account
            LEFT JOIN {place}.holding_summary ON hs_ca_id = ca_id
            LEFT JOIN {place}.last_trade ON lt_s_symb = hs_s_symb
            WHERE ca_c_id = own GROUP BY ca_id, ca_bal ORDER BY 3 LIMIT 10
        ) AS picked;
    IF with_history IS NOT NULL AND accounts > 0 THEN
        SELECT string_agg(concat_ws('|', t_id, t_s_symb, t_qty, st_name, th_dts), ';'
                ORDER BY th_dts DESC)
            INTO history
            FROM (
                SELECT t_id, t_s_symb, t_qty, st_name, th_dts
                FROM (
                    SELECT t_id AS id FROM {place}.trade
                    WHERE t_ca_id = ids[1 + with_history % accounts]
                    ORDER BY t_dts DESC LIMIT 10
                ) AS latest
                JOIN {place}.trade ON t_id = id
                JOIN {place}.trade_history ON th_t_id = t_id
                JOIN {place}.status_type ON st_id = th_st_id
                ORDER BY th_dts DESC LIMIT 30
            ) AS picked;
    END IF;
END
$procedure$;

CREATE PROCEDURE {place}.dyno_market_watch(
    -- Of a customer's list, of an account, or of an industry's companies; the others are null.
    IN cust bigint, IN account bigint, IN wanted_industry text, IN first_comp bigint,
    IN last_comp bigint, IN traded date, OUT value_then numeric, OUT value_now numeric
) LANGUAGE plpgsql AS $procedure$
BEGIN
    IF cust IS NOT NULL THEN
        SELECT coalesce(sum(s_num_out * dm_close), 0), coalesce(sum(s_num_out * lt_price), 0)
            INTO value_then, value_now
            FROM {place}.watch_list
            JOIN {place}.watch_item ON wi_wl_id = wl_id
            JOIN {place}.security ON s_symb = wi_s_symb
            JOIN {place}.last_trade ON lt_s_symb = s_symb
            JOIN {place}.daily_market ON dm_s_symb = s_symb AND dm_date = traded
            WHERE wl_c_id = cust;
    ELSIF account IS NOT NULL THEN
        SELECT coalesce(sum(s_num_out * dm_close), 0), coalesce(sum(s_num_out * lt_price), 0)
            INTO value_then, value_now
            FROM {place}.holding_summary
            JOIN {place}.security ON s_symb = hs_s_symb
            JOIN {place}.last_trade ON lt_s_symb = s_symb
            JOIN {place}.daily_market ON dm_s_symb = s_symb AND dm_date = traded
            WHERE hs_ca_id = account;
    ELSE
        SELECT coalesce(sum(s_num_out * dm_close), 0), coalesce(sum(s_num_out * lt_price), 0)
            INTO value_then, value_now
            FROM {place}.industry
            JOIN {place}.company ON co_in_id = in_id
            JOIN {place}.security ON s_co_id = co_id
            JOIN {place}.last_trade ON lt_s_symb = s_symb
            JOIN {place}.daily_market ON dm_s_symb = s_symb AND dm_date = traded
            WHERE in_name = wanted_industry AND co_id >= first_comp AND co_id <= last_comp;
    END IF;
END
$procedure$;

CREATE PROCEDURE {place}.dyno_security_detail(
    IN symbol text, IN since date, IN with_text integer,
    OUT days integer, OUT detail text, OUT competitors text, OUT quarters text, OUT prices text,
    OUT last_price text, OUT news text
) LANGUAGE plpgsql AS $procedure$
BEGIN
    SELECT concat_ws('|', s_name, s_num_out, s_start_date, s_exch_date, s_pe, s_52wk_high,
            s_52wk_high_date, s_52wk_low, s_52wk_low_date, s_dividend, s_yield, co_id, co_name,
            co_sp_rate, co_ceo, co_desc, co_open_date, co_st_id, ca.ad_line1, ca.ad_line2,
            zca.zc_town, zca.zc_div, ca.ad_zc_code, ca.ad_ctry, ex_name, ex_num_symb, ex_open,
            ex_close, ex_desc, ea.ad_line1, ea.ad_line2, zea.zc_town, zea.zc_div, ea.ad_zc_code,
            ea.ad_ctry)
        INTO detail
        FROM {place}.security
        JOIN {place}.company ON co_id = s_co_id
        JOIN {place}.address ca ON ca.ad_id = co_ad_id
        JOIN {place}.zip_code zca ON zca.zc_code = ca.ad_zc_code
        JOIN {place}.exchange ON ex_id = s_ex_id
        JOIN {place}.address ea ON ea.ad_id = ex_ad_id
        JOIN {place}.zip_code zea ON zea.zc_code = ea.ad_zc_code
        WHERE s_symb = symbol;
    SELECT string_agg(concat_ws('|', co_name, in_name), ';') INTO competitors
        FROM (
            SELECT co_name, in_name FROM {place}.security
            JOIN {place}.company_competitor ON cp_co_id = s_co_id
            JOIN {place}.company ON co_id = cp_comp_co_id
            JOIN {place}.industry ON in_id = cp_in_id
            WHERE s_symb = symbol LIMIT 3
        ) AS picked;
    SELECT string_agg(concat_ws('|', fi_year, fi_qtr, fi_revenue, fi_net_earn, fi_basic_eps,
            fi_dilut_eps, fi_margin, fi_inventory, fi_assets, fi_liability, fi_out_basic,
            fi_out_dilut), ';' ORDER BY fi_year, fi_qtr)
        INTO quarters
        FROM (
            SELECT financial.* FROM {place}.security
            JOIN {place}.financial ON fi_co_id = s_co_id
            WHERE s_symb = symbol ORDER BY fi_year, fi_qtr LIMIT 20
        ) AS picked;
    SELECT count(*), string_agg(concat_ws('|', dm_date, dm_close, dm_high, dm_low, dm_vol), ';'
            ORDER BY dm_date)
        INTO days, prices
        FROM (
            SELECT dm_date, dm_close, dm_high, dm_low, dm_vol FROM {place}.daily_market
            WHERE dm_s_symb = symbol AND dm_date >= since ORDER BY dm_date LIMIT 20
        ) AS picked;
    SELECT concat_ws('|', lt_price, lt_open_price, lt_vol) INTO last_price
        FROM {place}.last_trade WHERE lt_s_symb = symbol;
    IF with_text = 1 THEN
        SELECT string_agg(concat_ws('|', ni_item, ni_dts, ni_source, ni_author), ';') INTO news
            FROM (
                SELECT ni_item, ni_dts, ni_source, ni_author FROM {place}.security
                JOIN {place}.news_xref ON nx_co_id = s_co_id
                JOIN {place}.news_item ON ni_id = nx_ni_id
                WHERE s_symb = symbol LIMIT 2
            ) AS picked;
    ELSE
        SELECT string_agg(concat_ws('|', ni_headline, ni_summary, ni_dts, ni_source, ni_author),
                ';')
            INTO news
            FROM (
                SELECT ni_headline, ni_summary, ni_dts, ni_source, ni_author
                FROM {place}.security
                JOIN {place}.news_xref ON nx_co_id = s_co_id
                JOIN {place}.news_item ON ni_id = nx_ni_id
                WHERE s_symb = symbol LIMIT 2
            ) AS picked;
    END IF;
END
$procedure$;

CREATE PROCEDURE {place}.dyno_trade_status(
    IN account bigint, OUT trades integer, OUT who text, OUT shown text
) LANGUAGE plpgsql AS $procedure$
BEGIN
    SELECT count(*), string_agg(concat_ws('|', t_id, t_dts, st_name, tt_name, t_s_symb, t_qty,
            t_exec_name, t_chrg, s_name, ex_name), ';' ORDER BY t_dts DESC)
        INTO trades, shown
        FROM (
            SELECT t_id, t_dts, st_name, tt_name, t_s_symb, t_qty, t_exec_name, t_chrg, s_name,
                ex_name
            FROM {place}.trade
            JOIN {place}.status_type ON st_id = t_st_id
            JOIN {place}.trade_type ON tt_id = t_tt_id
            JOIN {place}.security ON s_symb = t_s_symb
            JOIN {place}.exchange ON ex_id = s_ex_id
            WHERE t_ca_id = account ORDER BY t_dts DESC LIMIT 50
        ) AS picked;
    SELECT concat_ws('|', c_l_name, c_f_name, b_name) INTO who
        FROM {place}.customer_account
        JOIN {place}.customer ON c_id = ca_c_id
        JOIN {place}.broker ON b_id = ca_b_id
        WHERE ca_id = account;
END
$procedure$;
