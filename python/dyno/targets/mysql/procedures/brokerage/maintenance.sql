-- Data-Maintenance.

CREATE PROCEDURE {place}.dyno_data_maintenance(
    what INT, cust BIGINT, account BIGINT, comp BIGINT, symbol VARCHAR(15) {text}, traded DATE,
    entered DATETIME(6), today DATE
) MODIFIES SQL DATA SQL SECURITY INVOKER COMMENT {mark}
BEGIN
    DECLARE found BOOLEAN DEFAULT TRUE;
    DECLARE changed, listed INT DEFAULT 0;
    DECLARE watch BIGINT;
    DECLARE was, will_be VARCHAR(15) {text};
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET found = FALSE;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;

    START TRANSACTION;
    CASE what
    WHEN 0 THEN
        UPDATE {place}.account_permission
            SET ap_acl = CASE WHEN ap_acl = '1111' THEN '0011' ELSE '1111' END
            WHERE ap_ca_id = account;
    WHEN 1 THEN
        -- A join, here and below: before 11.1, MariaDB evaluates a subquery for each row of an
        -- updated table.
        UPDATE {place}.address JOIN {place}.customer ON c_ad_id = ad_id
            SET ad_line2 = CASE WHEN ad_line2 = 'Apt. 10C' THEN 'Apt. 22' ELSE 'Apt. 10C' END
            WHERE c_id = cust;
    WHEN 2 THEN
        UPDATE {place}.company
            SET co_sp_rate = CASE WHEN co_sp_rate = 'ABA' THEN 'AAA' ELSE 'ABA' END
            WHERE co_id = comp;
    WHEN 3 THEN
        UPDATE {place}.customer
            SET c_email_2 = CASE WHEN c_email_2 = c_email_1
                THEN CONCAT('second-', c_email_1) ELSE c_email_1 END
            WHERE c_id = cust;
    WHEN 4 THEN
        SELECT cx_tx_id, tx_id INTO was, will_be
            FROM {place}.customer_taxrate
            JOIN {place}.taxrate
                ON SUBSTR(tx_id, 1, 2) = SUBSTR(cx_tx_id, 1, 2) AND tx_id <> cx_tx_id
            WHERE cx_c_id = cust AND tx_id NOT IN (
                SELECT other.cx_tx_id FROM {place}.customer_taxrate other
                WHERE other.cx_c_id = cust)
            ORDER BY cx_tx_id, tx_id LIMIT 1;
        UPDATE {place}.customer_taxrate SET cx_tx_id = will_be
            WHERE cx_c_id = cust AND cx_tx_id = was;
    WHEN 5 THEN
        UPDATE {place}.daily_market SET dm_vol = dm_vol + 1
            WHERE dm_s_symb = symbol AND dm_date = traded;
    WHEN 6 THEN
        UPDATE {place}.exchange JOIN {place}.security ON s_ex_id = ex_id
            SET ex_desc = CASE WHEN ex_desc = ex_name THEN 'An exchange' ELSE ex_name END
            WHERE s_symb = symbol;
    WHEN 7 THEN
        UPDATE {place}.financial SET fi_qtr_start_date = today
            WHERE fi_co_id = comp AND fi_qtr = 1;
    WHEN 8 THEN
        UPDATE {place}.news_item JOIN {place}.news_xref ON nx_ni_id = ni_id
            SET ni_dts = entered WHERE nx_co_id = comp;
    WHEN 9 THEN
        UPDATE {place}.security SET s_exch_date = today WHERE s_symb = symbol;
    WHEN 10 THEN
        UPDATE {place}.taxrate JOIN {place}.customer_taxrate ON cx_tx_id = tx_id
            SET tx_name = CASE WHEN tx_name = UPPER(tx_name) THEN LOWER(tx_name)
                ELSE UPPER(tx_name) END
            WHERE cx_c_id = cust;
    ELSE
        -- The first on the list, unless the other is on it.
        SELECT COUNT(*) INTO listed
            FROM {place}.watch_list JOIN {place}.watch_item ON wi_wl_id = wl_id
            WHERE wl_c_id = cust AND wi_s_symb = symbol;
        SELECT wi_wl_id, wi_s_symb INTO watch, was
            FROM {place}.watch_list JOIN {place}.watch_item ON wi_wl_id = wl_id
            WHERE wl_c_id = cust ORDER BY wi_wl_id, wi_s_symb LIMIT 1;
        UPDATE {place}.watch_item SET wi_s_symb = symbol
            WHERE wi_wl_id = watch AND wi_s_symb = was AND listed = 0;
    END CASE;
    SET changed = ROW_COUNT();
    COMMIT;
    SELECT changed;
END;
