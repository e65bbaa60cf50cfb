-- The transactions of the TPC-C-derived workload, as `dyno run tpcc --mode procedure` calls them.
--
-- They run the statements of the driver's client mode (crates/dyno-drive/src/workloads/tpcc) in its
-- order, so that the two modes differ in where a transaction is programmed and in nothing else. What
-- a screen would show is returned as one row, lists as one text. A call is a transaction of its own:
-- it commits before it returns the row, and an error rolls it back (XACT_ABORT). Every table is named
-- with its schema.
--
-- An order's lines come as a text, which JSON functions cut: OPENJSON numbers the entries, and
-- JSON_VALUE finds one by its number. STRING_SPLIT numbers them only since SQL Server 2022.
--
-- What an UPDATE changes is read by a SELECT of the locked row. UPDATE with variables would do both,
-- but Babelfish 4.3, on which these are tested, does not run it.

CREATE PROCEDURE {place}.dyno_new_order
    @wh int, @dist int, @cust int, @entered datetime2(6),
    -- Item, warehouse and quantity of each line; the lines' numbers in the order of their locks.
    @entered_lines varchar(400), @lock_order varchar(50)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @order_id int, @step int = 0, @line_count int, @all_local int = 1, @unknown int = 0;
    DECLARE @number int, @item_id int, @supplier int, @pieces int, @in_stock int;
    DECLARE @discount decimal(4, 4), @wh_tax decimal(4, 4), @dist_tax decimal(4, 4);
    DECLARE @price decimal(5, 2), @amount decimal(6, 2), @goods decimal(12, 2);
    DECLARE @total decimal(22, 10), @credit char(2), @last_name varchar(16);
    DECLARE @item_name varchar(24), @dist_text char(24), @item_text varchar(50);
    DECLARE @stock_text varchar(50), @problem nvarchar(200), @shown varchar(2000);
    DECLARE @given nvarchar(402) = CONCAT('[', @entered_lines, ']');
    DECLARE @lines TABLE (
        step int NOT NULL PRIMARY KEY, number int NOT NULL, item_id int NOT NULL,
        supplier int NOT NULL, pieces int NOT NULL, amount decimal(6, 2), dist_text char(24),
        shown varchar(100)
    );

    INSERT INTO @lines (step, number, item_id, supplier, pieces)
        SELECT CAST([key] AS int), CAST([value] AS int),
            CAST(JSON_VALUE(@given, CONCAT('$[', 3 * CAST([value] AS int) - 3, ']')) AS int),
            CAST(JSON_VALUE(@given, CONCAT('$[', 3 * CAST([value] AS int) - 2, ']')) AS int),
            CAST(JSON_VALUE(@given, CONCAT('$[', 3 * CAST([value] AS int) - 1, ']')) AS int)
        FROM OPENJSON(CONCAT('[', @lock_order, ']'));
    SET @line_count = @@ROWCOUNT;

    BEGIN TRANSACTION;
    SELECT @wh_tax = w_tax FROM {place}.warehouse WHERE w_id = @wh;
    SELECT @discount = c_discount, @last_name = c_last, @credit = c_credit
        FROM {place}.customer WHERE c_w_id = @wh AND c_d_id = @dist AND c_id = @cust;
    IF @wh_tax IS NULL OR @discount IS NULL
    BEGIN
        SET @problem = CONCAT('warehouse ', @wh, ' or its customer ', @cust, ' of district ', @dist,
            ' is missing: check that the data is complete and the number of warehouses correct');
        THROW 50001, @problem, 1;
    END;

    WHILE @step < @line_count
    BEGIN
        SELECT @number = number, @item_id = item_id, @supplier = supplier, @pieces = pieces
            FROM @lines WHERE step = @step;
        IF @supplier <> @wh SET @all_local = 0;
        SET @price = NULL;
        SELECT @price = i_price, @item_name = i_name, @item_text = i_data
            FROM {place}.item WHERE i_id = @item_id;
        IF @price IS NULL
            SET @unknown = 1;
        ELSE
        BEGIN
            UPDATE {place}.stock SET
                    s_quantity = CASE WHEN s_quantity >= @pieces + 10
                        THEN s_quantity - @pieces ELSE s_quantity - @pieces + 91 END,
                    s_ytd = s_ytd + @pieces,
                    s_order_cnt = s_order_cnt + 1,
                    s_remote_cnt = s_remote_cnt + CASE WHEN @supplier <> @wh THEN 1 ELSE 0 END
                WHERE s_w_id = @supplier AND s_i_id = @item_id;
            SET @in_stock = NULL;
            SELECT @in_stock = s_quantity, @stock_text = s_data,
                    @dist_text = CASE @dist
                        WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
                        WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06
                        WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09
                        ELSE s_dist_10 END
                FROM {place}.stock WHERE s_w_id = @supplier AND s_i_id = @item_id;
            IF @in_stock IS NULL
            BEGIN
                SET @problem = CONCAT('item ', @item_id, ' has no stock in warehouse ', @supplier,
                    ': check that the data is complete and the number of warehouses correct');
                THROW 50001, @problem, 1;
            END;
            SET @amount = @pieces * @price;
            -- The item is of the original brand if both texts say so.
            UPDATE @lines SET amount = @amount, dist_text = @dist_text,
                    shown = CONCAT_WS('|', @item_name, @in_stock,
                        CASE WHEN CHARINDEX('ORIGINAL', @item_text) > 0
                            AND CHARINDEX('ORIGINAL', @stock_text) > 0 THEN 'B' ELSE 'G' END,
                        @price, @amount)
                WHERE step = @step;
        END;
        SET @step = @step + 1;
    END;

    UPDATE {place}.district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = @wh AND d_id = @dist;
    SELECT @order_id = d_next_o_id - 1, @dist_tax = d_tax
        FROM {place}.district WHERE d_w_id = @wh AND d_id = @dist;

    IF @unknown = 1
    BEGIN
        ROLLBACK TRANSACTION;
        SET @order_id = NULL;
    END
    ELSE
    BEGIN
        INSERT INTO {place}.orders
                (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
            VALUES (@order_id, @dist, @wh, @cust, @entered, @line_count, @all_local);
        INSERT INTO {place}.new_order (no_o_id, no_d_id, no_w_id) VALUES (@order_id, @dist, @wh);
        INSERT INTO {place}.order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id,
                ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info)
            SELECT @order_id, @dist, @wh, number, item_id, supplier, pieces, amount, dist_text
            FROM @lines;
        -- A product keeps all its digits only if its operands have few: the sum has 38.
        SELECT @goods = SUM(amount), @shown = STRING_AGG(shown, ';') WITHIN GROUP (ORDER BY number)
            FROM @lines;
        SET @total = @goods * (1 - @discount) * (1 + @wh_tax + @dist_tax);
        COMMIT TRANSACTION;
    END;
    SELECT @order_id AS order_id, @last_name AS last_name, @credit AS credit,
        @discount AS discount, @wh_tax AS wh_tax, @dist_tax AS dist_tax, @total AS total,
        @shown AS shown;
END;
GO

CREATE PROCEDURE {place}.dyno_payment
    @wh int, @dist int, @home_wh int, @home_dist int,
    -- The customer by number or by last name; the other is null.
    @by_number int, @by_name varchar(16), @paid decimal(6, 2), @entered datetime2(6)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @cust int = @by_number, @passed int, @balance decimal(12, 2), @credit char(2);
    DECLARE @wh_name varchar(10), @dist_name varchar(10);
    DECLARE @wh_address varchar(80), @dist_address varchar(80);
    DECLARE @who varchar(300), @story varchar(200);

    BEGIN TRANSACTION;
    SELECT @wh_name = w_name,
            @wh_address = CONCAT_WS(',', w_street_1, w_street_2, w_city, w_state, w_zip)
        FROM {place}.warehouse WHERE w_id = @wh;
    SELECT @dist_name = d_name,
            @dist_address = CONCAT_WS(',', d_street_1, d_street_2, d_city, d_state, d_zip)
        FROM {place}.district WHERE d_w_id = @wh AND d_id = @dist;
    IF @by_number IS NULL
    BEGIN
        -- Of n customers of the name, by first name, the one at n/2, rounded up.
        SELECT @passed = (COUNT(*) - 1) / 2 FROM {place}.customer
            WHERE c_w_id = @home_wh AND c_d_id = @home_dist AND c_last = @by_name;
        SELECT @cust = c_id FROM {place}.customer
            WHERE c_w_id = @home_wh AND c_d_id = @home_dist AND c_last = @by_name
            ORDER BY c_first OFFSET @passed ROWS FETCH NEXT 1 ROWS ONLY;
    END;
    SELECT @credit = c_credit,
            @who = CONCAT_WS(',', c_first, c_middle, c_last, c_street_1, c_street_2, c_city,
                c_state, c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount)
        FROM {place}.customer WHERE c_w_id = @home_wh AND c_d_id = @home_dist AND c_id = @cust;
    IF @credit IS NULL OR @wh_name IS NULL OR @dist_name IS NULL
        THROW 50001, 'a customer, district or warehouse is missing: check that the data is complete and the number of warehouses correct', 1;

    UPDATE {place}.warehouse SET w_ytd = w_ytd + @paid WHERE w_id = @wh;
    UPDATE {place}.district SET d_ytd = d_ytd + @paid WHERE d_w_id = @wh AND d_id = @dist;
    IF @credit = 'BC'
    BEGIN
        UPDATE {place}.customer SET
                c_balance = c_balance - @paid,
                c_ytd_payment = c_ytd_payment + @paid,
                c_payment_cnt = c_payment_cnt + 1,
                c_data = LEFT(CONCAT(@cust, ' ', @home_dist, ' ', @home_wh, ' ', @dist, ' ', @wh,
                    ' ', @paid, ' | ', c_data), 500)
            WHERE c_w_id = @home_wh AND c_d_id = @home_dist AND c_id = @cust;
        SELECT @balance = c_balance, @story = LEFT(c_data, 200)
            FROM {place}.customer
            WHERE c_w_id = @home_wh AND c_d_id = @home_dist AND c_id = @cust;
    END
    ELSE
    BEGIN
        UPDATE {place}.customer SET
                c_balance = c_balance - @paid,
                c_ytd_payment = c_ytd_payment + @paid,
                c_payment_cnt = c_payment_cnt + 1
            WHERE c_w_id = @home_wh AND c_d_id = @home_dist AND c_id = @cust;
        SELECT @balance = c_balance
            FROM {place}.customer
            WHERE c_w_id = @home_wh AND c_d_id = @home_dist AND c_id = @cust;
    END;
    INSERT INTO {place}.history
            (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
        VALUES (@cust, @home_dist, @home_wh, @dist, @wh, @entered, @paid,
            CONCAT(@wh_name, '    ', @dist_name));
    COMMIT TRANSACTION;
    SELECT @cust AS cust, @balance AS balance,
        CONCAT(@wh_address, ';', @dist_address) AS addresses, @who AS who, @story AS story;
END;
GO

CREATE PROCEDURE {place}.dyno_order_status
    -- The customer by number or by last name; the other is null.
    @wh int, @dist int, @by_number int, @by_name varchar(16)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @cust int = @by_number, @passed int, @order_id int, @carrier int;
    DECLARE @balance decimal(12, 2), @entered datetime2(6);
    DECLARE @who varchar(40), @shown varchar(2000);

    BEGIN TRANSACTION;
    IF @by_number IS NULL
    BEGIN
        SELECT @passed = (COUNT(*) - 1) / 2 FROM {place}.customer
            WHERE c_w_id = @wh AND c_d_id = @dist AND c_last = @by_name;
        SELECT @cust = c_id FROM {place}.customer
            WHERE c_w_id = @wh AND c_d_id = @dist AND c_last = @by_name
            ORDER BY c_first OFFSET @passed ROWS FETCH NEXT 1 ROWS ONLY;
    END;
    SELECT @balance = c_balance, @who = CONCAT_WS(',', c_first, c_middle, c_last)
        FROM {place}.customer WHERE c_w_id = @wh AND c_d_id = @dist AND c_id = @cust;
    IF @balance IS NULL
        THROW 50001, 'a customer is missing: check that the data is complete and the number of warehouses correct', 1;
    SELECT TOP (1) @order_id = o_id, @carrier = o_carrier_id, @entered = o_entry_d
        FROM {place}.orders WHERE o_w_id = @wh AND o_d_id = @dist AND o_c_id = @cust
        ORDER BY o_id DESC;
    -- Every customer has an order in freshly loaded data; elsewhere none is a valid answer.
    IF @order_id IS NOT NULL
        SELECT @shown = STRING_AGG(CONCAT_WS('|', ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
                ol_delivery_d), ';')
            FROM {place}.order_line
            WHERE ol_w_id = @wh AND ol_d_id = @dist AND ol_o_id = @order_id;
    COMMIT TRANSACTION;
    SELECT @cust AS cust, @balance AS balance, @who AS who, @order_id AS order_id,
        @carrier AS carrier, @entered AS entered, @shown AS shown;
END;
GO

CREATE PROCEDURE {place}.dyno_delivery
    @wh int, @by_carrier int, @entered datetime2(6)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @dist int = 0, @delivered int = 0, @order_id int, @cust int, @taken int;
    DECLARE @charge decimal(12, 2), @problem nvarchar(200);

    BEGIN TRANSACTION;
    -- Client mode does each step for all districts, which saves it round trips; here each district
    -- is done with before the next.
    WHILE @dist < 10
    BEGIN
        SET @dist = @dist + 1;
        SET @taken = 0;
        -- The row stays locked, so that a concurrent Delivery waits for it and takes the next one.
        -- Should a server not lock it, the other has deleted it, and the next one is looked for.
        WHILE @taken = 0
        BEGIN
            SET @order_id = NULL;
            SELECT TOP (1) @order_id = no_o_id FROM {place}.new_order WITH (UPDLOCK)
                WHERE no_w_id = @wh AND no_d_id = @dist ORDER BY no_o_id;
            -- A district where everything is delivered is skipped.
            IF @order_id IS NULL BREAK;
            DELETE FROM {place}.new_order
                WHERE no_w_id = @wh AND no_d_id = @dist AND no_o_id = @order_id;
            SET @taken = @@ROWCOUNT;
        END;
        IF @taken = 0 CONTINUE;
        SET @cust = NULL;
        UPDATE {place}.orders SET o_carrier_id = @by_carrier
            WHERE o_w_id = @wh AND o_d_id = @dist AND o_id = @order_id;
        SELECT @cust = o_c_id
            FROM {place}.orders WHERE o_w_id = @wh AND o_d_id = @dist AND o_id = @order_id;
        IF @cust IS NULL
        BEGIN
            SET @problem = CONCAT('order ', @order_id, ' of district ', @dist, ', warehouse ', @wh,
                ' awaits delivery but has no row in orders: the data is not complete');
            THROW 50001, @problem, 1;
        END;
        UPDATE {place}.order_line SET ol_delivery_d = @entered
            WHERE ol_w_id = @wh AND ol_d_id = @dist AND ol_o_id = @order_id;
        SELECT @charge = COALESCE(SUM(ol_amount), 0)
            FROM {place}.order_line
            WHERE ol_w_id = @wh AND ol_d_id = @dist AND ol_o_id = @order_id;
        UPDATE {place}.customer
            SET c_balance = c_balance + @charge, c_delivery_cnt = c_delivery_cnt + 1
            WHERE c_w_id = @wh AND c_d_id = @dist AND c_id = @cust;
        SET @delivered = @delivered + 1;
    END;
    COMMIT TRANSACTION;
    SELECT @delivered AS delivered;
END;
GO

CREATE PROCEDURE {place}.dyno_stock_level
    @wh int, @dist int, @threshold int
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @next_id int, @low int, @problem nvarchar(200);

    BEGIN TRANSACTION;
    SELECT @next_id = d_next_o_id FROM {place}.district WHERE d_w_id = @wh AND d_id = @dist;
    IF @next_id IS NULL
    BEGIN
        SET @problem = CONCAT('warehouse ', @wh, ' is missing: check that the data is complete and ',
            'the number of warehouses correct');
        THROW 50001, @problem, 1;
    END;
    SELECT @low = COUNT(DISTINCT s_i_id)
        FROM {place}.order_line, {place}.stock
        WHERE ol_w_id = @wh AND ol_d_id = @dist AND ol_o_id >= @next_id - 20
            AND ol_o_id < @next_id AND s_w_id = @wh AND s_i_id = ol_i_id
            AND s_quantity < @threshold;
    COMMIT TRANSACTION;
    SELECT @low AS low;
END;
GO
