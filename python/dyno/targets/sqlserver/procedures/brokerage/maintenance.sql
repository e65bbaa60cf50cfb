-- Data-Maintenance.

CREATE PROCEDURE {place}.dyno_data_maintenance
    @what int, @cust bigint, @account bigint, @comp bigint, @symbol varchar(15), @traded date,
    @entered datetime2(6), @today date
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @changed int = 0, @listed int, @watch bigint, @was varchar(15), @will_be varchar(15);

    BEGIN TRANSACTION;
    IF @what = 0
    BEGIN
        UPDATE {place}.account_permission
            SET ap_acl = CASE WHEN ap_acl = '1111' THEN '0011' ELSE '1111' END
            WHERE ap_ca_id = @account;
        SET @changed = @@ROWCOUNT;
    END
    ELSE IF @what = 1
    BEGIN
        UPDATE {place}.address
            SET ad_line2 = CASE WHEN ad_line2 = 'Apt. 10C' THEN 'Apt. 22' ELSE 'Apt. 10C' END
            WHERE ad_id IN (SELECT c_ad_id FROM {place}.customer WHERE c_id = @cust);
        SET @changed = @@ROWCOUNT;
    END
    ELSE IF @what = 2
    BEGIN
        UPDATE {place}.company
            SET co_sp_rate = CASE WHEN co_sp_rate = 'ABA' THEN 'AAA' ELSE 'ABA' END
            WHERE co_id = @comp;
        SET @changed = @@ROWCOUNT;
    END
    ELSE IF @what = 3
    BEGIN
        UPDATE {place}.customer
            SET c_email_2 = CASE WHEN c_email_2 = c_email_1
                THEN CONCAT('second-', c_email_1) ELSE c_email_1 END
            WHERE c_id = @cust;
        SET @changed = @@ROWCOUNT;
    END
    ELSE IF @what = 4
    BEGIN
        SELECT TOP (1) @was = cx_tx_id, @will_be = tx_id
            FROM {place}.customer_taxrate
            JOIN {place}.taxrate
                ON SUBSTRING(tx_id, 1, 2) = SUBSTRING(cx_tx_id, 1, 2) AND tx_id <> cx_tx_id
            WHERE cx_c_id = @cust AND tx_id NOT IN (
                SELECT other.cx_tx_id FROM {place}.customer_taxrate AS other
                WHERE other.cx_c_id = @cust)
            ORDER BY cx_tx_id, tx_id;
        UPDATE {place}.customer_taxrate SET cx_tx_id = @will_be
            WHERE cx_c_id = @cust AND cx_tx_id = @was;
        SET @changed = @@ROWCOUNT;
    END
    ELSE IF @what = 5
    BEGIN
        UPDATE {place}.daily_market SET dm_vol = dm_vol + 1
            WHERE dm_s_symb = @symbol AND dm_date = @traded;
        SET @changed = @@ROWCOUNT;
    END
    ELSE IF @what = 6
    BEGIN
        UPDATE {place}.exchange
            SET ex_desc = CASE WHEN ex_desc = ex_name THEN 'An exchange' ELSE ex_name END
            WHERE ex_id IN (SELECT s_ex_id FROM {place}.security WHERE s_symb = @symbol);
        SET @changed = @@ROWCOUNT;
    END
    ELSE IF @what = 7
    BEGIN
        UPDATE {place}.financial SET fi_qtr_start_date = @today
            WHERE fi_co_id = @comp AND fi_qtr = 1;
        SET @changed = @@ROWCOUNT;
    END
    ELSE IF @what = 8
    BEGIN
        UPDATE {place}.news_item SET ni_dts = @entered
            WHERE ni_id IN (SELECT nx_ni_id FROM {place}.news_xref WHERE nx_co_id = @comp);
        SET @changed = @@ROWCOUNT;
    END
    ELSE IF @what = 9
    BEGIN
        UPDATE {place}.security SET s_exch_date = @today WHERE s_symb = @symbol;
        SET @changed = @@ROWCOUNT;
    END
    ELSE IF @what = 10
    BEGIN
        UPDATE {place}.taxrate
            SET tx_name = CASE WHEN tx_name = UPPER(tx_name) THEN LOWER(tx_name)
                ELSE UPPER(tx_name) END
            WHERE tx_id IN (SELECT cx_tx_id FROM {place}.customer_taxrate WHERE cx_c_id = @cust);
        SET @changed = @@ROWCOUNT;
    END
    ELSE
    BEGIN
        -- The first on the list, unless the other is on it.
        SELECT @listed = COUNT(*)
            FROM {place}.watch_list JOIN {place}.watch_item ON wi_wl_id = wl_id
            WHERE wl_c_id = @cust AND wi_s_symb = @symbol;
        SELECT TOP (1) @watch = wi_wl_id, @was = wi_s_symb
            FROM {place}.watch_list JOIN {place}.watch_item ON wi_wl_id = wl_id
            WHERE wl_c_id = @cust ORDER BY wi_wl_id, wi_s_symb;
        UPDATE {place}.watch_item SET wi_s_symb = @symbol
            WHERE wi_wl_id = @watch AND wi_s_symb = @was AND @listed = 0;
        SET @changed = @@ROWCOUNT;
    END;
    COMMIT TRANSACTION;
    SELECT @changed AS changed;
END;
GO
