"""Where best practices come from."""

from __future__ import annotations

DSS = (
    "Dell, Best Practices for Decision Support Systems with Microsoft SQL Server 2012 using "
    "EqualLogic PS Series Storage Arrays, 2013"
)
OLTP = (
    "Dell, Best Practices and Sizing Guidelines for Transaction Processing Applications with "
    "Microsoft SQL Server 2012 using EqualLogic PS Series Storage, 2013"
)
POSTGRESQL = "PostgreSQL documentation"
MARIADB = "MariaDB documentation"
MYSQL = "MySQL reference manual"
SQL_SERVER = "SQL Server documentation"
FAST_TRACK = (
    "SanDisk, HPE ProLiant DL580 Gen9 120TB Data Warehouse Fast Track Reference Architecture, 2016"
)
LINUX = "Linux kernel documentation"
DYNO = "the threshold is Dyno's"
