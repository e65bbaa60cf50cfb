"""Views of live systems and of runs for ``dyno advise``. Reads only."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from dyno import host, targets, workloads
from dyno.analyse.resources import resources
from dyno.analyse.watch import watch
from dyno.bundle.reader import Bundle, list_bundles
from dyno.contracts.advice import Advised, Catalog, dialect
from dyno.contracts.target import Target
from dyno.decide.advise import recorded
from dyno.decide.advise.loads import Load, layout_of
from dyno.decide.advise.system import Database, Facts, System, Volume, Work
from dyno.decide.advise.uses import Uses, of_rows
from dyno.errors import DynoError
from dyno.host.storage import nearest_existing
from dyno.runner import columns, indexes
from dyno.targets.devices import devices, stored
from dyno.workspace import engine_folders

_LIVE = "this machine does not show it"


def of_run(bundle: Bundle, work: Work | None) -> list[System]:
    """The systems of a run.

    Raises:
        UsageError: If a table of the bundle is damaged.
    """
    found = recorded.systems(bundle, [*resources(bundle), *watch(bundle)], work)
    return [
        one
        if one.database is None
        else dataclasses.replace(
            one, indexes=indexes.of_run(bundle, one.database.target, one.uses, one.loads)
        )
        for one in found
    ]


def of_machine(out: Path, work: Work | None) -> list[System]:
    """This machine with the volume of ``out``, and the databases of the newest run there."""
    facts = _host(out)
    folder = Volume(("folder",), Facts(facts["storage"], _LIVE))
    machine = System("this machine", Facts(facts, _LIVE), (folder,), work=work)
    newest = next((one for one in list_bundles(out) if one.measured), None)
    if newest is None or not newest.run.targets:
        return [machine]
    own = of_run(newest, work)
    return [machine, *(dataclasses.replace(one, machine=False) for one in own)]


def of_target(url: str, out: Path, work: Work | None) -> list[System]:
    """A live database and its machine. A private engine is started, and stopped again.

    Raises:
        UsageError: If the URL is invalid.
        TargetError: If the database cannot be used.
    """
    parsed = targets.parse(url)
    facts = _host(out)
    if parsed.scheme == "embedded":
        engine_folders.claim(out, parsed.name)
    with targets.open_target(parsed, out, host.limits(facts)) as target:
        own = target.facts()
        catalog = target.catalog() if isinstance(target, Advised) else None
        places = stored(target)
        found = devices(target, places)
        elsewhere = own.place == "elsewhere"
        database = Database(
            target.name,
            own.url,
            own.version,
            own.settings if catalog is None else catalog.settings,
            dialect(target.name),
            live=True,
            catalog=catalog,
            no_catalog=f"Dyno does not read tables and counters of {own.product or target.name}",
            devices=found["devices"],
            device_notes=found["device_notes"] or ((recorded.ELSEWHERE,) if elsewhere else ()),
            updated=_updated(target),
        )
        uses = _uses(target.name, catalog)
        product = own.product or target.name
        machine = Facts({}, recorded.ELSEWHERE) if elsewhere else Facts(facts, _LIVE)
        return [
            System(
                f"{own.version or target.name} at {own.url}",
                machine,
                recorded.grouped(found["volumes"], _LIVE),
                database,
                work=work,
                today=date.today(),
                uses=uses,
                loads=_loads(target),
                columns=columns.view(target, catalog, uses, out),
                indexes=indexes.of_target(target, product, uses, catalog, out),
            )
        ]


def _host(out: Path) -> dict[str, Any]:
    """Facts on this machine, without the second in which a run watches how idle it is."""
    return host.collect(nearest_existing(out), window_s=0.0, wait=lambda _: None)


def _updated(target: Target) -> bool | None:
    """Whether the program of a server was replaced since it started; None if it is not seen."""
    for pid in target.process_ids():
        try:
            return str(Path(f"/proc/{pid}/exe").readlink()).endswith(" (deleted)")
        except OSError:
            continue
    return None


def _loads(target: Target) -> tuple[Load, ...]:
    """Complete data of Dyno's workloads in a database, by its marks."""
    found: list[Load] = []
    for name in workloads.names():
        try:
            loaded = target.loaded(name)
        except DynoError:  # a role that may not look
            continue
        if loaded is not None and loaded.complete:
            layout = json.loads(loaded.layout) if loaded.layout else None
            found.append(Load(name, loaded.scale, layout=layout_of(layout), days=loaded.days))
    return tuple(found)


def _uses(target: str, catalog: Catalog | None) -> Uses:
    if catalog is None:
        return Uses()
    common = {"t_ns": 0, "end_ns": 0, "target": target}
    rows: Mapping[str, list[dict[str, Any]]] = {
        "statements": [{**common, **dataclasses.asdict(one)} for one in catalog.uses.statements],
        "relations": [{**common, **dataclasses.asdict(one)} for one in catalog.uses.relations],
    }
    since = "since the server's counters started"
    return of_rows(rows["statements"], rows["relations"], {}, since, catalog.uses.notes)
