ALTER DATABASE [tempdb] MODIFY FILE (NAME = N'tempdev', FILENAME = N'/flash/dyno_flash_temp/tempdb.mdf');
GO
ALTER DATABASE [tempdb] MODIFY FILE (NAME = N'tempdev', FILENAME = N'/var/opt/mssql/data/tempdb.mdf');
GO
ALTER DATABASE [dyno_tpch] MODIFY FILE (NAME = N'dyno_tpch_log', FILENAME = N'/flash/dyno_flash_log/dyno_tpch_log.ldf');
GO
ALTER DATABASE [dyno_tpch] SET OFFLINE WITH ROLLBACK IMMEDIATE;
GO
ALTER DATABASE [dyno_tpch] SET ONLINE;
GO
ALTER DATABASE [dyno_tpch] MODIFY FILE (NAME = N'dyno_tpch_log', FILENAME = N'/var/opt/mssql/data/dyno_tpch_log.ldf');
GO
ALTER DATABASE [dyno_tpch] SET OFFLINE WITH ROLLBACK IMMEDIATE;
GO
ALTER DATABASE [dyno_tpch] SET ONLINE;
GO
