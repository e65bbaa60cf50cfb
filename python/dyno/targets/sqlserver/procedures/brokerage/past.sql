-- Trade-Lookup and Trade-Update: trades of the past.

-- Finds them: 1 by number, 2 of an account, 3 of a security; what is shown of each. Twenty fit into
-- 8,000 bytes; Babelfish 4.3 has no OUTPUT of varchar(max).
CREATE PROCEDURE {place}.dyno_past_trades
    @how int, @listed varchar(400), @account bigint, @symbol varchar(15), @since datetime2(6),
    @trades int OUTPUT, @numbers varchar(400) OUTPUT, @shown varchar(8000) OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @found TABLE (t_id bigint NOT NULL PRIMARY KEY, t_dts datetime2(6), line varchar(300));
    DECLARE @step int = 0, @count int, @number bigint;
    DECLARE @given nvarchar(402) = CONCAT('[', @listed, ']');

    IF @how = 1
    BEGIN
        SELECT @count = COUNT(*) FROM OPENJSON(@given);
        WHILE @step < @count
        BEGIN
            SET @number = CAST(JSON_VALUE(@given, CONCAT('$[', @step, ']')) AS bigint);
            INSERT INTO @found (t_id, line)
                SELECT t_id, CONCAT_WS('|', t_id, t_bid_price, t_exec_name, t_is_cash, tt_is_mrkt,
                    t_trade_price)
                FROM {place}.trade JOIN {place}.trade_type ON tt_id = t_tt_id
                WHERE t_id = @number;
            SET @step = @step + 1;
        END;
    END
    ELSE IF @how = 2
        INSERT INTO @found (t_id, t_dts, line)
            SELECT TOP (20) t_id, t_dts, CONCAT_WS('|', t_id, t_bid_price, t_exec_name, t_is_cash,
                t_trade_price)
            FROM {place}.trade WHERE t_ca_id = @account AND t_dts >= @since
            ORDER BY t_dts;
    ELSE
        INSERT INTO @found (t_id, t_dts, line)
            SELECT TOP (20) t_id, t_dts, CONCAT_WS('|', t_id, t_ca_id, t_exec_name, t_is_cash,
                t_trade_price, t_qty, t_dts, t_tt_id, tt_name, s_name)
            FROM {place}.trade
            JOIN {place}.trade_type ON tt_id = t_tt_id
            JOIN {place}.security ON s_symb = t_s_symb
            WHERE t_s_symb = @symbol AND t_dts >= @since
            ORDER BY t_dts;
    -- Two statements: the texts are in different orders.
    SELECT @trades = COUNT(*), @numbers = STRING_AGG(t_id, ',') WITHIN GROUP (ORDER BY t_id)
        FROM @found;
    SELECT @shown = STRING_AGG(line, ';') WITHIN GROUP (ORDER BY t_dts, t_id) FROM @found;
END;
GO

-- The settlement, payment and history of trades.
CREATE PROCEDURE {place}.dyno_trade_details
    @trades int, @numbers varchar(400), @details varchar(8000) OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @step int = 0, @number bigint;
    DECLARE @settled varchar(80), @paid varchar(200), @story varchar(200);
    DECLARE @given nvarchar(402) = CONCAT('[', @numbers, ']');

    WHILE @step < @trades
    BEGIN
        SET @number = CAST(JSON_VALUE(@given, CONCAT('$[', @step, ']')) AS bigint);
        SELECT @settled = NULL, @paid = NULL;
        SELECT @settled = CONCAT_WS('|', se_amt, se_cash_due_date, se_cash_type)
            FROM {place}.settlement WHERE se_t_id = @number;
        SELECT @paid = CONCAT_WS('|', ct_amt, ct_dts, ct_name)
            FROM {place}.cash_transaction WHERE ct_t_id = @number;
        SELECT @story = STRING_AGG(CONCAT_WS('|', th_dts, th_st_id), '|')
                WITHIN GROUP (ORDER BY th_dts)
            FROM (
                SELECT TOP (3) th_dts, th_st_id FROM {place}.trade_history
                WHERE th_t_id = @number ORDER BY th_dts
            ) AS picked;
        SET @details = CONCAT_WS(';', @details, @settled, @paid, @story);
        SET @step = @step + 1;
    END;
END;
GO

CREATE PROCEDURE {place}.dyno_trade_lookup
    -- 1 by number, 2 of an account, 3 of a security, 4 the holdings of an account's first trade.
    @how int, @listed varchar(400), @account bigint, @symbol varchar(15), @since datetime2(6)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @trades int = 0, @number bigint, @numbers varchar(400);
    DECLARE @shown varchar(8000), @details varchar(8000);

    BEGIN TRANSACTION;
    IF @how = 4
    BEGIN
        SELECT TOP (1) @number = t_id FROM {place}.trade
            WHERE t_ca_id = @account AND t_dts >= @since ORDER BY t_dts;
        IF @number IS NOT NULL
            SELECT @trades = COUNT(*),
                    @shown = STRING_AGG(CONCAT_WS('|', hh_h_t_id, hh_t_id, hh_before_qty,
                        hh_after_qty), ';')
                FROM (
                    SELECT TOP (20) hh_h_t_id, hh_t_id, hh_before_qty, hh_after_qty
                    FROM {place}.holding_history WHERE hh_h_t_id IN (
                        SELECT hh_h_t_id FROM {place}.holding_history WHERE hh_t_id = @number)
                ) AS picked;
    END
    ELSE
    BEGIN
        EXECUTE {place}.dyno_past_trades @how, @listed, @account, @symbol, @since,
            @trades OUTPUT, @numbers OUTPUT, @shown OUTPUT;
        EXECUTE {place}.dyno_trade_details @trades, @numbers, @details OUTPUT;
    END;
    COMMIT TRANSACTION;
    SELECT @trades AS trades, CONCAT_WS(';', CAST(@shown AS varchar(max)), @details) AS shown;
END;
GO

CREATE PROCEDURE {place}.dyno_trade_update
    -- 1 by number, 2 of an account, 3 of a security.
    @how int, @listed varchar(400), @account bigint, @symbol varchar(15), @since datetime2(6)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @trades int, @step int = 0, @number bigint, @numbers varchar(400);
    DECLARE @given nvarchar(402), @word varchar(100), @shown varchar(8000), @details varchar(8000);

    BEGIN TRANSACTION;
    -- In ascending order: two updates must not take the locks of two trades in different orders.
    EXECUTE {place}.dyno_past_trades @how, @listed, @account, @symbol, @since,
        @trades OUTPUT, @numbers OUTPUT, @shown OUTPUT;
    SET @given = CONCAT('[', @numbers, ']');
    -- Each change is undone by the next. The texts are compared as columns: a variable has the
    -- collation of the database, which may ignore case.
    WHILE @step < @trades
    BEGIN
        SET @number = CAST(JSON_VALUE(@given, CONCAT('$[', @step, ']')) AS bigint);
        SET @word = NULL;
        IF @how = 1
            UPDATE {place}.trade SET t_exec_name = CASE
                    WHEN CHARINDEX(' X ', t_exec_name) > 0
                        THEN STUFF(t_exec_name, CHARINDEX(' X ', t_exec_name), 3, ' ')
                    WHEN CHARINDEX(' ', t_exec_name) > 0
                        THEN STUFF(t_exec_name, CHARINDEX(' ', t_exec_name), 1, ' X ')
                    ELSE t_exec_name END
                WHERE t_id = @number;
        ELSE IF @how = 2
        BEGIN
            SELECT @word = se_cash_type FROM {place}.settlement WHERE se_t_id = @number;
            IF @word IS NOT NULL
                UPDATE {place}.settlement SET se_cash_type = CASE
                        WHEN RIGHT(se_cash_type, 8) = ' Account'
                            THEN LEFT(se_cash_type, LEN(se_cash_type) - 8)
                        ELSE CONCAT(se_cash_type, ' Account') END
                    WHERE se_t_id = @number;
        END
        ELSE
        BEGIN
            SELECT @word = ct_name FROM {place}.cash_transaction WHERE ct_t_id = @number;
            -- A trade on margin has no payment.
            IF @word IS NOT NULL
                UPDATE {place}.cash_transaction SET ct_name = CASE
                        WHEN CHARINDEX(' shares of ', ct_name) > 0 THEN STUFF(
                            ct_name, CHARINDEX(' shares of ', ct_name), 11, ' Shares of ')
                        WHEN CHARINDEX(' Shares of ', ct_name) > 0 THEN STUFF(
                            ct_name, CHARINDEX(' Shares of ', ct_name), 11, ' shares of ')
                        ELSE ct_name END
                    WHERE ct_t_id = @number;
        END;
        SET @step = @step + 1;
    END;
    EXECUTE {place}.dyno_trade_details @trades, @numbers, @details OUTPUT;
    COMMIT TRANSACTION;
    SELECT @trades AS trades, CONCAT_WS(';', CAST(@shown AS varchar(max)), @details) AS shown;
END;
GO
