-- database on 2017, 0
CREATE DATABASE [dyno_tpch] COLLATE Latin1_General_100_BIN2
-- database on 2017, 1
ALTER DATABASE [dyno_tpch] SET RECOVERY SIMPLE, AUTO_CLOSE OFF, AUTO_SHRINK OFF
-- database on 2017, 2
USE [dyno_tpch]
-- database on 2017, 3
EXEC sys.sp_addextendedproperty @name = N'dyno', @value = N'dyno:tpch schema'
-- table on 2017
CREATE TABLE [dbo].[item] ([i_id] int NOT NULL, [i_big] bigint NOT NULL, [i_price] decimal(15,2) NULL, [i_code] char(5) COLLATE Latin1_General_100_BIN2 NOT NULL, [i_name] varchar(20) COLLATE Latin1_General_100_BIN2 NOT NULL, [i_day] date NOT NULL, [i "at"] datetime2(6) NULL)
-- database on 2022, 0
CREATE DATABASE [dyno_tpch] COLLATE Latin1_General_100_BIN2_UTF8
-- database on 2022, 1
ALTER DATABASE [dyno_tpch] SET RECOVERY SIMPLE, AUTO_CLOSE OFF, AUTO_SHRINK OFF
-- database on 2022, 2
USE [dyno_tpch]
-- database on 2022, 3
EXEC sys.sp_addextendedproperty @name = N'dyno', @value = N'dyno:tpch schema'
-- table on 2022
CREATE TABLE [dbo].[item] ([i_id] int NOT NULL, [i_big] bigint NOT NULL, [i_price] decimal(15,2) NULL, [i_code] char(5) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [i_name] varchar(20) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [i_day] date NOT NULL, [i "at"] datetime2(6) NULL)
-- database on Azure, 0
CREATE DATABASE [dyno_tpch] COLLATE Latin1_General_100_BIN2_UTF8
-- database on Azure, 1
USE [dyno_tpch]
-- database on Azure, 2
EXEC sys.sp_addextendedproperty @name = N'dyno', @value = N'dyno:tpch schema'
-- table on Azure
CREATE TABLE [dbo].[item] ([i_id] int NOT NULL, [i_big] bigint NOT NULL, [i_price] decimal(15,2) NULL, [i_code] char(5) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [i_name] varchar(20) COLLATE Latin1_General_100_BIN2_UTF8 NOT NULL, [i_day] date NOT NULL, [i "at"] datetime2(6) NULL)
-- database on Babelfish, 0
CREATE DATABASE [dyno_tpch]
-- database on Babelfish, 1
USE [dyno_tpch]
-- database on Babelfish, 2
EXEC sys.sp_addextendedproperty @name = N'dyno', @value = N'dyno:tpch schema'
-- table on Babelfish
CREATE TABLE [dbo].[item] ([i_id] int NOT NULL, [i_big] bigint NOT NULL, [i_price] decimal(15,2) NULL, [i_code] char(5) COLLATE Latin1_General_BIN2 NOT NULL, [i_name] varchar(20) COLLATE Latin1_General_BIN2 NOT NULL, [i_day] date NOT NULL, [i "at"] datetime2(6) NULL)
-- first file of a database
SELECT CAST(SERVERPROPERTY('InstanceDefaultDataPath') AS nvarchar(260)), MAX(CAST(size AS bigint)) FROM sys.master_files WHERE database_id = DB_ID(N'model') AND file_id = 1
-- table with a key
CREATE TABLE [dbo].[item] ([i_id] int NOT NULL, [i_big] bigint NOT NULL, [i_price] decimal(15,2) NULL, [i_code] char(5) NOT NULL, [i_name] varchar(20) NOT NULL, [i_day] date NOT NULL, [i "at"] datetime2(6) NULL, PRIMARY KEY ([i_id], [i "at"]))
-- mark
IF EXISTS (SELECT 1 FROM sys.extended_properties WHERE class = 1 AND minor_id = 0 AND major_id = OBJECT_ID(N'[dbo].[o''rders]') AND name = N'dyno') EXEC sys.sp_updateextendedproperty @name = N'dyno', @value = N'dyno:tpch {"scale": 1}', @level0type = N'SCHEMA', @level0name = N'dbo', @level1type = N'TABLE', @level1name = N'o''rders' ELSE EXEC sys.sp_addextendedproperty @name = N'dyno', @value = N'dyno:tpch {"scale": 1}', @level0type = N'SCHEMA', @level0name = N'dbo', @level1type = N'TABLE', @level1name = N'o''rders'
-- size of databases
SELECT COALESCE(SUM(CAST(total_pages AS bigint)), 0) FROM [dyno_tpch].sys.allocation_units
-- size of a table
SELECT COALESCE(SUM(CAST(a.total_pages AS bigint)), 0)
FROM [dyno_tpch].sys.tables AS t WITH (NOLOCK)
JOIN [dyno_tpch].sys.indexes AS i WITH (NOLOCK) ON i.object_id = t.object_id
JOIN [dyno_tpch].sys.partitions AS p WITH (NOLOCK)
ON p.object_id = i.object_id AND p.index_id = i.index_id
JOIN [dyno_tpch].sys.allocation_units AS a WITH (NOLOCK)
ON a.container_id = CASE a.type WHEN 2 THEN p.partition_id ELSE p.hobt_id END
WHERE t.schema_id = 1 AND t.name = N'lineitem'
-- size of an index
SELECT COALESCE(SUM(CAST(a.total_pages AS bigint)), 0)
FROM [dyno_tpch].sys.tables AS t WITH (NOLOCK)
JOIN [dyno_tpch].sys.indexes AS i WITH (NOLOCK) ON i.object_id = t.object_id
JOIN [dyno_tpch].sys.partitions AS p WITH (NOLOCK)
ON p.object_id = i.object_id AND p.index_id = i.index_id
JOIN [dyno_tpch].sys.allocation_units AS a WITH (NOLOCK)
ON a.container_id = CASE a.type WHEN 2 THEN p.partition_id ELSE p.hobt_id END
WHERE t.schema_id = 1 AND t.name = N'lineitem' AND i.name = N'lineitem_pkey'
