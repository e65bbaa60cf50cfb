CREATE DATABASE [dyno_brokerage] COLLATE Latin1_General_100_BIN2_UTF8
GO
ALTER DATABASE [dyno_brokerage] SET RECOVERY SIMPLE, AUTO_CLOSE OFF, AUTO_SHRINK OFF
GO
USE [dyno_brokerage]
GO
EXEC sys.sp_addextendedproperty @name = N'dyno', @value = N'dyno:brokerage schema'
GO
ALTER DATABASE [dyno_brokerage] ADD FILEGROUP [dyno_f72353b3dc]
GO
EXEC [dyno_brokerage].sys.sp_addextendedproperty @name = N'dyno', @value = N'/mnt/a', @level0type = N'FILEGROUP', @level0name = N'dyno_f72353b3dc'
GO
ALTER DATABASE [dyno_brokerage] ADD FILE (NAME = N'dyno_f72353b3dc', FILENAME = N'/mnt/a/dyno_brokerage_dyno_f72353b3dc.ndf', SIZE = 64MB, FILEGROWTH = 64MB) TO FILEGROUP [dyno_f72353b3dc]
GO
ALTER DATABASE [dyno_brokerage] ADD FILEGROUP [dyno_a01535755c]
GO
EXEC [dyno_brokerage].sys.sp_addextendedproperty @name = N'dyno', @value = N'/mnt/b', @level0type = N'FILEGROUP', @level0name = N'dyno_a01535755c'
GO
ALTER DATABASE [dyno_brokerage] ADD FILE (NAME = N'dyno_a01535755c', FILENAME = N'/mnt/b/dyno_brokerage_dyno_a01535755c.ndf', SIZE = 64MB, FILEGROWTH = 64MB) TO FILEGROUP [dyno_a01535755c]
GO
ALTER DATABASE [dyno_brokerage] ADD FILEGROUP [dyno_c8de20eeaa]
GO
EXEC [dyno_brokerage].sys.sp_addextendedproperty @name = N'dyno', @value = N'/mnt/c', @level0type = N'FILEGROUP', @level0name = N'dyno_c8de20eeaa'
GO
ALTER DATABASE [dyno_brokerage] ADD FILE (NAME = N'dyno_c8de20eeaa', FILENAME = N'/mnt/c/dyno_brokerage_dyno_c8de20eeaa.ndf', SIZE = 64MB, FILEGROWTH = 64MB) TO FILEGROUP [dyno_c8de20eeaa]
GO
ALTER DATABASE [dyno_brokerage] ADD FILEGROUP [dyno_4a5eb65000]
GO
EXEC [dyno_brokerage].sys.sp_addextendedproperty @name = N'dyno', @value = N'/mnt/d', @level0type = N'FILEGROUP', @level0name = N'dyno_4a5eb65000'
GO
ALTER DATABASE [dyno_brokerage] ADD FILE (NAME = N'dyno_4a5eb65000', FILENAME = N'/mnt/d/dyno_brokerage_dyno_4a5eb65000.ndf', SIZE = 64MB, FILEGROWTH = 64MB) TO FILEGROUP [dyno_4a5eb65000]
GO
ALTER DATABASE [dyno_brokerage] ADD FILEGROUP [dyno_fc6fb7174c]
GO
EXEC [dyno_brokerage].sys.sp_addextendedproperty @name = N'dyno', @value = N'/mnt/e', @level0type = N'FILEGROUP', @level0name = N'dyno_fc6fb7174c'
GO
ALTER DATABASE [dyno_brokerage] ADD FILE (NAME = N'dyno_fc6fb7174c', FILENAME = N'/mnt/e/dyno_brokerage_dyno_fc6fb7174c.ndf', SIZE = 64MB, FILEGROWTH = 64MB) TO FILEGROUP [dyno_fc6fb7174c]
GO
ALTER DATABASE [dyno_brokerage] ADD FILEGROUP [dyno_a9edd8f73e]
GO
EXEC [dyno_brokerage].sys.sp_addextendedproperty @name = N'dyno', @value = N'/mnt/f', @level0type = N'FILEGROUP', @level0name = N'dyno_a9edd8f73e'
GO
ALTER DATABASE [dyno_brokerage] ADD FILE (NAME = N'dyno_a9edd8f73e', FILENAME = N'/mnt/f/dyno_brokerage_dyno_a9edd8f73e.ndf', SIZE = 64MB, FILEGROWTH = 64MB) TO FILEGROUP [dyno_a9edd8f73e]
GO
CREATE TABLE [dbo].[status_type] ([st_id] char(4) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [st_name] varchar(10) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[taxrate] ([tx_id] char(4) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [tx_name] varchar(50) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [tx_rate] decimal(6,5) NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[zip_code] ([zc_code] varchar(12) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [zc_town] varchar(80) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [zc_div] varchar(80) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[address] ([ad_id] bigint NOT NULL, [ad_line1] varchar(80) COLLATE Latin1_General_100_BIN2_UTF8 NULL, [ad_line2] varchar(80) COLLATE Latin1_General_100_BIN2_UTF8 NULL, [ad_zc_code] varchar(12) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [ad_ctry] varchar(80) COLLATE Latin1_General_100_BIN2_UTF8 NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[sector] ([sc_id] char(2) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [sc_name] varchar(30) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[industry] ([in_id] char(2) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [in_name] varchar(50) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [in_sc_id] char(2) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[exchange] ([ex_id] varchar(6) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [ex_name] varchar(100) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [ex_num_symb] int NOT NULL, [ex_open] int NOT NULL, [ex_close] int NOT NULL, [ex_desc] varchar(150) COLLATE Latin1_General_100_BIN2_UTF8 NULL, [ex_ad_id] bigint NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[company] ([co_id] bigint NOT NULL, [co_st_id] char(4) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [co_name] varchar(60) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [co_in_id] char(2) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [co_sp_rate] varchar(4) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [co_ceo] varchar(46) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [co_ad_id] bigint NOT NULL, [co_desc] varchar(150) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [co_open_date] date NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[company_competitor] ([cp_co_id] bigint NOT NULL, [cp_comp_co_id] bigint NOT NULL, [cp_in_id] char(2) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[security] ([s_symb] varchar(15) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [s_issue] varchar(6) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [s_st_id] char(4) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [s_name] varchar(70) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [s_ex_id] varchar(6) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [s_co_id] bigint NOT NULL, [s_num_out] bigint NOT NULL, [s_start_date] date NOT NULL, [s_exch_date] date NOT NULL, [s_pe] decimal(10,2) NOT NULL, [s_52wk_high] decimal(8,2) NOT NULL, [s_52wk_high_date] date NOT NULL, [s_52wk_low] decimal(8,2) NOT NULL, [s_52wk_low_date] date NOT NULL, [s_dividend] decimal(10,2) NOT NULL, [s_yield] decimal(5,2) NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[daily_market] ([dm_date] date NOT NULL, [dm_s_symb] varchar(15) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [dm_close] decimal(8,2) NOT NULL, [dm_high] decimal(8,2) NOT NULL, [dm_low] decimal(8,2) NOT NULL, [dm_vol] bigint NOT NULL) ON [dyno_a9edd8f73e]
GO
CREATE TABLE [dbo].[financial] ([fi_co_id] bigint NOT NULL, [fi_year] int NOT NULL, [fi_qtr] int NOT NULL, [fi_qtr_start_date] date NOT NULL, [fi_revenue] decimal(15,2) NOT NULL, [fi_net_earn] decimal(15,2) NOT NULL, [fi_basic_eps] decimal(10,2) NOT NULL, [fi_dilut_eps] decimal(10,2) NOT NULL, [fi_margin] decimal(10,2) NOT NULL, [fi_inventory] decimal(15,2) NOT NULL, [fi_assets] decimal(15,2) NOT NULL, [fi_liability] decimal(15,2) NOT NULL, [fi_out_basic] bigint NOT NULL, [fi_out_dilut] bigint NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[last_trade] ([lt_s_symb] varchar(15) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [lt_dts] datetime2(6) NOT NULL, [lt_price] decimal(8,2) NOT NULL, [lt_open_price] decimal(8,2) NOT NULL, [lt_vol] bigint NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[news_item] ([ni_id] bigint NOT NULL, [ni_headline] varchar(80) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [ni_summary] varchar(255) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [ni_item] varchar(max) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [ni_dts] datetime2(6) NOT NULL, [ni_source] varchar(30) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [ni_author] varchar(30) COLLATE Latin1_General_100_BIN2_UTF8 NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[news_xref] ([nx_ni_id] bigint NOT NULL, [nx_co_id] bigint NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[trade_type] ([tt_id] char(3) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [tt_name] varchar(12) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [tt_is_sell] int NOT NULL, [tt_is_mrkt] int NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[charge] ([ch_tt_id] char(3) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [ch_c_tier] int NOT NULL, [ch_chrg] decimal(10,2) NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[commission_rate] ([cr_c_tier] int NOT NULL, [cr_tt_id] char(3) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [cr_ex_id] varchar(6) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [cr_from_qty] int NOT NULL, [cr_to_qty] int NOT NULL, [cr_rate] decimal(5,2) NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[broker] ([b_id] bigint NOT NULL, [b_st_id] char(4) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [b_name] varchar(49) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [b_num_trades] int NOT NULL, [b_comm_total] decimal(12,2) NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[customer] ([c_id] bigint NOT NULL, [c_tax_id] varchar(20) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [c_st_id] char(4) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [c_l_name] varchar(25) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [c_f_name] varchar(20) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [c_m_name] char(1) COLLATE Latin1_General_100_BIN2_UTF8 NULL, [c_gndr] char(1) COLLATE Latin1_General_100_BIN2_UTF8 NULL, [c_tier] int NOT NULL, [c_dob] date NOT NULL, [c_ad_id] bigint NOT NULL, [c_ctry_1] varchar(3) COLLATE Latin1_General_100_BIN2_UTF8 NULL, [c_area_1] varchar(3) COLLATE Latin1_General_100_BIN2_UTF8 NULL, [c_local_1] varchar(10) COLLATE Latin1_General_100_BIN2_UTF8 NULL, [c_ext_1] varchar(5) COLLATE Latin1_General_100_BIN2_UTF8 NULL, [c_ctry_2] varchar(3) COLLATE Latin1_General_100_BIN2_UTF8 NULL, [c_area_2] varchar(3) COLLATE Latin1_General_100_BIN2_UTF8 NULL, [c_local_2] varchar(10) COLLATE Latin1_General_100_BIN2_UTF8 NULL, [c_ext_2] varchar(5) COLLATE Latin1_General_100_BIN2_UTF8 NULL, [c_ctry_3] varchar(3) COLLATE Latin1_General_100_BIN2_UTF8 NULL, [c_area_3] varchar(3) COLLATE Latin1_General_100_BIN2_UTF8 NULL, [c_local_3] varchar(10) COLLATE Latin1_General_100_BIN2_UTF8 NULL, [c_ext_3] varchar(5) COLLATE Latin1_General_100_BIN2_UTF8 NULL, [c_email_1] varchar(50) COLLATE Latin1_General_100_BIN2_UTF8 NULL, [c_email_2] varchar(50) COLLATE Latin1_General_100_BIN2_UTF8 NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[customer_taxrate] ([cx_tx_id] char(4) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [cx_c_id] bigint NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[customer_account] ([ca_id] bigint NOT NULL, [ca_b_id] bigint NOT NULL, [ca_c_id] bigint NOT NULL, [ca_name] varchar(50) COLLATE Latin1_General_100_BIN2_UTF8 NULL, [ca_tax_st] int NOT NULL, [ca_bal] decimal(12,2) NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[account_permission] ([ap_ca_id] bigint NOT NULL, [ap_acl] char(4) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [ap_tax_id] varchar(20) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [ap_l_name] varchar(25) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [ap_f_name] varchar(20) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[watch_list] ([wl_id] bigint NOT NULL, [wl_c_id] bigint NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[watch_item] ([wi_wl_id] bigint NOT NULL, [wi_s_symb] varchar(15) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE PARTITION FUNCTION [trade_ranges] (bigint) AS RANGE LEFT FOR VALUES (1152001, 2304001, 3456001)
GO
CREATE PARTITION SCHEME [trade_partitions] AS PARTITION [trade_ranges] TO ([dyno_f72353b3dc], [dyno_a01535755c], [dyno_c8de20eeaa], [dyno_4a5eb65000])
GO
CREATE TABLE [dbo].[trade] ([t_id] bigint NOT NULL, [t_dts] datetime2(6) NOT NULL, [t_st_id] char(4) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [t_tt_id] char(3) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [t_is_cash] int NOT NULL, [t_s_symb] varchar(15) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [t_qty] int NOT NULL, [t_bid_price] decimal(8,2) NOT NULL, [t_ca_id] bigint NOT NULL, [t_exec_name] varchar(49) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [t_trade_price] decimal(8,2) NULL, [t_chrg] decimal(10,2) NOT NULL, [t_comm] decimal(10,2) NOT NULL, [t_tax] decimal(10,2) NOT NULL, [t_lifo] int NOT NULL) ON [trade_partitions] ([t_id])
GO
CREATE TABLE [dbo].[trade_history] ([th_t_id] bigint NOT NULL, [th_dts] datetime2(6) NOT NULL, [th_st_id] char(4) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL) ON [dyno_fc6fb7174c]
GO
CREATE TABLE [dbo].[trade_request] ([tr_t_id] bigint NOT NULL, [tr_tt_id] char(3) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [tr_s_symb] varchar(15) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [tr_qty] int NOT NULL, [tr_bid_price] decimal(8,2) NOT NULL, [tr_b_id] bigint NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[settlement] ([se_t_id] bigint NOT NULL, [se_cash_type] varchar(40) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [se_cash_due_date] date NOT NULL, [se_amt] decimal(10,2) NOT NULL) ON [dyno_a01535755c]
GO
CREATE TABLE [dbo].[cash_transaction] ([ct_t_id] bigint NOT NULL, [ct_dts] datetime2(6) NOT NULL, [ct_amt] decimal(10,2) NOT NULL, [ct_name] varchar(100) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL) ON [dyno_f72353b3dc]
GO
CREATE TABLE [dbo].[holding_history] ([hh_h_t_id] bigint NOT NULL, [hh_t_id] bigint NOT NULL, [hh_before_qty] int NOT NULL, [hh_after_qty] int NOT NULL) ON [dyno_c8de20eeaa]
GO
CREATE TABLE [dbo].[holding] ([h_t_id] bigint NOT NULL, [h_ca_id] bigint NOT NULL, [h_s_symb] varchar(15) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [h_dts] datetime2(6) NOT NULL, [h_price] decimal(8,2) NOT NULL, [h_qty] int NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[holding_summary] ([hs_ca_id] bigint NOT NULL, [hs_s_symb] varchar(15) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [hs_qty] int NOT NULL) ON [dyno_4a5eb65000]
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[status_type] ADD CONSTRAINT [status_type_pkey] PRIMARY KEY CLUSTERED ([st_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[taxrate] ADD CONSTRAINT [taxrate_pkey] PRIMARY KEY CLUSTERED ([tx_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[zip_code] ADD CONSTRAINT [zip_code_pkey] PRIMARY KEY CLUSTERED ([zc_code])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[address] ADD CONSTRAINT [address_pkey] PRIMARY KEY CLUSTERED ([ad_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[sector] ADD CONSTRAINT [sector_pkey] PRIMARY KEY CLUSTERED ([sc_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[industry] ADD CONSTRAINT [industry_pkey] PRIMARY KEY CLUSTERED ([in_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[exchange] ADD CONSTRAINT [exchange_pkey] PRIMARY KEY CLUSTERED ([ex_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[company] ADD CONSTRAINT [company_pkey] PRIMARY KEY CLUSTERED ([co_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[company_competitor] ADD CONSTRAINT [company_competitor_pkey] PRIMARY KEY CLUSTERED ([cp_co_id], [cp_comp_co_id], [cp_in_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[security] ADD CONSTRAINT [security_pkey] PRIMARY KEY CLUSTERED ([s_symb])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[daily_market] ADD CONSTRAINT [daily_market_pkey] PRIMARY KEY CLUSTERED ([dm_s_symb], [dm_date])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[financial] ADD CONSTRAINT [financial_pkey] PRIMARY KEY CLUSTERED ([fi_co_id], [fi_year], [fi_qtr])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[last_trade] ADD CONSTRAINT [last_trade_pkey] PRIMARY KEY CLUSTERED ([lt_s_symb])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[news_item] ADD CONSTRAINT [news_item_pkey] PRIMARY KEY CLUSTERED ([ni_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[news_xref] ADD CONSTRAINT [news_xref_pkey] PRIMARY KEY CLUSTERED ([nx_co_id], [nx_ni_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[trade_type] ADD CONSTRAINT [trade_type_pkey] PRIMARY KEY CLUSTERED ([tt_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[charge] ADD CONSTRAINT [charge_pkey] PRIMARY KEY CLUSTERED ([ch_tt_id], [ch_c_tier])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[commission_rate] ADD CONSTRAINT [commission_rate_pkey] PRIMARY KEY CLUSTERED ([cr_c_tier], [cr_tt_id], [cr_ex_id], [cr_from_qty])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[broker] ADD CONSTRAINT [broker_pkey] PRIMARY KEY CLUSTERED ([b_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[customer] ADD CONSTRAINT [customer_pkey] PRIMARY KEY CLUSTERED ([c_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[customer_taxrate] ADD CONSTRAINT [customer_taxrate_pkey] PRIMARY KEY CLUSTERED ([cx_c_id], [cx_tx_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[customer_account] ADD CONSTRAINT [customer_account_pkey] PRIMARY KEY CLUSTERED ([ca_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[account_permission] ADD CONSTRAINT [account_permission_pkey] PRIMARY KEY CLUSTERED ([ap_ca_id], [ap_tax_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[watch_list] ADD CONSTRAINT [watch_list_pkey] PRIMARY KEY CLUSTERED ([wl_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[watch_item] ADD CONSTRAINT [watch_item_pkey] PRIMARY KEY CLUSTERED ([wi_wl_id], [wi_s_symb])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[trade] ADD CONSTRAINT [trade_pkey] PRIMARY KEY CLUSTERED ([t_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[trade_history] ADD CONSTRAINT [trade_history_pkey] PRIMARY KEY CLUSTERED ([th_t_id], [th_st_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[trade_request] ADD CONSTRAINT [trade_request_pkey] PRIMARY KEY CLUSTERED ([tr_t_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[settlement] ADD CONSTRAINT [settlement_pkey] PRIMARY KEY CLUSTERED ([se_t_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[cash_transaction] ADD CONSTRAINT [cash_transaction_pkey] PRIMARY KEY CLUSTERED ([ct_t_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[holding_history] ADD CONSTRAINT [holding_history_pkey] PRIMARY KEY CLUSTERED ([hh_h_t_id], [hh_t_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[holding] ADD CONSTRAINT [holding_pkey] PRIMARY KEY CLUSTERED ([h_t_id])
GO
USE [dyno_brokerage]; ALTER TABLE [dbo].[holding_summary] ADD CONSTRAINT [holding_summary_pkey] PRIMARY KEY CLUSTERED ([hs_ca_id], [hs_s_symb])
GO
USE [dyno_brokerage]; CREATE INDEX [account_by_broker] ON [dbo].[customer_account] ([ca_b_id])
GO
USE [dyno_brokerage]; CREATE INDEX [account_by_customer] ON [dbo].[customer_account] ([ca_c_id])
GO
USE [dyno_brokerage]; CREATE INDEX [broker_by_name] ON [dbo].[broker] ([b_name])
GO
USE [dyno_brokerage]; CREATE INDEX [company_by_industry] ON [dbo].[company] ([co_in_id])
GO
USE [dyno_brokerage]; CREATE INDEX [company_by_name] ON [dbo].[company] ([co_name])
GO
USE [dyno_brokerage]; CREATE INDEX [customer_by_tax_id] ON [dbo].[customer] ([c_tax_id])
GO
USE [dyno_brokerage]; CREATE INDEX [holding_by_account] ON [dbo].[holding] ([h_ca_id], [h_s_symb], [h_dts])
GO
USE [dyno_brokerage]; CREATE INDEX [holding_history_by_trade] ON [dbo].[holding_history] ([hh_t_id])
GO
USE [dyno_brokerage]; CREATE INDEX [industry_by_sector] ON [dbo].[industry] ([in_sc_id])
GO
USE [dyno_brokerage]; CREATE INDEX [security_by_company] ON [dbo].[security] ([s_co_id], [s_issue])
GO
USE [dyno_brokerage]; CREATE INDEX [trade_by_account] ON [dbo].[trade] ([t_ca_id], [t_dts])
GO
USE [dyno_brokerage]; CREATE INDEX [trade_by_security] ON [dbo].[trade] ([t_s_symb], [t_dts])
GO
USE [dyno_brokerage]; CREATE INDEX [trade_request_by_broker] ON [dbo].[trade_request] ([tr_b_id], [tr_s_symb])
GO
USE [dyno_brokerage]; CREATE INDEX [trade_request_by_security] ON [dbo].[trade_request] ([tr_s_symb], [tr_bid_price], [tr_tt_id])
GO
USE [dyno_brokerage]; CREATE INDEX [watch_list_by_customer] ON [dbo].[watch_list] ([wl_c_id])
GO
USE [dyno_brokerage]; CREATE STATISTICS [st_name] ON [dbo].[status_type] ([st_name])
GO
USE [dyno_brokerage]; CREATE STATISTICS [tx_name] ON [dbo].[taxrate] ([tx_name]); CREATE STATISTICS [tx_rate] ON [dbo].[taxrate] ([tx_rate])
GO
USE [dyno_brokerage]; CREATE STATISTICS [zc_town] ON [dbo].[zip_code] ([zc_town]); CREATE STATISTICS [zc_div] ON [dbo].[zip_code] ([zc_div])
GO
USE [dyno_brokerage]; CREATE STATISTICS [ad_line1] ON [dbo].[address] ([ad_line1]); CREATE STATISTICS [ad_line2] ON [dbo].[address] ([ad_line2]); CREATE STATISTICS [ad_zc_code] ON [dbo].[address] ([ad_zc_code]); CREATE STATISTICS [ad_ctry] ON [dbo].[address] ([ad_ctry])
GO
USE [dyno_brokerage]; CREATE STATISTICS [sc_name] ON [dbo].[sector] ([sc_name])
GO
USE [dyno_brokerage]; CREATE STATISTICS [in_name] ON [dbo].[industry] ([in_name])
GO
USE [dyno_brokerage]; CREATE STATISTICS [ex_name] ON [dbo].[exchange] ([ex_name]); CREATE STATISTICS [ex_num_symb] ON [dbo].[exchange] ([ex_num_symb]); CREATE STATISTICS [ex_open] ON [dbo].[exchange] ([ex_open]); CREATE STATISTICS [ex_close] ON [dbo].[exchange] ([ex_close]); CREATE STATISTICS [ex_desc] ON [dbo].[exchange] ([ex_desc]); CREATE STATISTICS [ex_ad_id] ON [dbo].[exchange] ([ex_ad_id])
GO
USE [dyno_brokerage]; CREATE STATISTICS [co_st_id] ON [dbo].[company] ([co_st_id]); CREATE STATISTICS [co_sp_rate] ON [dbo].[company] ([co_sp_rate]); CREATE STATISTICS [co_ceo] ON [dbo].[company] ([co_ceo]); CREATE STATISTICS [co_ad_id] ON [dbo].[company] ([co_ad_id]); CREATE STATISTICS [co_desc] ON [dbo].[company] ([co_desc]); CREATE STATISTICS [co_open_date] ON [dbo].[company] ([co_open_date])
GO
USE [dyno_brokerage]; CREATE STATISTICS [cp_comp_co_id] ON [dbo].[company_competitor] ([cp_comp_co_id]); CREATE STATISTICS [cp_in_id] ON [dbo].[company_competitor] ([cp_in_id])
GO
USE [dyno_brokerage]; CREATE STATISTICS [s_issue] ON [dbo].[security] ([s_issue]); CREATE STATISTICS [s_st_id] ON [dbo].[security] ([s_st_id]); CREATE STATISTICS [s_name] ON [dbo].[security] ([s_name]); CREATE STATISTICS [s_ex_id] ON [dbo].[security] ([s_ex_id]); CREATE STATISTICS [s_num_out] ON [dbo].[security] ([s_num_out]); CREATE STATISTICS [s_start_date] ON [dbo].[security] ([s_start_date]); CREATE STATISTICS [s_exch_date] ON [dbo].[security] ([s_exch_date]); CREATE STATISTICS [s_pe] ON [dbo].[security] ([s_pe]); CREATE STATISTICS [s_52wk_high] ON [dbo].[security] ([s_52wk_high]); CREATE STATISTICS [s_52wk_high_date] ON [dbo].[security] ([s_52wk_high_date]); CREATE STATISTICS [s_52wk_low] ON [dbo].[security] ([s_52wk_low]); CREATE STATISTICS [s_52wk_low_date] ON [dbo].[security] ([s_52wk_low_date]); CREATE STATISTICS [s_dividend] ON [dbo].[security] ([s_dividend]); CREATE STATISTICS [s_yield] ON [dbo].[security] ([s_yield])
GO
USE [dyno_brokerage]; CREATE STATISTICS [dm_date] ON [dbo].[daily_market] ([dm_date]); CREATE STATISTICS [dm_close] ON [dbo].[daily_market] ([dm_close]); CREATE STATISTICS [dm_high] ON [dbo].[daily_market] ([dm_high]); CREATE STATISTICS [dm_low] ON [dbo].[daily_market] ([dm_low]); CREATE STATISTICS [dm_vol] ON [dbo].[daily_market] ([dm_vol])
GO
USE [dyno_brokerage]; CREATE STATISTICS [fi_year] ON [dbo].[financial] ([fi_year]); CREATE STATISTICS [fi_qtr] ON [dbo].[financial] ([fi_qtr]); CREATE STATISTICS [fi_qtr_start_date] ON [dbo].[financial] ([fi_qtr_start_date]); CREATE STATISTICS [fi_revenue] ON [dbo].[financial] ([fi_revenue]); CREATE STATISTICS [fi_net_earn] ON [dbo].[financial] ([fi_net_earn]); CREATE STATISTICS [fi_basic_eps] ON [dbo].[financial] ([fi_basic_eps]); CREATE STATISTICS [fi_dilut_eps] ON [dbo].[financial] ([fi_dilut_eps]); CREATE STATISTICS [fi_margin] ON [dbo].[financial] ([fi_margin]); CREATE STATISTICS [fi_inventory] ON [dbo].[financial] ([fi_inventory]); CREATE STATISTICS [fi_assets] ON [dbo].[financial] ([fi_assets]); CREATE STATISTICS [fi_liability] ON [dbo].[financial] ([fi_liability]); CREATE STATISTICS [fi_out_basic] ON [dbo].[financial] ([fi_out_basic]); CREATE STATISTICS [fi_out_dilut] ON [dbo].[financial] ([fi_out_dilut])
GO
USE [dyno_brokerage]; CREATE STATISTICS [lt_dts] ON [dbo].[last_trade] ([lt_dts]); CREATE STATISTICS [lt_price] ON [dbo].[last_trade] ([lt_price]); CREATE STATISTICS [lt_open_price] ON [dbo].[last_trade] ([lt_open_price]); CREATE STATISTICS [lt_vol] ON [dbo].[last_trade] ([lt_vol])
GO
USE [dyno_brokerage]; CREATE STATISTICS [ni_headline] ON [dbo].[news_item] ([ni_headline]); CREATE STATISTICS [ni_summary] ON [dbo].[news_item] ([ni_summary]); CREATE STATISTICS [ni_dts] ON [dbo].[news_item] ([ni_dts]); CREATE STATISTICS [ni_source] ON [dbo].[news_item] ([ni_source]); CREATE STATISTICS [ni_author] ON [dbo].[news_item] ([ni_author])
GO
USE [dyno_brokerage]; CREATE STATISTICS [nx_ni_id] ON [dbo].[news_xref] ([nx_ni_id])
GO
USE [dyno_brokerage]; CREATE STATISTICS [tt_name] ON [dbo].[trade_type] ([tt_name]); CREATE STATISTICS [tt_is_sell] ON [dbo].[trade_type] ([tt_is_sell]); CREATE STATISTICS [tt_is_mrkt] ON [dbo].[trade_type] ([tt_is_mrkt])
GO
USE [dyno_brokerage]; CREATE STATISTICS [ch_c_tier] ON [dbo].[charge] ([ch_c_tier]); CREATE STATISTICS [ch_chrg] ON [dbo].[charge] ([ch_chrg])
GO
USE [dyno_brokerage]; CREATE STATISTICS [cr_tt_id] ON [dbo].[commission_rate] ([cr_tt_id]); CREATE STATISTICS [cr_ex_id] ON [dbo].[commission_rate] ([cr_ex_id]); CREATE STATISTICS [cr_from_qty] ON [dbo].[commission_rate] ([cr_from_qty]); CREATE STATISTICS [cr_to_qty] ON [dbo].[commission_rate] ([cr_to_qty]); CREATE STATISTICS [cr_rate] ON [dbo].[commission_rate] ([cr_rate])
GO
USE [dyno_brokerage]; CREATE STATISTICS [b_st_id] ON [dbo].[broker] ([b_st_id]); CREATE STATISTICS [b_num_trades] ON [dbo].[broker] ([b_num_trades]); CREATE STATISTICS [b_comm_total] ON [dbo].[broker] ([b_comm_total])
GO
USE [dyno_brokerage]; CREATE STATISTICS [c_st_id] ON [dbo].[customer] ([c_st_id]); CREATE STATISTICS [c_l_name] ON [dbo].[customer] ([c_l_name]); CREATE STATISTICS [c_f_name] ON [dbo].[customer] ([c_f_name]); CREATE STATISTICS [c_m_name] ON [dbo].[customer] ([c_m_name]); CREATE STATISTICS [c_gndr] ON [dbo].[customer] ([c_gndr]); CREATE STATISTICS [c_tier] ON [dbo].[customer] ([c_tier]); CREATE STATISTICS [c_dob] ON [dbo].[customer] ([c_dob]); CREATE STATISTICS [c_ad_id] ON [dbo].[customer] ([c_ad_id]); CREATE STATISTICS [c_ctry_1] ON [dbo].[customer] ([c_ctry_1]); CREATE STATISTICS [c_area_1] ON [dbo].[customer] ([c_area_1]); CREATE STATISTICS [c_local_1] ON [dbo].[customer] ([c_local_1]); CREATE STATISTICS [c_ext_1] ON [dbo].[customer] ([c_ext_1]); CREATE STATISTICS [c_ctry_2] ON [dbo].[customer] ([c_ctry_2]); CREATE STATISTICS [c_area_2] ON [dbo].[customer] ([c_area_2]); CREATE STATISTICS [c_local_2] ON [dbo].[customer] ([c_local_2]); CREATE STATISTICS [c_ext_2] ON [dbo].[customer] ([c_ext_2]); CREATE STATISTICS [c_ctry_3] ON [dbo].[customer] ([c_ctry_3]); CREATE STATISTICS [c_area_3] ON [dbo].[customer] ([c_area_3]); CREATE STATISTICS [c_local_3] ON [dbo].[customer] ([c_local_3]); CREATE STATISTICS [c_ext_3] ON [dbo].[customer] ([c_ext_3]); CREATE STATISTICS [c_email_1] ON [dbo].[customer] ([c_email_1]); CREATE STATISTICS [c_email_2] ON [dbo].[customer] ([c_email_2])
GO
USE [dyno_brokerage]; CREATE STATISTICS [cx_tx_id] ON [dbo].[customer_taxrate] ([cx_tx_id])
GO
USE [dyno_brokerage]; CREATE STATISTICS [ca_name] ON [dbo].[customer_account] ([ca_name]); CREATE STATISTICS [ca_tax_st] ON [dbo].[customer_account] ([ca_tax_st]); CREATE STATISTICS [ca_bal] ON [dbo].[customer_account] ([ca_bal])
GO
USE [dyno_brokerage]; CREATE STATISTICS [ap_acl] ON [dbo].[account_permission] ([ap_acl]); CREATE STATISTICS [ap_tax_id] ON [dbo].[account_permission] ([ap_tax_id]); CREATE STATISTICS [ap_l_name] ON [dbo].[account_permission] ([ap_l_name]); CREATE STATISTICS [ap_f_name] ON [dbo].[account_permission] ([ap_f_name])
GO
USE [dyno_brokerage]; CREATE STATISTICS [wi_s_symb] ON [dbo].[watch_item] ([wi_s_symb])
GO
USE [dyno_brokerage]; CREATE STATISTICS [t_dts] ON [dbo].[trade] ([t_dts]); CREATE STATISTICS [t_st_id] ON [dbo].[trade] ([t_st_id]); CREATE STATISTICS [t_tt_id] ON [dbo].[trade] ([t_tt_id]); CREATE STATISTICS [t_is_cash] ON [dbo].[trade] ([t_is_cash]); CREATE STATISTICS [t_qty] ON [dbo].[trade] ([t_qty]); CREATE STATISTICS [t_bid_price] ON [dbo].[trade] ([t_bid_price]); CREATE STATISTICS [t_exec_name] ON [dbo].[trade] ([t_exec_name]); CREATE STATISTICS [t_trade_price] ON [dbo].[trade] ([t_trade_price]); CREATE STATISTICS [t_chrg] ON [dbo].[trade] ([t_chrg]); CREATE STATISTICS [t_comm] ON [dbo].[trade] ([t_comm]); CREATE STATISTICS [t_tax] ON [dbo].[trade] ([t_tax]); CREATE STATISTICS [t_lifo] ON [dbo].[trade] ([t_lifo]); UPDATE STATISTICS [dbo].[trade] ([trade_pkey], [trade_by_account], [trade_by_security]) WITH FULLSCAN
GO
USE [dyno_brokerage]; CREATE STATISTICS [th_dts] ON [dbo].[trade_history] ([th_dts]); CREATE STATISTICS [th_st_id] ON [dbo].[trade_history] ([th_st_id])
GO
USE [dyno_brokerage]; CREATE STATISTICS [tr_tt_id] ON [dbo].[trade_request] ([tr_tt_id]); CREATE STATISTICS [tr_qty] ON [dbo].[trade_request] ([tr_qty]); CREATE STATISTICS [tr_bid_price] ON [dbo].[trade_request] ([tr_bid_price])
GO
USE [dyno_brokerage]; CREATE STATISTICS [se_cash_type] ON [dbo].[settlement] ([se_cash_type]); CREATE STATISTICS [se_cash_due_date] ON [dbo].[settlement] ([se_cash_due_date]); CREATE STATISTICS [se_amt] ON [dbo].[settlement] ([se_amt])
GO
USE [dyno_brokerage]; CREATE STATISTICS [ct_dts] ON [dbo].[cash_transaction] ([ct_dts]); CREATE STATISTICS [ct_amt] ON [dbo].[cash_transaction] ([ct_amt]); CREATE STATISTICS [ct_name] ON [dbo].[cash_transaction] ([ct_name])
GO
USE [dyno_brokerage]; CREATE STATISTICS [hh_before_qty] ON [dbo].[holding_history] ([hh_before_qty]); CREATE STATISTICS [hh_after_qty] ON [dbo].[holding_history] ([hh_after_qty])
GO
USE [dyno_brokerage]; CREATE STATISTICS [h_s_symb] ON [dbo].[holding] ([h_s_symb]); CREATE STATISTICS [h_dts] ON [dbo].[holding] ([h_dts]); CREATE STATISTICS [h_price] ON [dbo].[holding] ([h_price]); CREATE STATISTICS [h_qty] ON [dbo].[holding] ([h_qty])
GO
USE [dyno_brokerage]; CREATE STATISTICS [hs_s_symb] ON [dbo].[holding_summary] ([hs_s_symb]); CREATE STATISTICS [hs_qty] ON [dbo].[holding_summary] ([hs_qty])
GO
IF EXISTS (SELECT 1 FROM sys.partition_schemes WHERE name = N'trade_partitions') DROP PARTITION SCHEME [trade_partitions]
GO
IF EXISTS (SELECT 1 FROM sys.partition_functions WHERE name = N'trade_ranges') DROP PARTITION FUNCTION [trade_ranges]
GO
