-- the rows are rewritten: writers wait, and the table needs its space once more
GO
CREATE PARTITION FUNCTION [sale_ranges] (/* the type of the column */) AS RANGE RIGHT FOR VALUES ('2024-01-01', '2025-01-01');
GO
CREATE PARTITION SCHEME [sale_partitions] AS PARTITION [sale_ranges] ALL TO ([PRIMARY]);
GO
CREATE UNIQUE CLUSTERED INDEX [by_day] ON [shop].[dbo].[sale] ([sold_on]) WITH (DROP_EXISTING = ON) ON [sale_partitions] ([sold_on]);
GO
ALTER TABLE [shop].[dbo].[sale] DROP CONSTRAINT [sale_pkey];
GO
ALTER TABLE [shop].[dbo].[sale] ADD CONSTRAINT [sale_pkey] PRIMARY KEY NONCLUSTERED ([id], [sold_on]) ON [sale_partitions] ([sold_on]);
GO
CREATE UNIQUE NONCLUSTERED INDEX [by_number] ON [shop].[dbo].[sale] ([number], [sold_on]) WITH (DROP_EXISTING = ON) ON [sale_partitions] ([sold_on]);
GO
-- rebuild the other indexes with DROP_EXISTING = ON and the same clause ON, so that partitions can be switched
GO
UPDATE STATISTICS [shop].[dbo].[sale] WITH FULLSCAN;
GO
-- the rows are rewritten: writers wait, and the table needs its space once more
GO
CREATE PARTITION FUNCTION [note_ranges] (/* the type of the column */) AS RANGE RIGHT FOR VALUES (10, 20);
GO
CREATE PARTITION SCHEME [note_partitions] AS PARTITION [note_ranges] ALL TO ([PRIMARY]);
GO
CREATE CLUSTERED INDEX [note_clustered] ON [shop].[dbo].[note] ([made]) ON [note_partitions] ([made]);
GO
-- rebuild the other indexes with DROP_EXISTING = ON and the same clause ON, so that partitions can be switched
GO
UPDATE STATISTICS [shop].[dbo].[note] WITH FULLSCAN;
GO
