SELECT name, CAST(value_in_use AS nvarchar(60)) FROM sys.configurations
GO
SELECT name, database_id, DB_ID(), recovery_model_desc, delayed_durability_desc, page_verify_option_desc, is_auto_shrink_on, is_auto_close_on, is_auto_create_stats_on, is_auto_update_stats_on, is_read_committed_snapshot_on, is_query_store_on, log_reuse_wait_desc, target_recovery_time_in_seconds, compatibility_level FROM sys.databases
GO
SELECT sql_memory_model_desc FROM sys.dm_os_sys_info
GO
SELECT instant_file_initialization_enabled FROM sys.dm_server_services WHERE instant_file_initialization_enabled IS NOT NULL AND process_id IS NOT NULL AND servicename LIKE N'SQL Server (%'
GO
SELECT host_platform FROM sys.dm_os_host_info
GO
SELECT request_max_memory_grant_percent FROM sys.dm_resource_governor_workload_groups WHERE name = N'default'
GO
SELECT MAX(CAST(s.max_target_memory_kb AS bigint)) * 1024 * MAX(g.request_max_memory_grant_percent) / 100 FROM sys.dm_exec_query_resource_semaphores AS s JOIN sys.dm_resource_governor_workload_groups AS g ON g.pool_id = s.pool_id WHERE g.name = N'default'
GO
SELECT effective_max_dop FROM sys.dm_resource_governor_workload_groups WHERE name = N'default'
GO
SELECT COUNT(DISTINCT size) FROM tempdb.sys.database_files WHERE type = 0
GO
SELECT COUNT(*) FROM tempdb.sys.database_files WHERE type = 0
GO
SELECT COUNT(*) FROM sys.database_files WHERE is_percent_growth = 1
GO
SELECT COUNT(*) FROM sys.filegroups AS g WHERE g.is_autogrow_all_files = 0 AND 1 < (SELECT COUNT(*) FROM sys.database_files AS f WHERE f.data_space_id = g.data_space_id)
GO
SELECT d.recovery_model_desc FROM sys.databases AS d JOIN sys.database_recovery_status AS r ON r.database_id = d.database_id WHERE d.database_id = DB_ID() AND d.recovery_model_desc <> N'SIMPLE' AND r.last_log_backup_lsn IS NULL
GO
SELECT MAX(found.columns) FROM (SELECT COUNT(*) AS columns FROM sys.indexes AS i JOIN sys.index_columns AS c ON c.object_id = i.object_id AND c.index_id = i.index_id WHERE i.type IN (5, 6) GROUP BY i.object_id, i.index_id) AS found
GO
SELECT CAST(value_data AS nvarchar(4000)) FROM sys.dm_server_registry WHERE value_name LIKE N'SQLArg%'
GO
DBCC TRACESTATUS (-1) WITH NO_INFOMSGS
GO
SELECT CAST(DATEDIFF_BIG(second, COALESCE(MAX(b.backup_finish_date), MAX(d.create_date)), GETDATE()) AS bigint) FROM sys.databases AS d LEFT JOIN msdb.dbo.backupset AS b ON b.database_name = d.name COLLATE DATABASE_DEFAULT AND b.type = 'L' WHERE d.database_id = DB_ID() AND d.database_id > 4
GO
SELECT name, CAST(value AS bigint), CAST(value_in_use AS bigint) FROM sys.configurations WHERE name IN (N'show advanced options', N'max server memory (MB)', N'max degree of parallelism', N'cost threshold for parallelism')
GO
SELECT CAST(s.request_max_memory_grant_percent_numeric AS FLOAT), CAST(u.request_max_memory_grant_percent_numeric AS FLOAT), CAST(c.is_enabled AS int)
FROM sys.resource_governor_workload_groups AS s
JOIN sys.dm_resource_governor_workload_groups AS u ON u.group_id = s.group_id
CROSS JOIN sys.resource_governor_configuration AS c WHERE s.name = N'default'
GO
SELECT name, physical_name, CAST(size AS bigint) * 8, CAST(growth AS bigint), CAST(is_percent_growth AS int), CASE WHEN max_size > 0 THEN CAST(max_size AS bigint) * 8 END FROM tempdb.sys.database_files WHERE type = 0 ORDER BY file_id
GO
SELECT name, page_verify_option_desc, delayed_durability_desc, recovery_model_desc, CASE is_read_committed_snapshot_on WHEN 1 THEN 'ON' ELSE 'OFF' END, CASE WHEN state = 0 AND HAS_DBACCESS(name) = 1 THEN 1 ELSE 0 END FROM sys.databases
GO
SELECT CAST(s.request_max_memory_grant_percent AS FLOAT), CAST(u.request_max_memory_grant_percent AS FLOAT), CAST(c.is_enabled AS int)
FROM sys.resource_governor_workload_groups AS s
JOIN sys.dm_resource_governor_workload_groups AS u ON u.group_id = s.group_id
CROSS JOIN sys.resource_governor_configuration AS c WHERE s.name = N'default'
GO
SELECT CAST(c.is_enabled AS int), c.classifier_function_id,
CAST(d.is_reconfiguration_pending AS int),
(SELECT COUNT(*) FROM sys.resource_governor_resource_pools AS p WHERE p.pool_id > 2
OR p.pool_id = 2 AND (p.max_memory_percent < 100 OR p.max_cpu_percent < 100
OR p.cap_cpu_percent < 100 OR p.min_iops_per_volume > 0 OR p.max_iops_per_volume > 0))
+ (SELECT COUNT(*) FROM sys.resource_governor_resource_pool_affinity AS a WHERE a.pool_id = 2)
+ (SELECT COUNT(*) FROM sys.resource_governor_workload_groups AS g WHERE g.group_id = 2
AND (g.max_dop > 0 OR g.group_max_requests > 0 OR g.request_max_cpu_time_sec > 0
OR g.request_memory_grant_timeout_sec > 0))
FROM sys.resource_governor_configuration AS c
CROSS JOIN sys.dm_resource_governor_configuration AS d
GO
SELECT MAX(CAST(max_target_memory_kb AS bigint)) * 1024 FROM sys.dm_exec_query_resource_semaphores WHERE pool_id = 2
GO
SELECT CAST(committed_kb AS bigint) * 1024, CAST(committed_target_kb AS bigint) * 1024 FROM sys.dm_os_sys_info
GO
SELECT d.name, CASE WHEN r.last_log_backup_lsn IS NULL THEN 0 ELSE 1 END FROM sys.databases AS d JOIN sys.database_recovery_status AS r ON r.database_id = d.database_id
GO
SELECT name, CAST(value AS nvarchar(60)) FROM [dyno_tpch].sys.database_scoped_configurations
GO
SELECT name FROM sys.configurations WHERE is_dynamic = 1 AND value <> value_in_use AND name <> N'min server memory (MB)' ORDER BY name
GO
SELECT CAST(SERVERPROPERTY('ServerName') AS nvarchar(256))
GO
SELECT COALESCE(SUM(CAST(max_used_memory_kb AS bigint)), 0) * 1024 FROM sys.dm_exec_query_memory_grants WHERE session_id = 57
GO
SELECT g.name, e.value FROM [dyno_tpch].sys.filegroups AS g LEFT JOIN [dyno_tpch].sys.extended_properties AS e ON e.class = 20 AND e.major_id = g.data_space_id AND e.name = N'dyno'
GO
SELECT f.name, g.name, f.physical_name, CAST(f.size AS bigint) / 128 FROM [dyno_tpch].sys.database_files AS f LEFT JOIN [dyno_tpch].sys.filegroups AS g ON g.data_space_id = f.data_space_id
GO
