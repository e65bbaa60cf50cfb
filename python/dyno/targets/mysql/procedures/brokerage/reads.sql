-- Transactions that only read.

CREATE PROCEDURE {place}.dyno_broker_volume(
    wanted_sector VARCHAR(30) {text},
    broker_1 VARCHAR(49) {text}, broker_2 VARCHAR(49) {text}, broker_3 VARCHAR(49) {text},
    broker_4 VARCHAR(49) {text}, broker_5 VARCHAR(49) {text}, broker_6 VARCHAR(49) {text},
    broker_7 VARCHAR(49) {text}, broker_8 VARCHAR(49) {text}, broker_9 VARCHAR(49) {text},
    broker_10 VARCHAR(49) {text}, broker_11 VARCHAR(49) {text}, broker_12 VARCHAR(49) {text},
    broker_13 VARCHAR(49) {text}, broker_14 VARCHAR(49) {text}, broker_15 VARCHAR(49) {text},
    broker_16 VARCHAR(49) {text}, broker_17 VARCHAR(49) {text}, broker_18 VARCHAR(49) {text},
    broker_19 VARCHAR(49) {text}, broker_20 VARCHAR(49) {text}, broker_21 VARCHAR(49) {text},
    broker_22 VARCHAR(49) {text}, broker_23 VARCHAR(49) {text}, broker_24 VARCHAR(49) {text},
    broker_25 VARCHAR(49) {text}, broker_26 VARCHAR(49) {text}, broker_27 VARCHAR(49) {text},
    broker_28 VARCHAR(49) {text}, broker_29 VARCHAR(49) {text}, broker_30 VARCHAR(49) {text}
) READS SQL DATA SQL SECURITY INVOKER COMMENT {mark}
BEGIN
    DECLARE brokers INT;
    DECLARE shown TEXT {text};
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;

    START TRANSACTION;
    SELECT COUNT(*),
            GROUP_CONCAT(CONCAT_WS('|', called, volume) ORDER BY volume DESC SEPARATOR ';')
        INTO brokers, shown
        FROM (
            SELECT b_name AS called, SUM(tr_qty * tr_bid_price) AS volume
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
        ) AS picked;
    COMMIT;
    SELECT brokers, shown;
END;

CREATE PROCEDURE {place}.dyno_customer_position(
    -- The tax number if the customer is found by it; the account whose history is shown.
    cust BIGINT, by_tax VARCHAR(20) {text}, with_history INT
) READS SQL DATA SQL SECURITY INVOKER COMMENT {mark}
BEGIN
    DECLARE found BOOLEAN DEFAULT TRUE;
    DECLARE accounts INT;
    DECLARE own, account BIGINT;
    DECLARE who VARCHAR(500) {text};
    DECLARE ids VARCHAR(200) {text};
    DECLARE assets, history TEXT {text};
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET found = FALSE;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;

    START TRANSACTION;
    SET own = cust;
    IF by_tax IS NOT NULL THEN
        SELECT c_id INTO own FROM {place}.customer WHERE c_tax_id = by_tax LIMIT 1;
    END IF;
    SELECT CONCAT_WS('|', c_st_id, c_l_name, c_f_name, c_m_name, c_gndr, c_tier, c_dob, c_ad_id,
            c_ctry_1, c_area_1, c_local_1, c_ext_1, c_ctry_2, c_area_2, c_local_2, c_ext_2,
            c_ctry_3, c_area_3, c_local_3, c_ext_3, c_email_1, c_email_2, c_tax_id)
        INTO who FROM {place}.customer WHERE c_id = own;
    IF NOT found THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT =
            'a customer is missing: check that the data is complete';
    END IF;
    SELECT COUNT(*), GROUP_CONCAT(id ORDER BY worth, id),
            GROUP_CONCAT(CONCAT_WS('|', id, balance, worth) ORDER BY worth, id SEPARATOR ';')
        INTO accounts, ids, assets
        FROM (
            SELECT ca_id AS id, ca_bal AS balance, COALESCE(SUM(hs_qty * lt_price), 0) AS worth
            FROM {place}.customer_account
            LEFT JOIN {place}.holding_summary ON hs_ca_id = ca_id
            LEFT JOIN {place}.last_trade ON lt_s_symb = hs_s_symb
            WHERE ca_c_id = own GROUP BY ca_id, ca_bal ORDER BY 3 LIMIT 10
        ) AS picked;
    IF with_history IS NOT NULL AND accounts > 0 THEN
        SET account =
            SUBSTRING_INDEX(SUBSTRING_INDEX(ids, ',', 1 + with_history % accounts), ',', -1);
        SELECT GROUP_CONCAT(CONCAT_WS('|', t_id, t_s_symb, t_qty, st_name, th_dts)
                ORDER BY th_dts DESC SEPARATOR ';')
            INTO history
            FROM (
                SELECT t_id, t_s_symb, t_qty, st_name, th_dts
                FROM (
                    SELECT t_id AS id FROM {place}.trade WHERE t_ca_id = account
                    ORDER BY t_dts DESC LIMIT 10
                ) AS latest
                JOIN {place}.trade ON t_id = id
                JOIN {place}.trade_history ON th_t_id = t_id
                JOIN {place}.status_type ON st_id = th_st_id
                ORDER BY th_dts DESC LIMIT 30
            ) AS picked;
    END IF;
    COMMIT;
    SELECT accounts, who, assets, history;
END;

CREATE PROCEDURE {place}.dyno_market_watch(
    -- Of a customer's list, of an account, or of an industry's companies; the others are null.
    cust BIGINT, account BIGINT, wanted_industry VARCHAR(50) {text}, first_comp BIGINT,
    last_comp BIGINT, traded DATE
) READS SQL DATA SQL SECURITY INVOKER COMMENT {mark}
BEGIN
    DECLARE value_then, value_now DECIMAL(30, 2);
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;

    START TRANSACTION;
    IF cust IS NOT NULL THEN
        SELECT COALESCE(SUM(s_num_out * dm_close), 0), COALESCE(SUM(s_num_out * lt_price), 0)
            INTO value_then, value_now
            FROM {place}.watch_list
            JOIN {place}.watch_item ON wi_wl_id = wl_id
            JOIN {place}.security ON s_symb = wi_s_symb
            JOIN {place}.last_trade ON lt_s_symb = s_symb
            JOIN {place}.daily_market ON dm_s_symb = s_symb AND dm_date = traded
            WHERE wl_c_id = cust;
    ELSEIF account IS NOT NULL THEN
        SELECT COALESCE(SUM(s_num_out * dm_close), 0), COALESCE(SUM(s_num_out * lt_price), 0)
            INTO value_then, value_now
            FROM {place}.holding_summary
            JOIN {place}.security ON s_symb = hs_s_symb
            JOIN {place}.last_trade ON lt_s_symb = s_symb
            JOIN {place}.daily_market ON dm_s_symb = s_symb AND dm_date = traded
            WHERE hs_ca_id = account;
    ELSE
        SELECT COALESCE(SUM(s_num_out * dm_close), 0), COALESCE(SUM(s_num_out * lt_price), 0)
            INTO value_then, value_now
            FROM {place}.industry
            JOIN {place}.company ON co_in_id = in_id
            JOIN {place}.security ON s_co_id = co_id
            JOIN {place}.last_trade ON lt_s_symb = s_symb
            JOIN {place}.daily_market ON dm_s_symb = s_symb AND dm_date = traded
            WHERE in_name = wanted_industry AND co_id >= first_comp AND co_id <= last_comp;
    END IF;
    COMMIT;
    SELECT value_then, value_now;
END;

CREATE PROCEDURE {place}.dyno_security_detail(
    symbol VARCHAR(15) {text}, since DATE, with_text INT
) READS SQL DATA SQL SECURITY INVOKER COMMENT {mark}
BEGIN
    DECLARE days INT;
    DECLARE detail VARCHAR(3000) {text};
    DECLARE competitors VARCHAR(400) {text};
    DECLARE last_price VARCHAR(60) {text};
    DECLARE quarters, prices TEXT {text};
    DECLARE news MEDIUMTEXT {text};
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;

    START TRANSACTION;
    SELECT CONCAT_WS('|', s_name, s_num_out, s_start_date, s_exch_date, s_pe, s_52wk_high,
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
    SELECT GROUP_CONCAT(CONCAT_WS('|', co_name, in_name) SEPARATOR ';') INTO competitors
        FROM (
            SELECT co_name, in_name FROM {place}.security
            JOIN {place}.company_competitor ON cp_co_id = s_co_id
            JOIN {place}.company ON co_id = cp_comp_co_id
            JOIN {place}.industry ON in_id = cp_in_id
            WHERE s_symb = symbol LIMIT 3
        ) AS picked;
    SELECT GROUP_CONCAT(line ORDER BY fi_year, fi_qtr SEPARATOR ';') INTO quarters
        FROM (
            SELECT fi_year, fi_qtr, CONCAT_WS('|', fi_year, fi_qtr, fi_revenue, fi_net_earn,
                fi_basic_eps, fi_dilut_eps, fi_margin, fi_inventory, fi_assets, fi_liability,
                fi_out_basic, fi_out_dilut) AS line
            FROM {place}.security JOIN {place}.financial ON fi_co_id = s_co_id
            WHERE s_symb = symbol ORDER BY fi_year, fi_qtr LIMIT 20
        ) AS picked;
    SELECT COUNT(*), GROUP_CONCAT(CONCAT_WS('|', dm_date, dm_close, dm_high, dm_low, dm_vol)
            ORDER BY dm_date SEPARATOR ';')
        INTO days, prices
        FROM (
            SELECT dm_date, dm_close, dm_high, dm_low, dm_vol FROM {place}.daily_market
            WHERE dm_s_symb = symbol AND dm_date >= since ORDER BY dm_date LIMIT 20
        ) AS picked;
    SELECT CONCAT_WS('|', lt_price, lt_open_price, lt_vol) INTO last_price
        FROM {place}.last_trade WHERE lt_s_symb = symbol;
    IF with_text = 1 THEN
        SELECT GROUP_CONCAT(CONCAT_WS('|', ni_item, ni_dts, ni_source, ni_author) SEPARATOR ';')
            INTO news
            FROM (
                SELECT ni_item, ni_dts, ni_source, ni_author FROM {place}.security
                JOIN {place}.news_xref ON nx_co_id = s_co_id
                JOIN {place}.news_item ON ni_id = nx_ni_id
                WHERE s_symb = symbol LIMIT 2
            ) AS picked;
    ELSE
        SELECT GROUP_CONCAT(CONCAT_WS('|', ni_headline, ni_summary, ni_dts, ni_source, ni_author)
                SEPARATOR ';')
            INTO news
            FROM (
                SELECT ni_headline, ni_summary, ni_dts, ni_source, ni_author
                FROM {place}.security
                JOIN {place}.news_xref ON nx_co_id = s_co_id
                JOIN {place}.news_item ON ni_id = nx_ni_id
                WHERE s_symb = symbol LIMIT 2
            ) AS picked;
    END IF;
    COMMIT;
    SELECT days, detail, competitors, quarters, prices, last_price, news;
END;

CREATE PROCEDURE {place}.dyno_trade_status(account BIGINT)
    READS SQL DATA SQL SECURITY INVOKER COMMENT {mark}
BEGIN
    DECLARE trades INT;
    DECLARE who VARCHAR(120) {text};
    DECLARE shown TEXT {text};
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;

    START TRANSACTION;
    SELECT COUNT(*), GROUP_CONCAT(line ORDER BY t_dts DESC SEPARATOR ';') INTO trades, shown
        FROM (
            SELECT t_dts, CONCAT_WS('|', t_id, t_dts, st_name, tt_name, t_s_symb, t_qty,
                t_exec_name, t_chrg, s_name, ex_name) AS line
            FROM {place}.trade
            JOIN {place}.status_type ON st_id = t_st_id
            JOIN {place}.trade_type ON tt_id = t_tt_id
            JOIN {place}.security ON s_symb = t_s_symb
            JOIN {place}.exchange ON ex_id = s_ex_id
            WHERE t_ca_id = account ORDER BY t_dts DESC LIMIT 50
        ) AS picked;
    SELECT CONCAT_WS('|', c_l_name, c_f_name, b_name) INTO who
        FROM {place}.customer_account
        JOIN {place}.customer ON c_id = ca_c_id
        JOIN {place}.broker ON b_id = ca_b_id
        WHERE ca_id = account;
    COMMIT;
    SELECT trades, who, shown;
END;
