CREATE PARTITION FUNCTION [dyno_window_ranges] (int) AS RANGE RIGHT FOR VALUES (1)
GO
CREATE PARTITION SCHEME [dyno_window_partitions] AS PARTITION [dyno_window_ranges] ALL TO ([PRIMARY])
GO
BEGIN TRANSACTION
GO
SELECT TOP (0) t.*, 0 AS [slice_no] INTO [dbo].[dyno_window] FROM [dbo].[lineitem] AS t LEFT JOIN [dbo].[lineitem] AS u ON 1 = 0
GO
IF EXISTS (SELECT 1 FROM sys.extended_properties WHERE class = 1 AND minor_id = 0 AND major_id = OBJECT_ID(N'[dbo].[dyno_window]') AND name = N'dyno') EXEC sys.sp_updateextendedproperty @name = N'dyno', @value = N'dyno:tpch window', @level0type = N'SCHEMA', @level0name = N'dbo', @level1type = N'TABLE', @level1name = N'dyno_window' ELSE EXEC sys.sp_addextendedproperty @name = N'dyno', @value = N'dyno:tpch window', @level0type = N'SCHEMA', @level0name = N'dbo', @level1type = N'TABLE', @level1name = N'dyno_window'
GO
COMMIT
GO
CREATE CLUSTERED INDEX [dyno_window_by_slice] ON [dbo].[dyno_window] ([slice_no]) ON [dyno_window_partitions] ([slice_no])
GO
BEGIN TRANSACTION
GO
SELECT TOP (0) t.*, 0 AS [slice_no] INTO [dbo].[dyno_window_1] FROM [dbo].[lineitem] AS t LEFT JOIN [dbo].[lineitem] AS u ON 1 = 0
GO
IF EXISTS (SELECT 1 FROM sys.extended_properties WHERE class = 1 AND minor_id = 0 AND major_id = OBJECT_ID(N'[dbo].[dyno_window_1]') AND name = N'dyno') EXEC sys.sp_updateextendedproperty @name = N'dyno', @value = N'dyno:tpch window', @level0type = N'SCHEMA', @level0name = N'dbo', @level1type = N'TABLE', @level1name = N'dyno_window_1' ELSE EXEC sys.sp_addextendedproperty @name = N'dyno', @value = N'dyno:tpch window', @level0type = N'SCHEMA', @level0name = N'dbo', @level1type = N'TABLE', @level1name = N'dyno_window_1'
GO
COMMIT
GO
INSERT INTO [dbo].[dyno_window_1] WITH (TABLOCK) SELECT TOP (100) t.*, 1 FROM [dbo].[lineitem] AS t
GO
CREATE CLUSTERED INDEX [dyno_window_1_by_slice] ON [dbo].[dyno_window_1] ([slice_no]) ON [PRIMARY]
GO
ALTER TABLE [dbo].[dyno_window_1] ADD CONSTRAINT [dyno_window_1_range] CHECK ([slice_no] >= 1 AND [slice_no] < 2)
GO
ALTER PARTITION SCHEME [dyno_window_partitions] NEXT USED [PRIMARY]
GO
ALTER PARTITION FUNCTION [dyno_window_ranges]() SPLIT RANGE (2)
GO
ALTER TABLE [dbo].[dyno_window_1] SWITCH TO [dbo].[dyno_window] PARTITION $PARTITION.[dyno_window_ranges](1)
GO
BEGIN TRANSACTION
GO
SELECT TOP (0) t.*, 0 AS [slice_no] INTO [dbo].[dyno_window_2] FROM [dbo].[lineitem] AS t LEFT JOIN [dbo].[lineitem] AS u ON 1 = 0
GO
IF EXISTS (SELECT 1 FROM sys.extended_properties WHERE class = 1 AND minor_id = 0 AND major_id = OBJECT_ID(N'[dbo].[dyno_window_2]') AND name = N'dyno') EXEC sys.sp_updateextendedproperty @name = N'dyno', @value = N'dyno:tpch window', @level0type = N'SCHEMA', @level0name = N'dbo', @level1type = N'TABLE', @level1name = N'dyno_window_2' ELSE EXEC sys.sp_addextendedproperty @name = N'dyno', @value = N'dyno:tpch window', @level0type = N'SCHEMA', @level0name = N'dbo', @level1type = N'TABLE', @level1name = N'dyno_window_2'
GO
COMMIT
GO
INSERT INTO [dbo].[dyno_window_2] WITH (TABLOCK) SELECT TOP (100) t.*, 2 FROM [dbo].[lineitem] AS t
GO
CREATE CLUSTERED INDEX [dyno_window_2_by_slice] ON [dbo].[dyno_window_2] ([slice_no]) ON [PRIMARY]
GO
ALTER TABLE [dbo].[dyno_window_2] ADD CONSTRAINT [dyno_window_2_range] CHECK ([slice_no] >= 2 AND [slice_no] < 3)
GO
ALTER PARTITION SCHEME [dyno_window_partitions] NEXT USED [PRIMARY]
GO
ALTER PARTITION FUNCTION [dyno_window_ranges]() SPLIT RANGE (3)
GO
ALTER TABLE [dbo].[dyno_window_2] SWITCH TO [dbo].[dyno_window] PARTITION $PARTITION.[dyno_window_ranges](2)
GO
ALTER TABLE [dbo].[dyno_window_1] DROP CONSTRAINT [dyno_window_1_range]
GO
ALTER TABLE [dbo].[dyno_window] SWITCH PARTITION $PARTITION.[dyno_window_ranges](1) TO [dbo].[dyno_window_1]
GO
ALTER PARTITION FUNCTION [dyno_window_ranges]() MERGE RANGE (1)
GO
DROP TABLE [dbo].[dyno_window_1]
GO
SELECT o.name, CAST(p.value AS nvarchar(4000)) FROM sys.objects o LEFT JOIN sys.extended_properties p ON p.class = 1 AND p.name = N'dyno' AND p.major_id = o.object_id AND p.minor_id = 0 WHERE o.schema_id = SCHEMA_ID(N'dbo') AND o.type IN ('U', 'V', 'SN')
GO
DROP TABLE [dbo].[dyno_window]
GO
DROP TABLE [dbo].[dyno_window_2]
GO
IF EXISTS (SELECT 1 FROM sys.partition_schemes WHERE name = N'dyno_window_partitions') DROP PARTITION SCHEME [dyno_window_partitions]
GO
IF EXISTS (SELECT 1 FROM sys.partition_functions WHERE name = N'dyno_window_ranges') DROP PARTITION FUNCTION [dyno_window_ranges]
GO
SET LOCK_TIMEOUT 30000
GO
SELECT o.name, CAST(p.value AS nvarchar(4000)) FROM sys.objects o LEFT JOIN sys.extended_properties p ON p.class = 1 AND p.name = N'dyno' AND p.major_id = o.object_id AND p.minor_id = 0 WHERE o.schema_id = SCHEMA_ID(N'dbo') AND o.type IN ('U', 'V', 'SN')
GO
DROP TABLE [dbo].[dyno_window]
GO
DROP TABLE [dbo].[dyno_window_2]
GO
IF EXISTS (SELECT 1 FROM sys.partition_schemes WHERE name = N'dyno_window_partitions') DROP PARTITION SCHEME [dyno_window_partitions]
GO
IF EXISTS (SELECT 1 FROM sys.partition_functions WHERE name = N'dyno_window_ranges') DROP PARTITION FUNCTION [dyno_window_ranges]
GO
