"""The statements of the report on a server (``diagnosis.py``), by section and name."""

from __future__ import annotations

from collections.abc import Mapping

_PROPERTIES = (
    *("ProductVersion", "ProductLevel", "ProductUpdateLevel", "Edition", "EngineEdition"),
    *("Collation", "IsClustered", "IsHadrEnabled", "IsXTPSupported", "IsIntegratedSecurityOnly"),
)
_RIGHTS = (
    *("CREATE ANY DATABASE", "VIEW SERVER STATE", "VIEW SERVER PERFORMANCE STATE"),
    *("VIEW ANY DEFINITION", "VIEW ANY DATABASE", "ALTER SETTINGS", "ALTER ANY CONNECTION"),
    "ADMINISTER BULK OPERATIONS",
)
_ROLES = ("sysadmin", "dbcreator", "serveradmin", "processadmin")
_CONFIGURATIONS = (
    *("max server memory (MB)", "min server memory (MB)", "max degree of parallelism"),
    *("cost threshold for parallelism", "max worker threads", "user connections"),
    *(
        "lightweight pooling",
        "priority boost",
        "recovery interval (min)",
        "remote query timeout (s)",
    ),
    *("optimize for ad hoc workloads", "backup compression default", "lock escalation"),
    *(
        "tempdb metadata memory-optimized",
        "ADR cleaner retry timeout (min)",
        "network packet size (B)",
    ),
)
_NAMES = ", ".join(f"'{name}'" for name in _CONFIGURATIONS)
_OWN = "name LIKE 'dyno[_]%' OR database_id = DB_ID() OR name = 'tempdb'"

SECTIONS: Mapping[str, Mapping[str, str]] = {
    "version": {
        "@@VERSION": "SELECT @@VERSION",
        **{name: f"SELECT CAST(SERVERPROPERTY('{name}') AS nvarchar(256))" for name in _PROPERTIES},
        "host": "SELECT host_platform, host_distribution, host_release FROM sys.dm_os_host_info",
        "CPUs, memory, memory model": "SELECT cpu_count, scheduler_count, physical_memory_kb, "
        "committed_target_kb, sql_memory_model_desc FROM sys.dm_os_sys_info",
    },
    "session": {
        "connection": "SELECT net_transport, encrypt_option, auth_scheme, protocol_version "
        "FROM sys.dm_exec_connections WHERE session_id = @@SPID",
        "level": "SELECT transaction_isolation_level FROM sys.dm_exec_sessions "
        "WHERE session_id = @@SPID",
        "language, date format": "SELECT @@LANGUAGE, date_format FROM sys.dm_exec_sessions "
        "WHERE session_id = @@SPID",
        "@@OPTIONS": "SELECT @@OPTIONS",
        "@@LOCK_TIMEOUT": "SELECT @@LOCK_TIMEOUT",
    },
    "rights": {
        **{name: f"SELECT HAS_PERMS_BY_NAME(NULL, NULL, '{name}')" for name in _RIGHTS},
        **{f"role {name}": f"SELECT IS_SRVROLEMEMBER('{name}')" for name in _ROLES},
        "role db_owner": "SELECT IS_MEMBER('db_owner')",
        "CREATE TABLE": "SELECT HAS_PERMS_BY_NAME(DB_NAME(), 'DATABASE', 'CREATE TABLE')",
    },
    "databases (Dyno's, the URL's and tempdb)": {
        "options": "SELECT CASE WHEN name LIKE 'dyno[_]%' OR name = 'tempdb' "  # noqa: S608
        "THEN name "
        "ELSE '(of the URL)' END AS name, compatibility_level, collation_name, "
        "recovery_model_desc, is_read_committed_snapshot_on, snapshot_isolation_state_desc, "
        "delayed_durability_desc, page_verify_option_desc, is_auto_close_on, is_auto_shrink_on, "
        f"is_query_store_on, log_reuse_wait_desc FROM sys.databases WHERE {_OWN}",
        "owner": "SELECT COUNT(*) FROM sys.databases WHERE owner_sid = SUSER_SID()",
        "files of tempdb": "SELECT type_desc, COUNT(*), SUM(CAST(size AS bigint)) * 8192 "
        "FROM tempdb.sys.database_files GROUP BY type_desc",
    },
    "settings": {
        "sys.configurations": "SELECT name, CAST(value_in_use AS nvarchar(64)) "  # noqa: S608
        f"FROM sys.configurations WHERE name IN ({_NAMES})",
        "trace flags": "DBCC TRACESTATUS(-1) WITH NO_INFOMSGS",
    },
    "statements": {
        "types": "DECLARE @t TABLE (a datetime2(6), b date, c decimal(15,2), d bigint, "
        "e varchar(20)); "
        "INSERT INTO @t VALUES ('1998-12-01T00:00:00', '1998-12-01', 1.25, 1, 'x'); "
        "SELECT * FROM @t",
        "collations": "SELECT name FROM fn_helpcollations() WHERE name IN "
        "('Latin1_General_BIN2', 'Latin1_General_100_BIN2', 'Latin1_General_100_BIN2_UTF8')",
        "top, offset": "SELECT TOP (1) name FROM sys.objects ORDER BY name; "
        "SELECT 1 AS one ORDER BY one OFFSET 0 ROWS FETCH NEXT 1 ROWS ONLY",
        "temporary table": "CREATE TABLE #dyno_report (a int NOT NULL PRIMARY KEY); "
        "INSERT INTO #dyno_report OUTPUT inserted.a VALUES (1); DROP TABLE #dyno_report",
        "sp_executesql": "EXEC sp_executesql N'SELECT @p1 + 1', N'@p1 int', @p1 = 1",
        "lock timeout": "SET LOCK_TIMEOUT 5000; SELECT @@LOCK_TIMEOUT; SET LOCK_TIMEOUT -1",
        "plan": "SELECT TOP (1) 1 FROM sys.objects OPTION (RECOMPILE)",
    },
}

VIEWS = (
    "sys.databases",
    "sys.database_recovery_status",
    "sys.database_scoped_configurations",
    "sys.master_files",
    "sys.tables",
    "sys.indexes",
    "sys.partitions",
    "sys.allocation_units",
    "sys.extended_properties",
    "sys.foreign_keys",
    "sys.stats",
    "sys.column_store_row_groups",
    "sys.resource_governor_configuration",
    "sys.resource_governor_resource_pool_affinity",
    "sys.resource_governor_resource_pools",
    "sys.resource_governor_workload_groups",
    "sys.dm_db_partition_stats",
    "sys.dm_db_index_usage_stats",
    "sys.dm_db_log_space_usage",
    "sys.dm_db_missing_index_details",
    "sys.dm_exec_cached_plans",
    "sys.dm_exec_connections",
    "sys.dm_exec_query_memory_grants",
    "sys.dm_exec_query_stats",
    "sys.dm_exec_requests",
    "sys.dm_exec_session_wait_stats",
    "sys.dm_exec_sessions",
    "sys.dm_io_virtual_file_stats(NULL, NULL)",
    "sys.dm_os_host_info",
    "sys.dm_os_memory_clerks",
    "sys.dm_os_performance_counters",
    "sys.dm_os_process_memory",
    "sys.dm_os_schedulers",
    "sys.dm_os_sys_info",
    "sys.dm_os_sys_memory",
    "sys.dm_os_volume_stats(DB_ID(), 1)",
    "sys.dm_os_wait_stats",
    "sys.dm_os_waiting_tasks",
    "sys.dm_resource_governor_configuration",
    "sys.dm_resource_governor_workload_groups",
    "sys.dm_server_services",
    "sys.dm_tran_locks",
    "sys.dm_tran_session_transactions",
    "sys.query_store_runtime_stats",
    "msdb.dbo.backupset",
)
"""The views that Dyno may read."""
