-- Transactions that only read.

CREATE PROCEDURE {place}.dyno_broker_volume
    @wanted_sector varchar(30),
    @broker_1 varchar(49), @broker_2 varchar(49), @broker_3 varchar(49), @broker_4 varchar(49),
    @broker_5 varchar(49), @broker_6 varchar(49), @broker_7 varchar(49), @broker_8 varchar(49),
    @broker_9 varchar(49), @broker_10 varchar(49), @broker_11 varchar(49), @broker_12 varchar(49),
    @broker_13 varchar(49), @broker_14 varchar(49), @broker_15 varchar(49), @broker_16 varchar(49),
    @broker_17 varchar(49), @broker_18 varchar(49), @broker_19 varchar(49), @broker_20 varchar(49),
    @broker_21 varchar(49), @broker_22 varchar(49), @broker_23 varchar(49), @broker_24 varchar(49),
    @broker_25 varchar(49), @broker_26 varchar(49), @broker_27 varchar(49), @broker_28 varchar(49),
    @broker_29 varchar(49), @broker_30 varchar(49)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @brokers int, @shown varchar(8000);

    BEGIN TRANSACTION;
    SELECT @brokers = COUNT(*),
            @shown = STRING_AGG(CONCAT_WS('|', called, volume), ';')
                WITHIN GROUP (ORDER BY volume DESC)
        FROM (
            SELECT b_name AS called, SUM(tr_qty * tr_bid_price) AS volume
            FROM {place}.trade_request
            JOIN {place}.broker ON b_id = tr_b_id
            JOIN {place}.security ON s_symb = tr_s_symb
            JOIN {place}.company ON co_id = s_co_id
            JOIN {place}.industry ON in_id = co_in_id
            JOIN {place}.sector ON sc_id = in_sc_id
            WHERE sc_name = @wanted_sector AND b_name IN (
                @broker_1, @broker_2, @broker_3, @broker_4, @broker_5, @broker_6,
                @broker_7, @broker_8, @broker_9, @broker_10, @broker_11, @broker_12,
                @broker_13, @broker_14, @broker_15, @broker_16, @broker_17,
                @broker_18, @broker_19, @broker_20, @broker_21, @broker_22,
                @broker_23, @broker_24, @broker_25, @broker_26, @broker_27,
                @broker_28, @broker_29, @broker_30)
            GROUP BY b_name
        ) AS picked;
    COMMIT TRANSACTION;
    SELECT @brokers AS brokers, @shown AS shown;
END;
GO

CREATE PROCEDURE {place}.dyno_customer_position
    -- The tax number if the customer is found by it; the account whose history is shown.
    @cust bigint, @by_tax varchar(20), @with_history int
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @accounts int, @skipped int, @own bigint = @cust, @account bigint;
    DECLARE @who varchar(1000), @assets varchar(8000), @history varchar(8000);
    DECLARE @found TABLE (id bigint NOT NULL, balance decimal(12, 2), worth decimal(14, 2));

    BEGIN TRANSACTION;
    IF @by_tax IS NOT NULL
        SELECT TOP (1) @own = c_id FROM {place}.customer WHERE c_tax_id = @by_tax;
    SELECT @who = CONCAT_WS('|', c_st_id, c_l_name, c_f_name, c_m_name, c_gndr, c_tier, c_dob,
            c_ad_id, c_ctry_1, c_area_1, c_local_1, c_ext_1, c_ctry_2, c_area_2, c_local_2,
            c_ext_2, c_ctry_3, c_area_3, c_local_3, c_ext_3, c_email_1, c_email_2, c_tax_id)
        FROM {place}.customer WHERE c_id = @own;
    IF @who IS NULL
        THROW 50001, 'a customer is missing: check that the data is complete', 1;
    INSERT INTO @found (id, balance, worth)
        SELECT TOP (10) ca_id, ca_bal, COALESCE(SUM(hs_qty * lt_price), 0) AS worth
        FROM {place}.customer_account
        LEFT JOIN {place}.holding_summary ON hs_ca_id = ca_id
        LEFT JOIN {place}.last_trade ON lt_s_symb = hs_s_symb
        WHERE ca_c_id = @own GROUP BY ca_id, ca_bal ORDER BY worth;
    SELECT @accounts = COUNT(*),
            @assets = STRING_AGG(CONCAT_WS('|', id, balance, worth), ';')
                WITHIN GROUP (ORDER BY worth, id)
        FROM @found;
    IF @with_history IS NOT NULL AND @accounts > 0
    BEGIN
        SET @skipped = @with_history % @accounts;
        SELECT @account = id FROM @found
            ORDER BY worth, id OFFSET @skipped ROWS FETCH NEXT 1 ROWS ONLY;
        SELECT @history = STRING_AGG(CONCAT_WS('|', t_id, t_s_symb, t_qty, st_name, th_dts), ';')
                WITHIN GROUP (ORDER BY th_dts DESC)
            FROM (
                SELECT TOP (30) t_id, t_s_symb, t_qty, st_name, th_dts
                FROM (
                    SELECT TOP (10) t_id AS id FROM {place}.trade WHERE t_ca_id = @account
                    ORDER BY t_dts DESC
                ) AS latest
                JOIN {place}.trade ON t_id = id
                JOIN {place}.trade_history ON th_t_id = t_id
                JOIN {place}.status_type ON st_id = th_st_id
                ORDER BY th_dts DESC
            ) AS picked;
    END;
    COMMIT TRANSACTION;
    SELECT @accounts AS accounts, @who AS who, @assets AS assets, @history AS history;
END;
GO

CREATE PROCEDURE {place}.dyno_market_watch
    -- Of a customer's list, of an account, or of an industry's companies; the others are null.
    @cust bigint, @account bigint, @wanted_industry varchar(50), @first_comp bigint,
    @last_comp bigint, @traded date
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @value_then decimal(30, 2), @value_now decimal(30, 2);

    BEGIN TRANSACTION;
    IF @cust IS NOT NULL
        SELECT @value_then = COALESCE(SUM(s_num_out * dm_close), 0),
                @value_now = COALESCE(SUM(s_num_out * lt_price), 0)
            FROM {place}.watch_list
            JOIN {place}.watch_item ON wi_wl_id = wl_id
            JOIN {place}.security ON s_symb = wi_s_symb
            JOIN {place}.last_trade ON lt_s_symb = s_symb
            JOIN {place}.daily_market ON dm_s_symb = s_symb AND dm_date = @traded
            WHERE wl_c_id = @cust;
    ELSE IF @account IS NOT NULL
        SELECT @value_then = COALESCE(SUM(s_num_out * dm_close), 0),
                @value_now = COALESCE(SUM(s_num_out * lt_price), 0)
            FROM {place}.holding_summary
            JOIN {place}.security ON s_symb = hs_s_symb
            JOIN {place}.last_trade ON lt_s_symb = s_symb
            JOIN {place}.daily_market ON dm_s_symb = s_symb AND dm_date = @traded
            WHERE hs_ca_id = @account;
    ELSE
        SELECT @value_then = COALESCE(SUM(s_num_out * dm_close), 0),
                @value_now = COALESCE(SUM(s_num_out * lt_price), 0)
            FROM {place}.industry
            JOIN {place}.company ON co_in_id = in_id
            JOIN {place}.security ON s_co_id = co_id
            JOIN {place}.last_trade ON lt_s_symb = s_symb
            JOIN {place}.daily_market ON dm_s_symb = s_symb AND dm_date = @traded
            WHERE in_name = @wanted_industry AND co_id >= @first_comp AND co_id <= @last_comp;
    COMMIT TRANSACTION;
    SELECT @value_then AS value_then, @value_now AS value_now;
END;
GO

CREATE PROCEDURE {place}.dyno_security_detail
    @symbol varchar(15), @since date, @with_text int
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @days int, @detail varchar(4000), @competitors varchar(1000), @quarters varchar(8000);
    DECLARE @prices varchar(8000), @last_price varchar(60), @news varchar(max);

    BEGIN TRANSACTION;
    SELECT @detail = CONCAT_WS('|', s_name, s_num_out, s_start_date, s_exch_date, s_pe,
            s_52wk_high, s_52wk_high_date, s_52wk_low, s_52wk_low_date, s_dividend, s_yield, co_id,
            co_name, co_sp_rate, co_ceo, co_desc, co_open_date, co_st_id, ca.ad_line1, ca.ad_line2,
            zca.zc_town, zca.zc_div, ca.ad_zc_code, ca.ad_ctry, ex_name, ex_num_symb, ex_open,
            ex_close, ex_desc, ea.ad_line1, ea.ad_line2, zea.zc_town, zea.zc_div, ea.ad_zc_code,
            ea.ad_ctry)
        FROM {place}.security
        JOIN {place}.company ON co_id = s_co_id
        JOIN {place}.address AS ca ON ca.ad_id = co_ad_id
        JOIN {place}.zip_code AS zca ON zca.zc_code = ca.ad_zc_code
        JOIN {place}.exchange ON ex_id = s_ex_id
        JOIN {place}.address AS ea ON ea.ad_id = ex_ad_id
        JOIN {place}.zip_code AS zea ON zea.zc_code = ea.ad_zc_code
        WHERE s_symb = @symbol;
    SELECT @competitors = STRING_AGG(CONCAT_WS('|', co_name, in_name), ';')
        FROM (
            SELECT TOP (3) co_name, in_name FROM {place}.security
            JOIN {place}.company_competitor ON cp_co_id = s_co_id
            JOIN {place}.company ON co_id = cp_comp_co_id
            JOIN {place}.industry ON in_id = cp_in_id
            WHERE s_symb = @symbol
        ) AS picked;
    -- One number orders the quarters: STRING_AGG takes one ordering.
    SELECT @quarters = STRING_AGG(line, ';') WITHIN GROUP (ORDER BY quarter)
        FROM (
            SELECT TOP (20) 4 * fi_year + fi_qtr AS quarter, CONCAT_WS('|', fi_year, fi_qtr,
                fi_revenue, fi_net_earn, fi_basic_eps, fi_dilut_eps, fi_margin, fi_inventory,
                fi_assets, fi_liability, fi_out_basic, fi_out_dilut) AS line
            FROM {place}.security JOIN {place}.financial ON fi_co_id = s_co_id
            WHERE s_symb = @symbol ORDER BY fi_year, fi_qtr
        ) AS picked;
    SELECT @days = COUNT(*),
            @prices = STRING_AGG(CONCAT_WS('|', dm_date, dm_close, dm_high, dm_low, dm_vol), ';')
                WITHIN GROUP (ORDER BY dm_date)
        FROM (
            SELECT TOP (20) dm_date, dm_close, dm_high, dm_low, dm_vol FROM {place}.daily_market
            WHERE dm_s_symb = @symbol AND dm_date >= @since ORDER BY dm_date
        ) AS picked;
    SELECT @last_price = CONCAT_WS('|', lt_price, lt_open_price, lt_vol)
        FROM {place}.last_trade WHERE lt_s_symb = @symbol;
    IF @with_text = 1
        SELECT @news = STRING_AGG(CAST(CONCAT_WS('|', ni_item, ni_dts, ni_source, ni_author)
                AS varchar(max)), ';')
            FROM (
                SELECT TOP (2) ni_item, ni_dts, ni_source, ni_author FROM {place}.security
                JOIN {place}.news_xref ON nx_co_id = s_co_id
                JOIN {place}.news_item ON ni_id = nx_ni_id
                WHERE s_symb = @symbol
            ) AS picked;
    ELSE
        SELECT @news = STRING_AGG(CAST(CONCAT_WS('|', ni_headline, ni_summary, ni_dts, ni_source,
                ni_author) AS varchar(max)), ';')
            FROM (
                SELECT TOP (2) ni_headline, ni_summary, ni_dts, ni_source, ni_author
                FROM {place}.security
                JOIN {place}.news_xref ON nx_co_id = s_co_id
                JOIN {place}.news_item ON ni_id = nx_ni_id
                WHERE s_symb = @symbol
            ) AS picked;
    COMMIT TRANSACTION;
    SELECT @days AS days, @detail AS detail, @competitors AS competitors, @quarters AS quarters,
        @prices AS prices, @last_price AS last_price, @news AS news;
END;
GO

CREATE PROCEDURE {place}.dyno_trade_status @account bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @trades int, @who varchar(120), @shown varchar(max);

    BEGIN TRANSACTION;
    SELECT @trades = COUNT(*),
            @shown = STRING_AGG(CAST(line AS varchar(max)), ';') WITHIN GROUP (ORDER BY t_dts DESC)
        FROM (
            SELECT TOP (50) t_dts, CONCAT_WS('|', t_id, t_dts, st_name, tt_name, t_s_symb, t_qty,
                t_exec_name, t_chrg, s_name, ex_name) AS line
            FROM {place}.trade
            JOIN {place}.status_type ON st_id = t_st_id
            JOIN {place}.trade_type ON tt_id = t_tt_id
            JOIN {place}.security ON s_symb = t_s_symb
            JOIN {place}.exchange ON ex_id = s_ex_id
            WHERE t_ca_id = @account ORDER BY t_dts DESC
        ) AS picked;
    SELECT @who = CONCAT_WS('|', c_l_name, c_f_name, b_name)
        FROM {place}.customer_account
        JOIN {place}.customer ON c_id = ca_c_id
        JOIN {place}.broker ON b_id = ca_b_id
        WHERE ca_id = @account;
    COMMIT TRANSACTION;
    SELECT @trades AS trades, @who AS who, @shown AS shown;
END;
GO
