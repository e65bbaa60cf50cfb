-- Trade-Order and Trade-Cleanup.

-- The first call of a Trade-Order. The caller begins and ends the transaction: a procedure has to
-- return with as many open transactions as it was called with.
CREATE PROCEDURE {place}.dyno_trade_order
    -- Who else orders, by place, or null; the company and issue that name the security instead of
    -- its symbol, or null.
    @account bigint, @other int, @kind char(3), @given_symbol varchar(15), @comp varchar(60),
    @issue varchar(6)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @cust bigint, @broker_id bigint, @tier int, @tax_status int, @counted int;
    DECLARE @skipped int, @at_market int, @is_sale int, @executor varchar(49);
    DECLARE @owner_tax varchar(20);
    DECLARE @assets decimal(14, 2), @worth decimal(14, 2);
    DECLARE @symbol varchar(15) = @given_symbol, @open_price decimal(8, 2), @problem nvarchar(200);

    SELECT @broker_id = ca_b_id, @cust = ca_c_id, @tax_status = ca_tax_st, @assets = ca_bal,
            @tier = c_tier, @executor = CONCAT(c_f_name, ' ', c_l_name), @owner_tax = c_tax_id
        FROM {place}.customer_account
        JOIN {place}.broker ON b_id = ca_b_id
        JOIN {place}.customer ON c_id = ca_c_id
        WHERE ca_id = @account;
    SELECT @counted = COUNT(*) FROM {place}.account_permission
        WHERE ap_ca_id = @account AND ap_tax_id <> @owner_tax;
    IF @other IS NOT NULL AND @counted > 0
    BEGIN
        SET @skipped = @other % @counted;
        SELECT @executor = CONCAT(ap_f_name, ' ', ap_l_name)
            FROM {place}.account_permission WHERE ap_ca_id = @account AND ap_tax_id <> @owner_tax
            ORDER BY ap_tax_id OFFSET @skipped ROWS FETCH NEXT 1 ROWS ONLY;
    END;
    SELECT @worth = COALESCE(SUM(hs_qty * lt_price), 0)
        FROM {place}.holding_summary JOIN {place}.last_trade ON lt_s_symb = hs_s_symb
        WHERE hs_ca_id = @account;
    SET @assets = @assets + @worth;
    SELECT @at_market = tt_is_mrkt, @is_sale = tt_is_sell
        FROM {place}.trade_type WHERE tt_id = @kind;

    IF @comp IS NOT NULL
        SELECT TOP (1) @symbol = s_symb
            FROM {place}.company
            JOIN {place}.security ON s_co_id = co_id
            JOIN {place}.last_trade ON lt_s_symb = s_symb
            WHERE co_name = @comp AND s_issue = @issue;
    SELECT @open_price = lt_open_price
        FROM {place}.security
        JOIN {place}.company ON co_id = s_co_id
        JOIN {place}.last_trade ON lt_s_symb = s_symb
        WHERE s_symb = @symbol;
    IF @cust IS NULL OR @open_price IS NULL
    BEGIN
        SET @problem = CONCAT('account ', @account, ' or security ', @symbol,
            ' is missing: check that the data is complete');
        THROW 50001, @problem, 1;
    END;
    SELECT @cust AS cust, @broker_id AS broker_id, @tier AS tier, @tax_status AS tax_status,
        @executor AS executor, @assets AS assets, @symbol AS symbol, @open_price AS open_price;
END;
GO

-- The second call of a Trade-Order, with the price that the exchange has named.
CREATE PROCEDURE {place}.dyno_trade_order_entry
    @number bigint, @account bigint, @cust bigint, @broker_id bigint, @tier int, @kind char(3),
    @symbol varchar(15), @shares int, @bid decimal(8, 2), @lifo int, @cash int,
    @executor varchar(49),
    -- Whether the caller rolls back: it has begun the transaction.
    @withdrawn int, @entered datetime2(6)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @direction int = CASE WHEN @kind IN ('TMS', 'TLS', 'TSL') THEN -1 ELSE 1 END;
    DECLARE @order_status char(4) = CASE WHEN @kind IN ('TMB', 'TMS') THEN 'SBMT' ELSE 'PNDG' END;
    DECLARE @open_shares int = @shares, @closed int, @lot_shares int, @lot_price decimal(8, 2);
    DECLARE @rate decimal(5, 2), @tax_rate decimal(7, 5), @charged decimal(10, 2);
    DECLARE @commission decimal(10, 2), @tax decimal(10, 2) = 0, @gain decimal(14, 2) = 0;
    DECLARE @problem nvarchar(200);

    SELECT @charged = ch_chrg FROM {place}.charge WHERE ch_tt_id = @kind AND ch_c_tier = @tier;
    SELECT @rate = cr_rate
        FROM {place}.commission_rate JOIN {place}.security ON s_ex_id = cr_ex_id
        WHERE s_symb = @symbol AND cr_c_tier = @tier AND cr_tt_id = @kind
            AND cr_from_qty <= @shares AND cr_to_qty >= @shares;
    IF @charged IS NULL OR @rate IS NULL
    BEGIN
        SET @problem = CONCAT('charge or commission of a trade ', @kind,
            ' is missing: check that the data is complete');
        THROW 50001, @problem, 1;
    END;
    SELECT @tax_rate = COALESCE(SUM(tx_rate), 0)
        FROM {place}.customer_taxrate JOIN {place}.taxrate ON tx_id = cx_tx_id
        WHERE cx_c_id = @cust;
    -- The tax that the customer has to expect.
    DECLARE lots CURSOR LOCAL STATIC READ_ONLY FOR
        SELECT h_qty, h_price FROM {place}.holding
        WHERE h_ca_id = @account AND h_s_symb = @symbol
        ORDER BY CASE WHEN @lifo = 1 THEN h_dts END DESC, CASE WHEN @lifo = 1 THEN h_t_id END DESC,
            h_dts, h_t_id;
    OPEN lots;
    FETCH NEXT FROM lots INTO @lot_shares, @lot_price;
    WHILE @@FETCH_STATUS = 0 AND @open_shares > 0
    BEGIN
        IF @direction * @lot_shares < 0
        BEGIN
            SET @closed = CASE WHEN ABS(@lot_shares) < @open_shares THEN ABS(@lot_shares)
                ELSE @open_shares END;
            SET @open_shares = @open_shares - @closed;
            SET @gain = @gain - @direction * @closed * (@bid - @lot_price);
        END;
        FETCH NEXT FROM lots INTO @lot_shares, @lot_price;
    END;
    CLOSE lots;
    DEALLOCATE lots;
    -- With a third argument, ROUND cuts off.
    IF @gain > 0 SET @tax = ROUND(@gain * @tax_rate, 2, 1);
    SET @commission = ROUND(@shares * @bid * @rate / 100, 2);

    INSERT INTO {place}.trade (t_id, t_dts, t_st_id, t_tt_id, t_is_cash, t_s_symb, t_qty,
            t_bid_price, t_ca_id, t_exec_name, t_trade_price, t_chrg, t_comm, t_tax, t_lifo)
        VALUES (@number, @entered, @order_status, @kind, @cash, @symbol, @shares, @bid, @account,
            @executor, NULL, @charged, @commission, 0, @lifo);
    IF @order_status = 'PNDG'
        INSERT INTO {place}.trade_request (tr_t_id, tr_tt_id, tr_s_symb, tr_qty, tr_bid_price,
                tr_b_id)
            VALUES (@number, @kind, @symbol, @shares, @bid, @broker_id);
    INSERT INTO {place}.trade_history (th_t_id, th_dts, th_st_id)
        VALUES (@number, @entered, @order_status);
    SELECT @charged AS charged, @commission AS commission, @tax AS tax;
END;
GO

-- Before the first transaction: what earlier runs left unfinished is cancelled, never before its last
-- step: the clock may have gone back.
CREATE PROCEDURE {place}.dyno_trade_cleanup
    @last_loaded bigint, @entered datetime2(6)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @next_number bigint;

    BEGIN TRANSACTION;
    INSERT INTO {place}.trade_history (th_t_id, th_dts, th_st_id)
        SELECT t_id, CASE WHEN t_dts > @entered THEN t_dts ELSE @entered END, 'SBMT'
        FROM {place}.trade WHERE t_id IN (SELECT tr_t_id FROM {place}.trade_request);
    INSERT INTO {place}.trade_history (th_t_id, th_dts, th_st_id)
        SELECT t_id, CASE WHEN t_dts > @entered THEN t_dts ELSE @entered END, 'CNCL'
        FROM {place}.trade WHERE t_id IN (SELECT tr_t_id FROM {place}.trade_request);
    UPDATE {place}.trade SET t_st_id = 'CNCL', t_dts = CASE WHEN t_dts > @entered THEN t_dts ELSE @entered END
        WHERE t_id IN (SELECT tr_t_id FROM {place}.trade_request);
    INSERT INTO {place}.trade_history (th_t_id, th_dts, th_st_id)
        SELECT t_id, CASE WHEN t_dts > @entered THEN t_dts ELSE @entered END, 'CNCL'
        FROM {place}.trade
        WHERE t_id > @last_loaded AND t_st_id IN ('SBMT', 'PNDG');
    UPDATE {place}.trade SET t_st_id = 'CNCL', t_dts = CASE WHEN t_dts > @entered THEN t_dts ELSE @entered END
        WHERE t_id > @last_loaded AND t_st_id IN ('SBMT', 'PNDG');
    DELETE FROM {place}.trade_request;
    SELECT @next_number = COALESCE(MAX(t_id), 0) + 1 FROM {place}.trade;
    COMMIT TRANSACTION;
    SELECT @next_number AS next_number;
END;
GO
