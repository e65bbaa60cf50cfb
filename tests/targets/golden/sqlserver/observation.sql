-- rights
/* dyno observer */ SELECT HAS_PERMS_BY_NAME(NULL, NULL, N'VIEW SERVER STATE'),
HAS_PERMS_BY_NAME(NULL, NULL, N'VIEW SERVER PERFORMANCE STATE'),
HAS_PERMS_BY_NAME(NULL, NULL, N'VIEW ANY DEFINITION'), SUSER_SNAME();

-- performance counters
/* dyno observer */ SELECT RTRIM(object_name), RTRIM(counter_name), RTRIM(instance_name), cntr_value
FROM sys.dm_os_performance_counters WHERE LOWER(counter_name) IN (N'background writer pages/sec', N'batch requests/sec', N'buffer cache hit ratio', N'buffer cache hit ratio base', N'checkpoint pages/sec', N'lock waits/sec', N'log bytes flushed/sec', N'log flushes/sec', N'memory grants pending', N'number of deadlocks/sec', N'page life expectancy', N'page lookups/sec', N'page reads/sec', N'page writes/sec', N'processes blocked', N'total server memory (kb)', N'user connections', N'workfiles created/sec', N'worktables created/sec', N'write transactions/sec')
AND instance_name IN (N'', N'_Total', N'tempdb');

-- log bytes
SELECT SUM(cntr_value) FROM sys.dm_os_performance_counters WHERE RTRIM(counter_name) = 'Log Bytes Flushed/sec' AND RTRIM(instance_name) NOT IN ('_Total', 'tempdb');

-- files
/* dyno observer */ SELECT v.database_id, v.file_id, DB_NAME(v.database_id), f.name, f.type,
v.num_of_reads, v.num_of_bytes_read, v.io_stall_read_ms,
v.num_of_writes, v.num_of_bytes_written, v.io_stall_write_ms, v.size_on_disk_bytes
FROM sys.dm_io_virtual_file_stats(NULL, NULL) AS v
LEFT JOIN sys.master_files AS f ON f.database_id = v.database_id AND f.file_id = v.file_id;

-- waits
/* dyno observer */ SELECT wait_type, waiting_tasks_count, wait_time_ms, signal_wait_time_ms FROM sys.dm_os_wait_stats WHERE waiting_tasks_count > 0;

-- commits
/* dyno observer */ SELECT wait_type, waiting_tasks_count, wait_time_ms, signal_wait_time_ms FROM sys.dm_os_wait_stats WHERE waiting_tasks_count > 0 AND wait_type = N'WRITELOG';

-- tempdb
/* dyno observer */ SELECT SUM(user_object_reserved_page_count + internal_object_reserved_page_count
+ version_store_reserved_page_count + mixed_extent_page_count) FROM tempdb.sys.dm_db_file_space_usage;

-- memory clerks
/* dyno observer */ SELECT TOP (12) type, SUM(pages_kb) AS kb FROM sys.dm_os_memory_clerks GROUP BY type ORDER BY kb DESC;

-- requests
/* dyno observer */ SELECT r.session_id, r.status, r.wait_type, r.wait_resource
FROM sys.dm_exec_requests AS r JOIN sys.dm_exec_sessions AS s ON s.session_id = r.session_id
WHERE s.is_user_process = 1 AND r.session_id <> @@SPID
AND COALESCE(s.program_name, N'') <> N'dyno observer';

-- tasks
/* dyno observer */ SELECT t.session_id, t.wait_type, t.resource_description
FROM sys.dm_os_waiting_tasks AS t WHERE t.session_id IN (51, 57);

-- started
/* dyno observer */ SELECT CONVERT(varchar(23), sqlserver_start_time, 126) FROM sys.dm_os_sys_info;

-- statements
/* dyno observer */ SELECT plan_handle, statement_start_offset, statement_end_offset,
CONVERT(varchar(23), creation_time, 126), query_hash, sql_handle,
execution_count, total_elapsed_time, total_rows, total_logical_reads, total_physical_reads,
total_spills, min_elapsed_time, max_elapsed_time FROM sys.dm_exec_query_stats;

-- texts of statements
/* dyno observer */ SELECT w.place,
SUBSTRING(t.text, w.starts / 2 + 1, (CASE WHEN w.ends = -1 THEN DATALENGTH(t.text) ELSE w.ends END
- w.starts) / 2 + 1), CHARINDEX(N'dyno observer', t.text)
FROM (VALUES (0, 0x0200a1, 0, -1), (1, 0x0200b2, 40, 118)) AS w (place, handle, starts, ends)
CROSS APPLY sys.dm_exec_sql_text(w.handle) AS t;

-- databases of statements
/* dyno observer */ SELECT w.handle, DB_NAME(CAST(a.value AS int))
FROM (VALUES (0x0600a1), (0x0600b2)) AS w (handle)
CROSS APPLY sys.dm_exec_plan_attributes(w.handle) AS a WHERE a.attribute = N'dbid';

-- plans of statements
/* dyno observer */ SELECT w.place, p.query_plan
FROM (VALUES (0, 0x0200a1, 0, -1), (1, 0x0200b2, 40, 118)) AS w (place, handle, starts, ends)
CROSS APPLY sys.dm_exec_text_query_plan(w.handle, w.starts, w.ends) AS p;

-- relations
/* dyno observer */ SELECT DB_NAME(o.database_id), o.object_id, o.index_id,
SUM(o.range_scan_count + o.singleton_lookup_count),
SUM(o.leaf_insert_count + o.leaf_update_count + o.leaf_delete_count + o.leaf_ghost_count),
SUM(o.page_io_latch_wait_in_ms)
FROM sys.dm_db_index_operational_stats(NULL, NULL, NULL, NULL) AS o WHERE o.database_id BETWEEN 5 AND 32766
GROUP BY o.database_id, o.object_id, o.index_id;

-- uses of relations
/* dyno observer */ SELECT DB_NAME(u.database_id), u.object_id, u.index_id,
u.user_scans + u.user_seeks + u.user_lookups
FROM sys.dm_db_index_usage_stats AS u WHERE u.database_id BETWEEN 5 AND 32766;

-- names of relations
/* dyno observer */ SELECT o.object_id, i.index_id, s.name, o.name, i.name, i.type,
SUM(p.used_page_count)
FROM [dyno_tpcc].sys.objects AS o JOIN [dyno_tpcc].sys.schemas AS s ON s.schema_id = o.schema_id
JOIN [dyno_tpcc].sys.indexes AS i ON i.object_id = o.object_id
LEFT JOIN [dyno_tpcc].sys.dm_db_partition_stats AS p ON p.object_id = i.object_id AND p.index_id = i.index_id
WHERE o.is_ms_shipped = 0
GROUP BY o.object_id, i.index_id, s.name, o.name, i.name, i.type;

-- meter: now
/* dyno observer */ SELECT CONVERT(varchar(23), GETDATE(), 126);

-- meter: bytes read
/* dyno observer */ SELECT SUM(v.num_of_bytes_read) FROM sys.dm_io_virtual_file_stats(NULL, NULL) AS v
WHERE v.database_id <> 2;

-- meter: tempdb
/* dyno observer */ SELECT internal_objects_alloc_page_count FROM tempdb.sys.dm_db_session_space_usage WHERE session_id = @@SPID;

-- meter: plans
/* dyno observer */ SELECT q.sql_handle, MAX(q.last_used_grant_kb)
FROM sys.dm_exec_query_stats AS q CROSS APPLY sys.dm_exec_sql_text(q.sql_handle) AS t
WHERE q.last_execution_time >= CONVERT(datetime, N'2026-11-26T10:00:00.123', 126) AND t.text NOT LIKE N'%dyno observer%'
GROUP BY q.sql_handle;

-- meter: running
/* dyno observer */ SELECT COUNT(*) FROM sys.dm_exec_requests AS r
JOIN sys.dm_exec_sessions AS s ON s.session_id = r.session_id
OUTER APPLY sys.dm_exec_sql_text(r.sql_handle) AS t
WHERE s.is_user_process = 1 AND r.session_id <> @@SPID
AND COALESCE(t.text, N'') NOT LIKE N'%dyno observer%';

-- meter: batches
/* dyno observer */ SELECT SUM(c.cntr_value) FROM sys.dm_os_performance_counters AS c
WHERE LOWER(c.counter_name) = N'batch requests/sec';

-- plan: on
SET SHOWPLAN_XML ON;

-- plan: off
SET SHOWPLAN_XML OFF;

-- actual plan: on
SET STATISTICS XML ON;

-- actual plan: off
SET STATISTICS XML OFF;

-- catalog: tables
SELECT TOP (5000) s.name, t.name,
(SELECT SUM(a.total_pages) FROM sys.partitions AS p JOIN sys.allocation_units AS a ON a.container_id = CASE a.type WHEN 2 THEN p.partition_id ELSE p.hobt_id END WHERE p.object_id = t.object_id AND p.index_id IN (0, 1)),
(SELECT SUM(p.rows) FROM sys.partitions AS p
WHERE p.object_id = t.object_id AND p.index_id IN (0, 1)),
(SELECT COUNT(*) FROM sys.stats AS x
WHERE x.object_id = t.object_id AND STATS_DATE(x.object_id, x.stats_id) IS NOT NULL),
(SELECT COUNT(*) FROM sys.indexes AS i JOIN sys.partition_schemes AS c
ON c.data_space_id = i.data_space_id WHERE i.object_id = t.object_id AND i.index_id IN (0, 1)),
(SELECT i.name FROM sys.indexes AS i WHERE i.object_id = t.object_id AND i.index_id = 1)
FROM sys.tables AS t JOIN sys.schemas AS s ON s.schema_id = t.schema_id
WHERE t.is_ms_shipped = 0 AND t.temporal_type <> 1 ORDER BY 3 DESC, 1, 2;

-- catalog: indexes
SELECT TOP (50000) s.name, t.name, i.name, i.type, i.is_unique,
i.filter_definition, c.name, x.is_descending_key, x.is_included_column, u.seeks,
(SELECT SUM(a.total_pages) FROM sys.partitions AS p JOIN sys.allocation_units AS a ON a.container_id = CASE a.type WHEN 2 THEN p.partition_id ELSE p.hobt_id END
WHERE p.object_id = i.object_id AND p.index_id = i.index_id)
FROM sys.indexes AS i JOIN sys.tables AS t ON t.object_id = i.object_id
JOIN sys.schemas AS s ON s.schema_id = t.schema_id
JOIN sys.index_columns AS x ON x.object_id = i.object_id AND x.index_id = i.index_id
JOIN sys.columns AS c ON c.object_id = x.object_id AND c.column_id = x.column_id
LEFT JOIN (SELECT object_id, index_id, user_seeks + user_scans + user_lookups AS seeks
FROM sys.dm_db_index_usage_stats WHERE database_id = DB_ID()) AS u
ON u.object_id = i.object_id AND u.index_id = i.index_id
WHERE i.index_id > 1 AND i.is_hypothetical = 0 AND t.is_ms_shipped = 0
AND (x.key_ordinal > 0 OR x.is_included_column = 1 OR i.type IN (5, 6))
ORDER BY s.name, t.name, i.name, x.is_included_column, x.key_ordinal, x.index_column_id;

-- catalog: counters
SELECT DATEDIFF(second, i.sqlserver_start_time, GETDATE()), i.sql_memory_model,
w.of_log, w.of_temp, w.of_data, w.hidden FROM sys.dm_os_sys_info AS i CROSS JOIN (SELECT
SUM(CASE WHEN v.database_id <> 2 AND f.type = 1 THEN v.num_of_bytes_written END) AS of_log,
SUM(CASE WHEN v.database_id = 2 THEN v.num_of_bytes_written END) AS of_temp,
SUM(CASE WHEN v.database_id <> 2 AND f.type <> 1 THEN v.size_on_disk_bytes END) AS of_data,
COUNT(CASE WHEN v.database_id <> 2 AND f.type IS NULL THEN 1 END) AS hidden
FROM sys.dm_io_virtual_file_stats(NULL, NULL) AS v LEFT JOIN sys.master_files AS f
ON f.database_id = v.database_id AND f.file_id = v.file_id
WHERE v.database_id <> 32767) AS w;

-- columns
SELECT TOP (20000) s.name, t.name, c.name, y.name, c.max_length, c.precision,
c.scale, c.is_nullable
FROM sys.columns AS c JOIN sys.tables AS t ON t.object_id = c.object_id
JOIN sys.schemas AS s ON s.schema_id = t.schema_id
JOIN sys.types AS y ON y.user_type_id = c.user_type_id
WHERE t.is_ms_shipped = 0 ORDER BY s.name, t.name, c.column_id;

-- keys
SELECT TOP (20000) s.name, t.name, i.name, c.name, i.is_primary_key,
CASE WHEN i.is_primary_key = 1 OR i.is_unique_constraint = 1 THEN 1 ELSE 0 END,
CASE i.type WHEN 1 THEN 1 ELSE 0 END,
CASE WHEN i.has_filter = 1 OR x.is_descending_key = 1 OR EXISTS (SELECT 1
FROM sys.index_columns AS y WHERE y.object_id = i.object_id AND y.index_id = i.index_id
AND y.is_included_column = 1) THEN 1 ELSE 0 END
FROM sys.indexes AS i JOIN sys.tables AS t ON t.object_id = i.object_id
JOIN sys.schemas AS s ON s.schema_id = t.schema_id
JOIN sys.index_columns AS x ON x.object_id = i.object_id AND x.index_id = i.index_id
JOIN sys.columns AS c ON c.object_id = x.object_id AND c.column_id = x.column_id
WHERE i.is_unique = 1 AND x.key_ordinal > 0 AND t.is_ms_shipped = 0
ORDER BY s.name, t.name, i.is_primary_key DESC, i.name, x.key_ordinal;

-- foreign keys
SELECT s.name, t.name, q.name, p.name, f.name FROM sys.foreign_keys AS f
JOIN sys.tables AS t ON t.object_id = f.referenced_object_id
JOIN sys.schemas AS s ON s.schema_id = t.schema_id
JOIN sys.tables AS p ON p.object_id = f.parent_object_id
JOIN sys.schemas AS q ON q.schema_id = p.schema_id ORDER BY 1, 2, 3, 4, 5;

-- histogram
SELECT x.stats_id, c.name,
CASE WHEN k.base IN (N'date', N'time', N'datetime', N'datetime2', N'smalldatetime',
N'datetimeoffset') THEN CONVERT(nvarchar(100), h.range_high_key, 121)
WHEN k.base IN (N'binary', N'varbinary', N'timestamp') THEN N''
ELSE CONVERT(nvarchar(100), h.range_high_key) END,
h.range_rows, h.equal_rows, h.distinct_range_rows
FROM sys.stats AS x JOIN sys.stats_columns AS y ON y.object_id = x.object_id
AND y.stats_id = x.stats_id AND y.stats_column_id = 1
JOIN sys.columns AS c ON c.object_id = y.object_id AND c.column_id = y.column_id
CROSS APPLY sys.dm_db_stats_histogram(x.object_id, x.stats_id) AS h
CROSS APPLY (SELECT CAST(SQL_VARIANT_PROPERTY(h.range_high_key, 'BaseType') AS nvarchar(128))
AS base) AS k
WHERE x.object_id = OBJECT_ID(N'[dyno_tpcc].[dbo].[stock]') AND x.has_filter = 0
ORDER BY x.stats_id, h.step_number;

-- stored columns
SELECT c.name, y.name, c.max_length, c.precision, c.scale,
CASE WHEN EXISTS (SELECT 1 FROM sys.indexes AS i JOIN sys.index_columns AS x
ON x.object_id = i.object_id AND x.index_id = i.index_id WHERE i.object_id = c.object_id
AND i.is_primary_key = 1 AND x.column_id = c.column_id) THEN 1 ELSE 0 END
FROM sys.columns AS c JOIN sys.types AS y ON y.user_type_id = c.user_type_id
WHERE c.object_id = OBJECT_ID(N'[dyno_tpcc].[dbo].[stock]') ORDER BY c.column_id;

-- changed rows
SELECT SUM(o.leaf_update_count + o.leaf_delete_count + o.leaf_ghost_count)
FROM sys.dm_db_index_operational_stats(DB_ID(), OBJECT_ID(N'[dyno_tpcc].[dbo].[stock]'), NULL, NULL) AS o
WHERE o.index_id IN (0, 1);

-- master files
/* dyno observer */ SELECT f.database_id, f.file_id, DB_NAME(f.database_id), f.name, f.type,
f.physical_name, f.size FROM sys.master_files AS f WHERE f.state = 0
ORDER BY f.database_id, f.file_id;

-- volumes
/* dyno observer */ SELECT f.database_id, f.file_id, v.volume_mount_point, v.file_system_type,
v.total_bytes, v.available_bytes
FROM sys.master_files AS f CROSS APPLY sys.dm_os_volume_stats(f.database_id, f.file_id) AS v;

-- age
/* dyno observer */ SELECT DATEDIFF(second, sqlserver_start_time, SYSDATETIME()) FROM sys.dm_os_sys_info;

-- space
SELECT SUM(allocated_extent_page_count) * 8192 FROM sys.dm_db_file_space_usage;

-- check: space
SELECT SUM(internal_objects_alloc_page_count - internal_objects_dealloc_page_count) * 8192 FROM tempdb.sys.dm_db_task_space_usage WHERE session_id = 77;

-- check: estimate
DBCC CHECKDB (N'dyno_tpcc') WITH ESTIMATEONLY;

-- check: estimate of pages
DBCC CHECKDB (N'dyno_tpcc') WITH ESTIMATEONLY, PHYSICAL_ONLY;

-- check
DBCC CHECKDB (N'dyno_tpcc') WITH NO_INFOMSGS, ALL_ERRORMSGS;

-- check of pages
DBCC CHECKDB (N'dyno_tpcc') WITH PHYSICAL_ONLY, NO_INFOMSGS, ALL_ERRORMSGS;

-- indexes
SELECT s.name, t.name, i.name, i.type, SUM(a.total_pages),
MAX(CASE d.type WHEN 'PS' THEN 1 ELSE 0 END)
FROM sys.tables AS t JOIN sys.schemas AS s ON s.schema_id = t.schema_id
JOIN sys.indexes AS i ON i.object_id = t.object_id
JOIN sys.data_spaces AS d ON d.data_space_id = i.data_space_id
JOIN sys.partitions AS p ON p.object_id = i.object_id AND p.index_id = i.index_id
JOIN sys.allocation_units AS a ON a.container_id = p.partition_id
WHERE t.is_ms_shipped = 0 AND i.type IN (1, 2, 5, 6) AND i.is_disabled = 0
GROUP BY s.name, t.name, i.name, i.type ORDER BY 5 DESC, 1, 2, 3;

-- ordered column stores
SELECT DISTINCT s.name, t.name FROM sys.index_columns AS c
JOIN sys.tables AS t ON t.object_id = c.object_id
JOIN sys.schemas AS s ON s.schema_id = t.schema_id WHERE c.column_store_order_ordinal > 0;

-- reindex online
ALTER INDEX [stock_pkey] ON [dbo].[stock] REBUILD WITH (ONLINE = ON);

-- reindex offline
ALTER INDEX [stock_pkey] ON [dbo].[stock] REBUILD WITH (ONLINE = OFF);

-- statistics of a partitioned index
UPDATE STATISTICS [dbo].[stock] [stock_pkey] WITH FULLSCAN;

-- reorganise
ALTER INDEX [stock_pkey] ON [dbo].[stock] REORGANIZE;

-- update statistics
UPDATE STATISTICS [dbo].[stock] [stock_pkey] WITH RESAMPLE;

-- reorganise a column store
ALTER INDEX [order_line_columns] ON [dbo].[order_line] REORGANIZE WITH (COMPRESS_ALL_ROW_GROUPS = ON);

-- log chain
IF EXISTS (SELECT 1 FROM [dyno_tpcc].sys.database_files WHERE type = 0 AND differential_base_lsn IS NOT NULL) BACKUP DATABASE [dyno_tpcc] TO DISK = N'NUL' WITH DIFFERENTIAL ELSE BACKUP DATABASE [dyno_tpcc] TO DISK = N'NUL';

-- backup folder
SELECT CAST(SERVERPROPERTY('InstanceDefaultBackupPath') AS nvarchar(4000));

-- backup size
SELECT SUM(a.used_pages) * 8192 FROM sys.allocation_units AS a;

-- backup
BACKUP DATABASE [dyno_tpcc] TO DISK = N'/var/opt/mssql/data/dyno_dyno_tpcc_0123456789ab.bak' WITH COPY_ONLY, COMPRESSION, CHECKSUM, FORMAT, INIT;

-- backup without compression
BACKUP DATABASE [dyno_tpcc] TO DISK = N'/var/opt/mssql/data/dyno_dyno_tpcc_0123456789ab.bak' WITH COPY_ONLY, NO_COMPRESSION, CHECKSUM, FORMAT, INIT;

-- backup header
RESTORE HEADERONLY FROM DISK = N'/var/opt/mssql/data/dyno_dyno_tpcc_0123456789ab.bak';

-- backup verified
RESTORE VERIFYONLY FROM DISK = N'/var/opt/mssql/data/dyno_dyno_tpcc_0123456789ab.bak' WITH CHECKSUM;

-- backup with a bare name
SELECT physical_device_name FROM msdb.dbo.backupmediafamily WHERE RIGHT(physical_device_name, 18) = N'dyno_tpcc_f00d.bak';

-- backup removed
EXECUTE master.sys.xp_delete_file 0, N'/var/opt/mssql/data/dyno_dyno_tpcc_0123456789ab.bak';

-- new database: right
SELECT HAS_PERMS_BY_NAME(NULL, NULL, N'CREATE ANY DATABASE');

-- new database: exists
SELECT COUNT(*) FROM sys.databases WHERE name = N'dyno_new_database';

-- new database: marked
SELECT COUNT(*) FROM [dyno_new_database].sys.extended_properties WHERE class = 0 AND name = N'dyno' AND CAST(value AS nvarchar(100)) = N'dyno:create-database';

-- new database
CREATE DATABASE [dyno_new_database];

-- new database: mark
EXECUTE [dyno_new_database].sys.sp_addextendedproperty @name = N'dyno', @value = N'dyno:create-database';

-- new database: files
SELECT type, name, size FROM [dyno_new_database].sys.database_files ORDER BY file_id;

-- new database: grow
ALTER DATABASE [dyno_new_database] MODIFY FILE (NAME = N'dyno_new_database', SIZE = 265MB);

-- new database: instant files
SELECT MAX(instant_file_initialization_enabled) FROM sys.dm_server_services WHERE servicename LIKE N'SQL Server (%';

-- new database: drop
DROP DATABASE [dyno_new_database];
