CREATE DATABASE [dyno_tpcc] COLLATE Latin1_General_100_BIN2_UTF8
GO
ALTER DATABASE [dyno_tpcc] SET RECOVERY SIMPLE, AUTO_CLOSE OFF, AUTO_SHRINK OFF
GO
USE [dyno_tpcc]
GO
EXEC sys.sp_addextendedproperty @name = N'dyno', @value = N'dyno:tpcc schema'
GO
ALTER DATABASE [dyno_tpcc] ADD FILEGROUP [dyno_f72353b3dc]
GO
EXEC [dyno_tpcc].sys.sp_addextendedproperty @name = N'dyno', @value = N'/mnt/a', @level0type = N'FILEGROUP', @level0name = N'dyno_f72353b3dc'
GO
ALTER DATABASE [dyno_tpcc] ADD FILE (NAME = N'dyno_f72353b3dc', FILENAME = N'/mnt/a/dyno_tpcc_dyno_f72353b3dc.ndf', SIZE = 64MB, FILEGROWTH = 64MB) TO FILEGROUP [dyno_f72353b3dc]
GO
CREATE TABLE [dbo].[item] ([i_id] int NOT NULL, [i_im_id] int NOT NULL, [i_name] varchar(24) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [i_price] decimal(5,2) NOT NULL, [i_data] varchar(50) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL) ON [dyno_f72353b3dc]
GO
CREATE TABLE [dbo].[warehouse] ([w_id] int NOT NULL, [w_name] varchar(10) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [w_street_1] varchar(20) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [w_street_2] varchar(20) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [w_city] varchar(20) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [w_state] char(2) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [w_zip] char(9) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [w_tax] decimal(4,4) NOT NULL, [w_ytd] decimal(14,2) NOT NULL) ON [dyno_f72353b3dc]
GO
CREATE TABLE [dbo].[district] ([d_id] int NOT NULL, [d_w_id] int NOT NULL, [d_name] varchar(10) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [d_street_1] varchar(20) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [d_street_2] varchar(20) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [d_city] varchar(20) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [d_state] char(2) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [d_zip] char(9) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [d_tax] decimal(4,4) NOT NULL, [d_ytd] decimal(14,2) NOT NULL, [d_next_o_id] int NOT NULL) ON [dyno_f72353b3dc]
GO
CREATE TABLE [dbo].[customer] ([c_id] int NOT NULL, [c_d_id] int NOT NULL, [c_w_id] int NOT NULL, [c_first] varchar(16) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [c_middle] char(2) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [c_last] varchar(16) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [c_street_1] varchar(20) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [c_street_2] varchar(20) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [c_city] varchar(20) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [c_state] char(2) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [c_zip] char(9) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [c_phone] char(16) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [c_since] datetime2(6) NOT NULL, [c_credit] char(2) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [c_credit_lim] decimal(12,2) NOT NULL, [c_discount] decimal(4,4) NOT NULL, [c_balance] decimal(12,2) NOT NULL, [c_ytd_payment] decimal(12,2) NOT NULL, [c_payment_cnt] int NOT NULL, [c_delivery_cnt] int NOT NULL, [c_data] varchar(500) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL) ON [dyno_f72353b3dc]
GO
CREATE TABLE [dbo].[history] ([h_c_id] int NOT NULL, [h_c_d_id] int NOT NULL, [h_c_w_id] int NOT NULL, [h_d_id] int NOT NULL, [h_w_id] int NOT NULL, [h_date] datetime2(6) NOT NULL, [h_amount] decimal(6,2) NOT NULL, [h_data] varchar(24) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL) ON [dyno_f72353b3dc]
GO
CREATE TABLE [dbo].[stock] ([s_i_id] int NOT NULL, [s_w_id] int NOT NULL, [s_quantity] int NOT NULL, [s_dist_01] char(24) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [s_dist_02] char(24) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [s_dist_03] char(24) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [s_dist_04] char(24) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [s_dist_05] char(24) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [s_dist_06] char(24) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [s_dist_07] char(24) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [s_dist_08] char(24) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [s_dist_09] char(24) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [s_dist_10] char(24) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [s_ytd] int NOT NULL, [s_order_cnt] int NOT NULL, [s_remote_cnt] int NOT NULL, [s_data] varchar(50) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL) ON [dyno_f72353b3dc]
GO
CREATE TABLE [dbo].[orders] ([o_id] int NOT NULL, [o_d_id] int NOT NULL, [o_w_id] int NOT NULL, [o_c_id] int NOT NULL, [o_entry_d] datetime2(6) NOT NULL, [o_carrier_id] int NULL, [o_ol_cnt] int NOT NULL, [o_all_local] int NOT NULL) ON [dyno_f72353b3dc]
GO
CREATE TABLE [dbo].[new_order] ([no_o_id] int NOT NULL, [no_d_id] int NOT NULL, [no_w_id] int NOT NULL) ON [dyno_f72353b3dc]
GO
CREATE TABLE [dbo].[order_line] ([ol_o_id] int NOT NULL, [ol_d_id] int NOT NULL, [ol_w_id] int NOT NULL, [ol_number] int NOT NULL, [ol_i_id] int NOT NULL, [ol_supply_w_id] int NOT NULL, [ol_delivery_d] datetime2(6) NULL, [ol_quantity] int NOT NULL, [ol_amount] decimal(6,2) NOT NULL, [ol_dist_info] char(24) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL) ON [dyno_f72353b3dc]
GO
USE [dyno_tpcc]; ALTER TABLE [dbo].[item] ADD CONSTRAINT [item_pkey] PRIMARY KEY CLUSTERED ([i_id])
GO
USE [dyno_tpcc]; ALTER TABLE [dbo].[warehouse] ADD CONSTRAINT [warehouse_pkey] PRIMARY KEY CLUSTERED ([w_id])
GO
USE [dyno_tpcc]; ALTER TABLE [dbo].[district] ADD CONSTRAINT [district_pkey] PRIMARY KEY CLUSTERED ([d_w_id], [d_id])
GO
USE [dyno_tpcc]; ALTER TABLE [dbo].[customer] ADD CONSTRAINT [customer_pkey] PRIMARY KEY CLUSTERED ([c_w_id], [c_d_id], [c_id])
GO
USE [dyno_tpcc]; ALTER TABLE [dbo].[stock] ADD CONSTRAINT [stock_pkey] PRIMARY KEY CLUSTERED ([s_w_id], [s_i_id])
GO
USE [dyno_tpcc]; ALTER TABLE [dbo].[orders] ADD CONSTRAINT [orders_pkey] PRIMARY KEY CLUSTERED ([o_w_id], [o_d_id], [o_id])
GO
USE [dyno_tpcc]; ALTER TABLE [dbo].[new_order] ADD CONSTRAINT [new_order_pkey] PRIMARY KEY CLUSTERED ([no_w_id], [no_d_id], [no_o_id])
GO
USE [dyno_tpcc]; ALTER TABLE [dbo].[order_line] ADD CONSTRAINT [order_line_pkey] PRIMARY KEY CLUSTERED ([ol_w_id], [ol_d_id], [ol_o_id], [ol_number])
GO
USE [dyno_tpcc]; CREATE INDEX [customer_by_name] ON [dbo].[customer] ([c_w_id], [c_d_id], [c_last], [c_first])
GO
USE [dyno_tpcc]; CREATE INDEX [orders_by_customer] ON [dbo].[orders] ([o_w_id], [o_d_id], [o_c_id], [o_id])
GO
USE [dyno_tpcc]; CREATE STATISTICS [i_im_id] ON [dbo].[item] ([i_im_id]); CREATE STATISTICS [i_name] ON [dbo].[item] ([i_name]); CREATE STATISTICS [i_price] ON [dbo].[item] ([i_price]); CREATE STATISTICS [i_data] ON [dbo].[item] ([i_data])
GO
USE [dyno_tpcc]; CREATE STATISTICS [w_name] ON [dbo].[warehouse] ([w_name]); CREATE STATISTICS [w_street_1] ON [dbo].[warehouse] ([w_street_1]); CREATE STATISTICS [w_street_2] ON [dbo].[warehouse] ([w_street_2]); CREATE STATISTICS [w_city] ON [dbo].[warehouse] ([w_city]); CREATE STATISTICS [w_state] ON [dbo].[warehouse] ([w_state]); CREATE STATISTICS [w_zip] ON [dbo].[warehouse] ([w_zip]); CREATE STATISTICS [w_tax] ON [dbo].[warehouse] ([w_tax]); CREATE STATISTICS [w_ytd] ON [dbo].[warehouse] ([w_ytd])
GO
USE [dyno_tpcc]; CREATE STATISTICS [d_id] ON [dbo].[district] ([d_id]); CREATE STATISTICS [d_name] ON [dbo].[district] ([d_name]); CREATE STATISTICS [d_street_1] ON [dbo].[district] ([d_street_1]); CREATE STATISTICS [d_street_2] ON [dbo].[district] ([d_street_2]); CREATE STATISTICS [d_city] ON [dbo].[district] ([d_city]); CREATE STATISTICS [d_state] ON [dbo].[district] ([d_state]); CREATE STATISTICS [d_zip] ON [dbo].[district] ([d_zip]); CREATE STATISTICS [d_tax] ON [dbo].[district] ([d_tax]); CREATE STATISTICS [d_ytd] ON [dbo].[district] ([d_ytd]); CREATE STATISTICS [d_next_o_id] ON [dbo].[district] ([d_next_o_id])
GO
USE [dyno_tpcc]; CREATE STATISTICS [c_id] ON [dbo].[customer] ([c_id]); CREATE STATISTICS [c_d_id] ON [dbo].[customer] ([c_d_id]); CREATE STATISTICS [c_first] ON [dbo].[customer] ([c_first]); CREATE STATISTICS [c_middle] ON [dbo].[customer] ([c_middle]); CREATE STATISTICS [c_last] ON [dbo].[customer] ([c_last]); CREATE STATISTICS [c_street_1] ON [dbo].[customer] ([c_street_1]); CREATE STATISTICS [c_street_2] ON [dbo].[customer] ([c_street_2]); CREATE STATISTICS [c_city] ON [dbo].[customer] ([c_city]); CREATE STATISTICS [c_state] ON [dbo].[customer] ([c_state]); CREATE STATISTICS [c_zip] ON [dbo].[customer] ([c_zip]); CREATE STATISTICS [c_phone] ON [dbo].[customer] ([c_phone]); CREATE STATISTICS [c_since] ON [dbo].[customer] ([c_since]); CREATE STATISTICS [c_credit] ON [dbo].[customer] ([c_credit]); CREATE STATISTICS [c_credit_lim] ON [dbo].[customer] ([c_credit_lim]); CREATE STATISTICS [c_discount] ON [dbo].[customer] ([c_discount]); CREATE STATISTICS [c_balance] ON [dbo].[customer] ([c_balance]); CREATE STATISTICS [c_ytd_payment] ON [dbo].[customer] ([c_ytd_payment]); CREATE STATISTICS [c_payment_cnt] ON [dbo].[customer] ([c_payment_cnt]); CREATE STATISTICS [c_delivery_cnt] ON [dbo].[customer] ([c_delivery_cnt]); CREATE STATISTICS [c_data] ON [dbo].[customer] ([c_data])
GO
USE [dyno_tpcc]; CREATE STATISTICS [h_c_id] ON [dbo].[history] ([h_c_id]); CREATE STATISTICS [h_c_d_id] ON [dbo].[history] ([h_c_d_id]); CREATE STATISTICS [h_c_w_id] ON [dbo].[history] ([h_c_w_id]); CREATE STATISTICS [h_d_id] ON [dbo].[history] ([h_d_id]); CREATE STATISTICS [h_w_id] ON [dbo].[history] ([h_w_id]); CREATE STATISTICS [h_date] ON [dbo].[history] ([h_date]); CREATE STATISTICS [h_amount] ON [dbo].[history] ([h_amount]); CREATE STATISTICS [h_data] ON [dbo].[history] ([h_data])
GO
USE [dyno_tpcc]; CREATE STATISTICS [s_i_id] ON [dbo].[stock] ([s_i_id]); CREATE STATISTICS [s_quantity] ON [dbo].[stock] ([s_quantity]); CREATE STATISTICS [s_dist_01] ON [dbo].[stock] ([s_dist_01]); CREATE STATISTICS [s_dist_02] ON [dbo].[stock] ([s_dist_02]); CREATE STATISTICS [s_dist_03] ON [dbo].[stock] ([s_dist_03]); CREATE STATISTICS [s_dist_04] ON [dbo].[stock] ([s_dist_04]); CREATE STATISTICS [s_dist_05] ON [dbo].[stock] ([s_dist_05]); CREATE STATISTICS [s_dist_06] ON [dbo].[stock] ([s_dist_06]); CREATE STATISTICS [s_dist_07] ON [dbo].[stock] ([s_dist_07]); CREATE STATISTICS [s_dist_08] ON [dbo].[stock] ([s_dist_08]); CREATE STATISTICS [s_dist_09] ON [dbo].[stock] ([s_dist_09]); CREATE STATISTICS [s_dist_10] ON [dbo].[stock] ([s_dist_10]); CREATE STATISTICS [s_ytd] ON [dbo].[stock] ([s_ytd]); CREATE STATISTICS [s_order_cnt] ON [dbo].[stock] ([s_order_cnt]); CREATE STATISTICS [s_remote_cnt] ON [dbo].[stock] ([s_remote_cnt]); CREATE STATISTICS [s_data] ON [dbo].[stock] ([s_data])
GO
USE [dyno_tpcc]; CREATE STATISTICS [o_id] ON [dbo].[orders] ([o_id]); CREATE STATISTICS [o_d_id] ON [dbo].[orders] ([o_d_id]); CREATE STATISTICS [o_c_id] ON [dbo].[orders] ([o_c_id]); CREATE STATISTICS [o_entry_d] ON [dbo].[orders] ([o_entry_d]); CREATE STATISTICS [o_carrier_id] ON [dbo].[orders] ([o_carrier_id]); CREATE STATISTICS [o_ol_cnt] ON [dbo].[orders] ([o_ol_cnt]); CREATE STATISTICS [o_all_local] ON [dbo].[orders] ([o_all_local])
GO
USE [dyno_tpcc]; CREATE STATISTICS [no_o_id] ON [dbo].[new_order] ([no_o_id]); CREATE STATISTICS [no_d_id] ON [dbo].[new_order] ([no_d_id])
GO
USE [dyno_tpcc]; CREATE STATISTICS [ol_o_id] ON [dbo].[order_line] ([ol_o_id]); CREATE STATISTICS [ol_d_id] ON [dbo].[order_line] ([ol_d_id]); CREATE STATISTICS [ol_number] ON [dbo].[order_line] ([ol_number]); CREATE STATISTICS [ol_i_id] ON [dbo].[order_line] ([ol_i_id]); CREATE STATISTICS [ol_supply_w_id] ON [dbo].[order_line] ([ol_supply_w_id]); CREATE STATISTICS [ol_delivery_d] ON [dbo].[order_line] ([ol_delivery_d]); CREATE STATISTICS [ol_quantity] ON [dbo].[order_line] ([ol_quantity]); CREATE STATISTICS [ol_amount] ON [dbo].[order_line] ([ol_amount]); CREATE STATISTICS [ol_dist_info] ON [dbo].[order_line] ([ol_dist_info])
GO
