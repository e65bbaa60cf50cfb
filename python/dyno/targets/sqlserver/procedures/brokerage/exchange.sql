-- The transactions of the TPC-E-derived workload, as `dyno run brokerage --mode procedure` calls
-- them. Here: Market-Feed and Trade-Result, which the exchange causes.
--
-- All run the statements of the driver's client mode (crates/dyno-drive/src/workloads/brokerage) in
-- its order, so that the two modes differ in where a transaction is programmed and in nothing else.
-- What a screen would show is returned as one row, lists as one text. A call is a transaction of its
-- own, except the two of Trade-Order: it commits before it returns the row, and an error rolls it
-- back (XACT_ABORT). Every table is named with its schema.

CREATE PROCEDURE {place}.dyno_market_feed
    @entered datetime2(6), @symbol varchar(15), @price decimal(8, 2), @shares int
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @step int = 0, @submitted int, @number bigint, @orders varchar(max);
    DECLARE @triggered TABLE (
        step int IDENTITY(0, 1) NOT NULL PRIMARY KEY, number bigint NOT NULL
    );

    BEGIN TRANSACTION;
    UPDATE {place}.last_trade SET lt_price = @price, lt_vol = lt_vol + @shares, lt_dts = @entered
        WHERE lt_s_symb = @symbol;
    -- The rows stay locked, so that two feeds do not submit one order twice.
    INSERT INTO @triggered (number)
        SELECT tr_t_id FROM {place}.trade_request WITH (UPDLOCK)
        WHERE tr_s_symb = @symbol AND (
            (tr_tt_id IN ('TSL', 'TLB') AND tr_bid_price >= @price) OR
            (tr_tt_id = 'TLS' AND tr_bid_price <= @price));
    SELECT @submitted = COUNT(*),
            @orders = STRING_AGG(CAST(number AS varchar(max)), ',') WITHIN GROUP (ORDER BY step)
        FROM @triggered;
    WHILE @step < @submitted
    BEGIN
        SELECT @number = number FROM @triggered WHERE step = @step;
        -- An order found here may have begun after this feed, which may have waited for its commit.
        UPDATE {place}.trade SET
                t_dts = CASE WHEN t_dts > @entered THEN t_dts ELSE @entered END, t_st_id = 'SBMT'
            WHERE t_id = @number;
        DELETE FROM {place}.trade_request WHERE tr_t_id = @number;
        INSERT INTO {place}.trade_history (th_t_id, th_dts, th_st_id)
            SELECT t_id, t_dts, 'SBMT' FROM {place}.trade WHERE t_id = @number;
        SET @step = @step + 1;
    END;
    COMMIT TRANSACTION;
    SELECT @submitted AS submitted, @orders AS orders;
END;
GO

CREATE PROCEDURE {place}.dyno_trade_result
    @number bigint, @account bigint, @cust bigint, @broker_id bigint, @tier int, @kind char(3),
    @symbol varchar(15), @shares int, @price decimal(8, 2), @lifo int, @cash int,
    @tax_status int, @entered datetime2(6), @due date
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @direction int = CASE WHEN @kind IN ('TMS', 'TLS', 'TSL') THEN -1 ELSE 1 END;
    DECLARE @open_shares int = @shares, @changes int = 0, @closed int;
    DECLARE @held int, @held_after int, @lot bigint, @lot_shares int, @lot_after int;
    DECLARE @lot_price decimal(8, 2), @rate decimal(5, 2), @tax_rate decimal(7, 5);
    DECLARE @balance decimal(12, 2), @gain decimal(14, 2) = 0, @charged decimal(10, 2);
    DECLARE @commission decimal(10, 2), @amount decimal(10, 2), @tax decimal(10, 2) = 0;
    DECLARE @what varchar(150), @problem nvarchar(200);

    BEGIN TRANSACTION;
    -- Results of one account follow each other.
    SELECT @balance = ca_bal FROM {place}.customer_account WITH (UPDLOCK) WHERE ca_id = @account;
    SELECT @charged = t_chrg, @what = CONCAT(tt_name, ' ', @shares, ' shares of ', s_name)
        FROM {place}.trade
        JOIN {place}.trade_type ON tt_id = t_tt_id
        JOIN {place}.security ON s_symb = t_s_symb
        WHERE t_id = @number;
    SELECT @rate = cr_rate
        FROM {place}.commission_rate JOIN {place}.security ON s_ex_id = cr_ex_id
        WHERE s_symb = @symbol AND cr_c_tier = @tier AND cr_tt_id = @kind
            AND cr_from_qty <= @shares AND cr_to_qty >= @shares;
    IF @balance IS NULL OR @charged IS NULL OR @rate IS NULL
    BEGIN
        SET @problem = CONCAT('trade ', @number, ', its account or its commission is missing: ',
            'check that the data is complete');
        THROW 50001, @problem, 1;
    END;
    SELECT @tax_rate = COALESCE(SUM(tx_rate), 0)
        FROM {place}.customer_taxrate JOIN {place}.taxrate ON tx_id = cx_tx_id
        WHERE cx_c_id = @cust;
    SELECT @held = hs_qty FROM {place}.holding_summary
        WHERE hs_ca_id = @account AND hs_s_symb = @symbol;

    -- Holdings refer to the account's number of shares: it comes before them, and goes after them.
    SET @held_after = COALESCE(@held, 0) + @direction * @shares;
    IF @held IS NULL
        INSERT INTO {place}.holding_summary (hs_qty, hs_ca_id, hs_s_symb)
            VALUES (@held_after, @account, @symbol);
    ELSE IF @held_after <> 0
        UPDATE {place}.holding_summary SET hs_qty = @held_after
            WHERE hs_ca_id = @account AND hs_s_symb = @symbol;
    -- A sale closes bought shares, a purchase closes short ones, the last or the first ones first.
    DECLARE lots CURSOR LOCAL STATIC READ_ONLY FOR
        SELECT h_t_id, h_qty, h_price FROM {place}.holding
        WHERE h_ca_id = @account AND h_s_symb = @symbol
        ORDER BY CASE WHEN @lifo = 1 THEN h_dts END DESC, CASE WHEN @lifo = 1 THEN h_t_id END DESC,
            h_dts, h_t_id;
    OPEN lots;
    FETCH NEXT FROM lots INTO @lot, @lot_shares, @lot_price;
    WHILE @@FETCH_STATUS = 0 AND @open_shares > 0
    BEGIN
        IF @direction * @lot_shares < 0
        BEGIN
            SET @closed = CASE WHEN ABS(@lot_shares) < @open_shares THEN ABS(@lot_shares)
                ELSE @open_shares END;
            SET @open_shares = @open_shares - @closed;
            SET @lot_after = @lot_shares + @direction * @closed;
            SET @gain = @gain - @direction * @closed * (@price - @lot_price);
            SET @changes = @changes + 1;
            INSERT INTO {place}.holding_history (hh_h_t_id, hh_t_id, hh_before_qty, hh_after_qty)
                VALUES (@lot, @number, @lot_shares, @lot_after);
            IF @lot_after = 0
                DELETE FROM {place}.holding WHERE h_t_id = @lot;
            ELSE
                UPDATE {place}.holding SET h_qty = @lot_after WHERE h_t_id = @lot;
        END;
        FETCH NEXT FROM lots INTO @lot, @lot_shares, @lot_price;
    END;
    CLOSE lots;
    DEALLOCATE lots;
    IF @open_shares > 0
    BEGIN
        INSERT INTO {place}.holding_history (hh_h_t_id, hh_t_id, hh_before_qty, hh_after_qty)
            VALUES (@number, @number, 0, @direction * @open_shares);
        INSERT INTO {place}.holding (h_t_id, h_ca_id, h_s_symb, h_dts, h_price, h_qty)
            VALUES (@number, @account, @symbol, @entered, @price, @direction * @open_shares);
    END;
    IF @held_after = 0
        DELETE FROM {place}.holding_summary WHERE hs_ca_id = @account AND hs_s_symb = @symbol;

    -- With a third argument, ROUND cuts off.
    IF @tax_status IN (1, 2) AND @gain > 0 SET @tax = ROUND(@gain * @tax_rate, 2, 1);
    SET @commission = ROUND(@shares * @price * @rate / 100, 2);
    SET @amount = -@direction * @shares * @price - @charged - @commission
        - CASE WHEN @tax_status = 1 THEN @tax ELSE 0 END;
    UPDATE {place}.trade SET t_comm = @commission, t_tax = @tax, t_dts = @entered,
            t_st_id = 'CMPT', t_trade_price = @price
        WHERE t_id = @number;
    INSERT INTO {place}.trade_history (th_t_id, th_dts, th_st_id)
        VALUES (@number, @entered, 'CMPT');
    INSERT INTO {place}.settlement (se_t_id, se_cash_type, se_cash_due_date, se_amt)
        VALUES (@number, CASE WHEN @cash = 1 THEN 'Cash Account' ELSE 'Margin' END, @due, @amount);
    IF @cash = 1
    BEGIN
        UPDATE {place}.customer_account SET ca_bal = ca_bal + @amount WHERE ca_id = @account;
        INSERT INTO {place}.cash_transaction (ct_t_id, ct_dts, ct_amt, ct_name)
            VALUES (@number, @entered, @amount, @what);
    END;
    -- The broker comes last: many accounts have the same one.
    UPDATE {place}.broker
        SET b_comm_total = b_comm_total + @commission, b_num_trades = b_num_trades + 1
        WHERE b_id = @broker_id;
    COMMIT TRANSACTION;
    SELECT @changes AS changes, @commission AS commission, @tax AS tax, @amount AS amount;
END;
GO
