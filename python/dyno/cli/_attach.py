"""``dyno accelerate apply|status|detach|remove``: a cache in front of a folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dyno.cli._options import Options, common, examples
from dyno.safety import plainjson
from dyno.safety.text import plain

if TYPE_CHECKING:
    from dyno.accelerate.attach.folder import Attachment, Status
    from dyno.host.mounts import Mount

_FOLDER = click.Path(path_type=Path, file_okay=False)
_BYPASSED = {
    "scanned": "long scans",
    "over_quota": "quota",
    "left": "being written",
    "aside": "the folder's disk is faster",
}
"""Why blocks that were read were not cached, in the daemon's report and for its readers."""
HEAD: dict[str, Any] = {"run": None, "bundle": None, "valid": True, "reasons": []}
"""What a JSON document without a run begins with."""


@click.command(
    "apply",
    short_help="Put a cache on flash in front of a folder.",
    epilog=examples(
        "dyno accelerate apply /srv/pg --flash /flash/pg --size 200G --work oltp",
        "dyno accelerate apply /srv/dwh --flash /flash/dwh --size 500G --yes",
        "dyno accelerate apply /srv/pg --flash /flash/pg    attaches a cache again",
    ),
)
@click.argument("folder", type=_FOLDER)
@click.option(
    "--flash", "cache", type=_FOLDER, required=True,
    help="Folder for the cache, on the flash device: new, empty, or one that was detached.",
)  # fmt: skip
@click.option("--size", metavar="SIZE", help="Size of a new cache: 200G.")
@click.option(
    "--work", type=click.Choice(["dss", "oltp", "mixed"]), default="mixed", show_default=True,
    help="What the database does: with dss, long sequential reads fill the cache too.",
)  # fmt: skip
@click.option(
    "--scan-bypass", metavar="SIZE",
    help="Do not cache sequential reads longer than this; overrides --work.",
)  # fmt: skip
@click.option(
    "--rules", type=click.Path(path_type=Path, dir_okay=False),
    help="TOML file with rules on what is cached, before the built-in ones (docs/accelerate.md).",
)  # fmt: skip
@common
def apply(
    folder: Path, cache: Path, size: str | None, work: str, scan_bypass: str | None,
    rules: Path | None, options: Options,
) -> int:  # fmt: skip
    """Put a cache on flash in front of FOLDER, where a database has its files.

    Stop the database first. Dyno mounts FOLDER over itself with FUSE: no copy, no reformatting.
    FOLDER is always complete without the cache. Blocks that are read are cached; writes go to
    FOLDER. Logs and temporary files are not cached.

    Without --yes, shows what would be done, and asks for the name of the folder.
    """
    from dyno.accelerate.attach import attached
    from dyno.accelerate.attach import folder as folders

    origin, cache = folder.expanduser().resolve(), cache.expanduser().resolve()
    attached.check(origin, cache)
    new = not (cache / folders.MARK).exists()
    if new:
        attachment = _new(origin, cache, size, work, scan_bypass, rules)
    else:
        attachment = folders.read(cache)
        _same(attachment, origin, cache, size, scan_bypass, rules)
    _say_plan(attachment, cache, new)
    if not confirmed(origin.name, options):
        return 0
    if new:
        _make(cache, attachment)
    attached.attach(cache)
    if options.as_json:
        click.echo(plainjson.dumps({**HEAD, "folder": str(origin), "cache": str(cache)}))
    else:
        click.echo("Attached. Start the database; `dyno accelerate status` shows what is cached.")
    return 0


def _new(
    origin: Path, cache: Path, size: str | None, work: str, scan_bypass: str | None,
    rules: Path | None,
) -> Attachment:  # fmt: skip
    import os

    from dyno.accelerate.attach import attached, presets
    from dyno.accelerate.attach.folder import Attachment, require_size
    from dyno.accelerate.attach.rules import read
    from dyno.config.units import bytes_text, parse_bytes
    from dyno.errors import DiskFullError, UsageError

    if size is None:
        raise UsageError("Give the --size of the new cache.")
    scan = presets.SCAN_BYTES[work] if scan_bypass is None else parse_bytes(scan_bypass)
    attachment = Attachment(
        origin=str(origin), size=parse_bytes(size), scan_bytes=scan,
        rules=(*(() if rules is None else read(rules)), *presets.rules()),
        everyone=attached.for_everyone(),
    )  # fmt: skip
    require_size(attachment.size)
    above = next(path for path in (cache, *cache.parents) if path.is_dir())
    place = os.statvfs(above)
    free = place.f_bavail * place.f_frsize
    if attachment.size > free:
        raise DiskFullError(
            f"{cache} has {bytes_text(free)} free, less than {bytes_text(attachment.size)}."
        )
    return attachment


def _same(
    attachment: Attachment, origin: Path, cache: Path, size: str | None, scan_bypass: str | None,
    rules: Path | None,
) -> None:  # fmt: skip
    from dyno.errors import UsageError

    if attachment.origin != str(origin):
        raise UsageError(f"{plain(str(cache))} is the cache of {plain(attachment.origin)}.")
    given = {"--size": size, "--scan-bypass": scan_bypass, "--rules": rules}
    if wrong := [option for option, value in given.items() if value is not None]:
        raise UsageError(
            f"{plain(str(cache))} has a cache already. Leave out {' and '.join(wrong)} to attach "
            f"it again, or remove it: dyno accelerate remove {plain(str(cache))}"
        )


def _make(cache: Path, attachment: Attachment) -> None:
    from dyno.accelerate.attach import folder as folders
    from dyno.errors import DiskFullError
    from dyno.safety.unwritable import why

    try:
        folders.make(cache, attachment)
    except OSError as error:
        raise DiskFullError(f"Cannot make {cache}: {why(error, cache)}", kind="io") from error


def _say_plan(attachment: Attachment, cache: Path, new: bool) -> None:
    from dyno.config.units import bytes_text

    what = "new" if new else "as it was left"
    scan = attachment.scan_bytes
    lines = [
        f"Folder   {plain(attachment.origin)}",
        f"Cache    {plain(str(cache))}, {bytes_text(attachment.size)}, {what}",
        "Scans    " + ("fill the cache" if scan >= 1 << 60 else
                       f"fill the cache up to {bytes_text(scan)}"),
        "Access   " + ("all users, by file permissions" if attachment.everyone else
                       "this user only"),
    ]  # fmt: skip
    click.echo("\n".join(lines), err=True)


def confirmed(name: str, options: Options, of: str = "folder") -> bool:
    """Whether the user wants it: --yes, or the typed name of the folder, or of what ``of`` says."""
    if options.yes:
        return True
    if not sys.stdin.isatty():
        click.echo("Nothing was done. Use --yes to confirm.", err=True)
        return False
    typed = click.prompt(f"Type the name of the {of} to continue", default="", show_default=False)
    if typed != name:
        click.echo("Nothing was done.", err=True)
    return typed == name


@click.command(
    "status",
    short_help="Show the attached caches.",
    epilog=examples("dyno accelerate status", "dyno accelerate status /srv/dwh --json"),
)
@click.argument("folder", type=_FOLDER, required=False)
@common
def status(folder: Path | None, options: Options) -> int:
    """Show what the attached caches, or one of them, did since their daemons started."""
    from dyno.accelerate.attach import mounting
    from dyno.errors import UsageError

    mounts = mounting.mounts()
    if folder is not None:
        origin = str(folder.expanduser().absolute())
        mounts = [mount for mount in mounts if mount.point == origin]
        if not mounts:
            raise UsageError(f"No cache is attached to {origin}.")
    found = [(mount, *_state(mount)) for mount in mounts]
    if options.as_json:
        caches = [
            {"folder": mount.point, "cache": mount.source, "age_s": told and told.age_s,
             "attachment": attachment and attachment.model_dump(), "status": told and told.told}
            for mount, attachment, told in found
        ]  # fmt: skip
        click.echo(plainjson.dumps({**HEAD, "caches": caches}))
        return 0
    if not found:
        click.echo("No cache is attached.")
    for mount, attachment, told in found:
        click.echo("\n".join(_lines(mount, attachment, told)))
    return 0


def _state(mount: Mount) -> tuple[Attachment | None, Status | None]:
    from dyno.accelerate.attach import folder as folders
    from dyno.errors import UsageError

    cache = Path(mount.source)
    try:
        return folders.read(cache), folders.status(cache)
    except (UsageError, OSError):  # another user's
        return None, None


def _lines(mount: Mount, attachment: Attachment | None, status: Status | None) -> list[str]:
    from dyno.config.units import bytes_text

    head = [f"Folder   {plain(mount.point)}", f"Cache    {plain(mount.source)}"]
    if attachment is None or status is None:
        return [*head, "         its state cannot be read", ""]
    told, block = status.told, 8192
    kinds = [one for one in told["kinds"] if one["hits"] or one["misses"] or one["written_bytes"]]
    used = f"{bytes_text(told['blocks'] * block)} of {bytes_text(told['capacity_blocks'] * block)}"
    state = "in use" if told["usable"] else "NOT in use: its device failed"
    if told.get("aside"):
        state += "; reads leave it out, because the folder's disk is faster"
    if status.age_s > 10:
        state = f"no report for {status.age_s:.0f} s: is the daemon alive?"
    lines = [*head, f"State    {state}", f"Holds    {used}"]
    lines.append(f"Written  {bytes_text(told['filled'] * block)} to flash since its daemon started")
    if told["damaged"] or told["errors"]:
        lines.append(f"Faults   {told['damaged']} damaged blocks, {told['errors']} failed reads")
    heads = ("read", "hits", "hit", "miss", "bypassed", "written")
    lines += ["", "kind        " + "".join(f"{head:>10}" for head in heads)]
    for one in kinds:
        blocks = one["hits"] + one["misses"]
        ratio = f"{one['hits'] / blocks:.1%}" if blocks and one["cached"] else ""
        cells = (
            bytes_text(blocks * block),
            ratio,
            _mean(one["flash_ns"], one["flash_requests"]),
            _mean(one["origin_ns"], one["origin_requests"]),
            bytes_text(sum(one.get(why, 0) for why in _BYPASSED) * block),
            bytes_text(one["written_bytes"]),
        )
        lines.append(f"{plain(one['kind'])[:11]:12}" + "".join(f"{cell:>10}" for cell in cells))
    why = [
        f"{words} {bytes_text(total * block)}"
        for name, words in _BYPASSED.items()
        if (total := sum(one.get(name, 0) for one in kinds))
    ]
    if why:
        lines += ["", f"Bypassed: {', '.join(why)}"]
    return [*lines, ""]


def _mean(ns: int, count: int) -> str:
    if not count:
        return ""
    us = ns / count / 1000
    return f"{us:.0f} µs" if us < 1000 else f"{us / 1000:.1f} ms"


@click.command(
    "detach",
    short_help="Detach a cache from a folder; it stays on flash.",
    epilog=examples("dyno accelerate detach /srv/dwh"),
)
@click.argument("folder", type=_FOLDER)
@common
def detach(folder: Path, options: Options) -> int:
    """Take the cache away from FOLDER. Stop the database first.

    The cache stays on flash. When attached again, it keeps its blocks, except those of files that
    changed meanwhile.
    """
    from dyno.accelerate.attach import attached

    origin = folder.expanduser().absolute()
    cache = attached.detach(origin)
    if options.as_json:
        click.echo(plainjson.dumps({**HEAD, "folder": str(origin), "cache": str(cache)}))
    else:
        click.echo(
            f"Detached. To attach it again: "
            f"dyno accelerate apply {plain(str(origin))} --flash {plain(str(cache))}"
        )
    return 0


@click.command(
    "remove",
    short_help="Remove a cache that is not attached.",
    epilog=examples("dyno accelerate remove /flash/dwh"),
)
@click.argument("cache", type=_FOLDER)
@common
def remove(cache: Path, options: Options) -> int:
    """Remove the cache in the folder CACHE from flash. Nothing else in the folder is touched."""
    from dyno.accelerate.attach import attached
    from dyno.accelerate.attach import folder as folders
    from dyno.config.units import bytes_text
    from dyno.errors import TargetError

    cache = cache.expanduser().resolve()
    attachment = folders.read(cache)
    click.echo(
        f"Removes {plain(str(cache))}, {bytes_text(attachment.size)}, the cache of "
        f"{plain(attachment.origin)}.", err=True,
    )  # fmt: skip
    attached.refuse_attached(cache)
    if not confirmed(cache.name, options):
        return 0
    try:
        folders.remove(cache)
    except OSError as error:
        raise TargetError(f"Cannot remove {cache}: {error.strerror}", kind="io") from error
    if options.as_json:
        click.echo(plainjson.dumps({**HEAD, "cache": str(cache)}))
    return 0
