"""The server's files with their roles, paths and volumes, as it reports them.

Paths and volumes are those of the server's machine.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.inside.files import Role, role_of
from dyno.targets.sqlserver.inside.performance import PAGE
from dyno.targets.sqlserver.inside.views import OWN, Views, rights

FILES_VIEW = "sys.master_files"
FILES = f"""{OWN}SELECT f.database_id, f.file_id, DB_NAME(f.database_id), f.name, f.type,
f.physical_name, f.size FROM {FILES_VIEW} AS f WHERE f.state = 0
ORDER BY f.database_id, f.file_id"""  # noqa: S608  (fixed text)
VOLUMES_VIEW = "sys.dm_os_volume_stats"
VOLUMES = f"""{OWN}SELECT f.database_id, f.file_id, v.volume_mount_point, v.file_system_type,
v.total_bytes, v.available_bytes
FROM {FILES_VIEW} AS f CROSS APPLY {VOLUMES_VIEW}(f.database_id, f.file_id) AS v"""  # noqa: S608


@dataclass(frozen=True)
class Volume:
    """A volume of the server's machine; sizes in bytes."""

    mount: str
    file_system: str
    total: int
    available: int


@dataclass(frozen=True)
class File:
    """A file of the server; its volume is None if it is unknown."""

    database: str
    name: str
    role: Role
    path: str
    bytes: int
    volume: Volume | None


@dataclass(frozen=True)
class Files:
    """All files that this login may see; ``notes`` say what it may not."""

    files: tuple[File, ...]
    notes: tuple[str, ...] = field(default=())

    def paths(self, role: Role) -> tuple[str, ...]:
        """The paths of a role, without duplicates."""
        return tuple(dict.fromkeys(one.path for one in self.files if one.role == role))


def read(session: Session) -> Files:
    """Reads the files.

    Raises:
        DynoError: If the server does not respond.
    """
    views = Views()
    volumes = {
        (int(row[0]), int(row[1])): Volume(str(row[2]), str(row[3]), int(row[4]), int(row[5]))
        for row in views.rows(session, VOLUMES_VIEW, VOLUMES) or ()
    }
    found: list[File] = []
    for database, number, place, name, kind, path, pages in (
        views.rows(session, FILES_VIEW, FILES) or ()
    ):
        role = role_of(int(database), int(kind))
        if role is not None and path:
            volume = volumes.get((int(database), int(number)))
            size = int(pages) * PAGE
            found.append(File(str(place or database), str(name), role, str(path), size, volume))
    return Files(tuple(found), (*rights(session), *views.notes))
