CREATE DATABASE [dyno_tpch] COLLATE Latin1_General_100_BIN2_UTF8
GO
ALTER DATABASE [dyno_tpch] SET RECOVERY SIMPLE, AUTO_CLOSE OFF, AUTO_SHRINK OFF
GO
USE [dyno_tpch]
GO
EXEC sys.sp_addextendedproperty @name = N'dyno', @value = N'dyno:tpch schema'
GO
ALTER DATABASE [dyno_tpch] ADD FILEGROUP [dyno_f72353b3dc]
GO
EXEC [dyno_tpch].sys.sp_addextendedproperty @name = N'dyno', @value = N'/mnt/a', @level0type = N'FILEGROUP', @level0name = N'dyno_f72353b3dc'
GO
ALTER DATABASE [dyno_tpch] ADD FILE (NAME = N'dyno_f72353b3dc', FILENAME = N'/mnt/a/dyno_tpch_dyno_f72353b3dc.ndf', SIZE = 64MB, FILEGROWTH = 64MB) TO FILEGROUP [dyno_f72353b3dc]
GO
ALTER DATABASE [dyno_tpch] ADD FILEGROUP [dyno_a01535755c]
GO
EXEC [dyno_tpch].sys.sp_addextendedproperty @name = N'dyno', @value = N'/mnt/b', @level0type = N'FILEGROUP', @level0name = N'dyno_a01535755c'
GO
ALTER DATABASE [dyno_tpch] ADD FILE (NAME = N'dyno_a01535755c', FILENAME = N'/mnt/b/dyno_tpch_dyno_a01535755c.ndf', SIZE = 64MB, FILEGROWTH = 64MB) TO FILEGROUP [dyno_a01535755c]
GO
ALTER DATABASE [dyno_tpch] ADD FILEGROUP [dyno_c8de20eeaa]
GO
EXEC [dyno_tpch].sys.sp_addextendedproperty @name = N'dyno', @value = N'/mnt/c', @level0type = N'FILEGROUP', @level0name = N'dyno_c8de20eeaa'
GO
ALTER DATABASE [dyno_tpch] ADD FILE (NAME = N'dyno_c8de20eeaa', FILENAME = N'/mnt/c/dyno_tpch_dyno_c8de20eeaa.ndf', SIZE = 64MB, FILEGROWTH = 64MB) TO FILEGROUP [dyno_c8de20eeaa]
GO
ALTER DATABASE [dyno_tpch] ADD FILEGROUP [dyno_4a5eb65000]
GO
EXEC [dyno_tpch].sys.sp_addextendedproperty @name = N'dyno', @value = N'/mnt/d', @level0type = N'FILEGROUP', @level0name = N'dyno_4a5eb65000'
GO
ALTER DATABASE [dyno_tpch] ADD FILE (NAME = N'dyno_4a5eb65000', FILENAME = N'/mnt/d/dyno_tpch_dyno_4a5eb65000.ndf', SIZE = 64MB, FILEGROWTH = 64MB) TO FILEGROUP [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[part] ([p_partkey] int NOT NULL, [p_name] varchar(55) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [p_mfgr] char(25) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [p_brand] char(10) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [p_type] varchar(25) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [p_size] int NOT NULL, [p_container] char(10) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [p_retailprice] decimal(15,2) NOT NULL, [p_comment] varchar(23) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL) ON [dyno_c8de20eeaa]
GO
CREATE TABLE [dbo].[supplier] ([s_suppkey] int NOT NULL, [s_name] char(25) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [s_address] varchar(40) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [s_nationkey] int NOT NULL, [s_phone] char(15) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [s_acctbal] decimal(15,2) NOT NULL, [s_comment] varchar(101) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[partsupp] ([ps_partkey] int NOT NULL, [ps_suppkey] int NOT NULL, [ps_availqty] int NOT NULL, [ps_supplycost] decimal(15,2) NOT NULL, [ps_comment] varchar(199) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL) ON [dyno_a01535755c]
GO
CREATE TABLE [dbo].[customer] ([c_custkey] int NOT NULL, [c_name] varchar(25) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [c_address] varchar(40) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [c_nationkey] int NOT NULL, [c_phone] char(15) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [c_acctbal] decimal(15,2) NOT NULL, [c_mktsegment] char(10) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [c_comment] varchar(117) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[orders] ([o_orderkey] bigint NOT NULL, [o_custkey] int NOT NULL, [o_orderstatus] char(1) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [o_totalprice] decimal(15,2) NOT NULL, [o_orderdate] date NOT NULL, [o_orderpriority] char(15) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [o_clerk] char(15) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [o_shippriority] int NOT NULL, [o_comment] varchar(79) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL) ON [dyno_f72353b3dc]
GO
CREATE PARTITION FUNCTION [lineitem_ranges] (date) AS RANGE RIGHT FOR VALUES ('1992-11-12', '1993-09-24', '1994-08-06', '1995-06-18', '1996-04-28', '1997-03-10', '1998-01-20')
GO
CREATE PARTITION SCHEME [lineitem_partitions] AS PARTITION [lineitem_ranges] TO ([dyno_f72353b3dc], [dyno_a01535755c], [dyno_c8de20eeaa], [dyno_4a5eb65000], [dyno_f72353b3dc], [dyno_a01535755c], [dyno_c8de20eeaa], [dyno_4a5eb65000])
GO
CREATE TABLE [dbo].[lineitem] ([l_orderkey] bigint NOT NULL, [l_partkey] int NOT NULL, [l_suppkey] int NOT NULL, [l_linenumber] int NOT NULL, [l_quantity] decimal(15,2) NOT NULL, [l_extendedprice] decimal(15,2) NOT NULL, [l_discount] decimal(15,2) NOT NULL, [l_tax] decimal(15,2) NOT NULL, [l_returnflag] char(1) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [l_linestatus] char(1) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [l_shipdate] date NOT NULL, [l_commitdate] date NOT NULL, [l_receiptdate] date NOT NULL, [l_shipinstruct] char(25) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [l_shipmode] char(10) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [l_comment] varchar(44) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL) ON [lineitem_partitions] ([l_shipdate])
GO
CREATE TABLE [dbo].[nation] ([n_nationkey] int NOT NULL, [n_name] char(25) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [n_regionkey] int NOT NULL, [n_comment] varchar(152) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL) ON [dyno_4a5eb65000]
GO
CREATE TABLE [dbo].[region] ([r_regionkey] int NOT NULL, [r_name] char(25) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [r_comment] varchar(152) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL) ON [dyno_4a5eb65000]
GO
USE [dyno_tpch]; ALTER TABLE [dbo].[part] ADD CONSTRAINT [part_pkey] PRIMARY KEY CLUSTERED ([p_partkey])
GO
USE [dyno_tpch]; ALTER TABLE [dbo].[supplier] ADD CONSTRAINT [supplier_pkey] PRIMARY KEY CLUSTERED ([s_suppkey])
GO
USE [dyno_tpch]; ALTER TABLE [dbo].[partsupp] ADD CONSTRAINT [partsupp_pkey] PRIMARY KEY CLUSTERED ([ps_partkey], [ps_suppkey])
GO
USE [dyno_tpch]; ALTER TABLE [dbo].[customer] ADD CONSTRAINT [customer_pkey] PRIMARY KEY CLUSTERED ([c_custkey])
GO
USE [dyno_tpch]; ALTER TABLE [dbo].[orders] ADD CONSTRAINT [orders_pkey] PRIMARY KEY CLUSTERED ([o_orderkey])
GO
USE [dyno_tpch]; ALTER TABLE [dbo].[lineitem] ADD CONSTRAINT [lineitem_pkey] PRIMARY KEY CLUSTERED ([l_orderkey], [l_linenumber], [l_shipdate])
GO
USE [dyno_tpch]; ALTER TABLE [dbo].[nation] ADD CONSTRAINT [nation_pkey] PRIMARY KEY CLUSTERED ([n_nationkey])
GO
USE [dyno_tpch]; ALTER TABLE [dbo].[region] ADD CONSTRAINT [region_pkey] PRIMARY KEY CLUSTERED ([r_regionkey])
GO
USE [dyno_tpch]; CREATE INDEX [lineitem_by_part] ON [dbo].[lineitem] ([l_partkey], [l_suppkey])
GO
USE [dyno_tpch]; CREATE INDEX [partsupp_by_supplier] ON [dbo].[partsupp] ([ps_suppkey])
GO
USE [dyno_tpch]; CREATE INDEX [orders_by_customer] ON [dbo].[orders] ([o_custkey])
GO
USE [dyno_tpch]; CREATE INDEX [lineitem_by_shipdate] ON [dbo].[lineitem] ([l_shipdate])
GO
USE [dyno_tpch]; CREATE STATISTICS [p_name] ON [dbo].[part] ([p_name]); CREATE STATISTICS [p_mfgr] ON [dbo].[part] ([p_mfgr]); CREATE STATISTICS [p_brand] ON [dbo].[part] ([p_brand]); CREATE STATISTICS [p_type] ON [dbo].[part] ([p_type]); CREATE STATISTICS [p_size] ON [dbo].[part] ([p_size]); CREATE STATISTICS [p_container] ON [dbo].[part] ([p_container]); CREATE STATISTICS [p_retailprice] ON [dbo].[part] ([p_retailprice]); CREATE STATISTICS [p_comment] ON [dbo].[part] ([p_comment])
GO
USE [dyno_tpch]; CREATE STATISTICS [s_name] ON [dbo].[supplier] ([s_name]); CREATE STATISTICS [s_address] ON [dbo].[supplier] ([s_address]); CREATE STATISTICS [s_nationkey] ON [dbo].[supplier] ([s_nationkey]); CREATE STATISTICS [s_phone] ON [dbo].[supplier] ([s_phone]); CREATE STATISTICS [s_acctbal] ON [dbo].[supplier] ([s_acctbal]); CREATE STATISTICS [s_comment] ON [dbo].[supplier] ([s_comment])
GO
USE [dyno_tpch]; CREATE STATISTICS [ps_availqty] ON [dbo].[partsupp] ([ps_availqty]); CREATE STATISTICS [ps_supplycost] ON [dbo].[partsupp] ([ps_supplycost]); CREATE STATISTICS [ps_comment] ON [dbo].[partsupp] ([ps_comment])
GO
USE [dyno_tpch]; CREATE STATISTICS [c_name] ON [dbo].[customer] ([c_name]); CREATE STATISTICS [c_address] ON [dbo].[customer] ([c_address]); CREATE STATISTICS [c_nationkey] ON [dbo].[customer] ([c_nationkey]); CREATE STATISTICS [c_phone] ON [dbo].[customer] ([c_phone]); CREATE STATISTICS [c_acctbal] ON [dbo].[customer] ([c_acctbal]); CREATE STATISTICS [c_mktsegment] ON [dbo].[customer] ([c_mktsegment]); CREATE STATISTICS [c_comment] ON [dbo].[customer] ([c_comment])
GO
USE [dyno_tpch]; CREATE STATISTICS [o_orderstatus] ON [dbo].[orders] ([o_orderstatus]); CREATE STATISTICS [o_totalprice] ON [dbo].[orders] ([o_totalprice]); CREATE STATISTICS [o_orderdate] ON [dbo].[orders] ([o_orderdate]); CREATE STATISTICS [o_orderpriority] ON [dbo].[orders] ([o_orderpriority]); CREATE STATISTICS [o_clerk] ON [dbo].[orders] ([o_clerk]); CREATE STATISTICS [o_shippriority] ON [dbo].[orders] ([o_shippriority]); CREATE STATISTICS [o_comment] ON [dbo].[orders] ([o_comment])
GO
USE [dyno_tpch]; CREATE STATISTICS [l_suppkey] ON [dbo].[lineitem] ([l_suppkey]); CREATE STATISTICS [l_linenumber] ON [dbo].[lineitem] ([l_linenumber]); CREATE STATISTICS [l_quantity] ON [dbo].[lineitem] ([l_quantity]); CREATE STATISTICS [l_extendedprice] ON [dbo].[lineitem] ([l_extendedprice]); CREATE STATISTICS [l_discount] ON [dbo].[lineitem] ([l_discount]); CREATE STATISTICS [l_tax] ON [dbo].[lineitem] ([l_tax]); CREATE STATISTICS [l_returnflag] ON [dbo].[lineitem] ([l_returnflag]); CREATE STATISTICS [l_linestatus] ON [dbo].[lineitem] ([l_linestatus]); CREATE STATISTICS [l_commitdate] ON [dbo].[lineitem] ([l_commitdate]); CREATE STATISTICS [l_receiptdate] ON [dbo].[lineitem] ([l_receiptdate]); CREATE STATISTICS [l_shipinstruct] ON [dbo].[lineitem] ([l_shipinstruct]); CREATE STATISTICS [l_shipmode] ON [dbo].[lineitem] ([l_shipmode]); CREATE STATISTICS [l_comment] ON [dbo].[lineitem] ([l_comment]); UPDATE STATISTICS [dbo].[lineitem] ([lineitem_pkey], [lineitem_by_part], [lineitem_by_shipdate]) WITH FULLSCAN
GO
USE [dyno_tpch]; CREATE STATISTICS [n_name] ON [dbo].[nation] ([n_name]); CREATE STATISTICS [n_regionkey] ON [dbo].[nation] ([n_regionkey]); CREATE STATISTICS [n_comment] ON [dbo].[nation] ([n_comment])
GO
USE [dyno_tpch]; CREATE STATISTICS [r_name] ON [dbo].[region] ([r_name]); CREATE STATISTICS [r_comment] ON [dbo].[region] ([r_comment])
GO
IF EXISTS (SELECT 1 FROM sys.partition_schemes WHERE name = N'lineitem_partitions') DROP PARTITION SCHEME [lineitem_partitions]
GO
IF EXISTS (SELECT 1 FROM sys.partition_functions WHERE name = N'lineitem_ranges') DROP PARTITION FUNCTION [lineitem_ranges]
GO
