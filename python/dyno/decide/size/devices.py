"""Devices: by IOPS, MB/s and space of a profiled volume, at its fill level and RAID level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dyno.decide.size import raid
from dyno.decide.size.count import Need, need
from dyno.decide.size.demand import Decisions, Transactions
from dyno.decide.size.evidence import PUBLISHED_SHARE, Evidence, Storage
from dyno.decide.size.inputs import Inputs
from dyno.decide.size.lot import Lot
from dyno.decide.size.storage import at_fill
from dyno.decide.size.wants import Wants
from dyno.errors import UsageError
from dyno.statistics.paired import Floats

FILL = 0.7
"""Largest fill of a device: the upper end of the published 60 to 70 %."""

BUSY = 0.7
"""Largest utilisation of a device without a profile."""

CEILING_MS = 20.0
"""The published latency limit of reads and writes."""


@dataclass(frozen=True)
class Device:
    """A device as sizing counts it, at its RAID level.

    Attributes:
        iops, mbps: What the database can take of one device, per draw; None if unknown.
        tb: TB of one device; None if unknown.
        level: RAID level that a number of plain disks forms; None if a device is a unit.
        efficiency: Rate of several devices as a share of the sum of single ones.
    """

    iops: Floats | None
    mbps: Floats | None
    tb: float | None
    level: str | None = None
    efficiency: float = 1.0

    @property
    def step(self) -> int:
        """Disks come in groups of so many."""
        return 2 if self.level in {"1", "10"} else 1

    def several(self, one: Need) -> Need:
        """The need with the loss of several devices at once."""
        drawn = np.where(one.drawn > 1, one.drawn / self.efficiency, one.drawn)
        return Need(one.resource, drawn, self.step)


def device(
    found: Evidence,
    wants: Wants,
    work: Transactions | None,
    queries: Decisions | None,
    lot: Lot,
    inputs: Inputs,
) -> tuple[Device, tuple[raid.Compared, ...]]:
    """The device, and the RAID levels that can be compared."""
    fill = FILL if wants.fill is None else wants.fill
    own = at_fill(found.storage, fill)
    if not own:
        return Device(None, None, wants.device_tb, wants.raid), ()
    base = next((one for one in own if one.raid == wants.raid), own[0])
    compared = _compared(own, base, wants.raid)
    iops = mbps = None
    if base.iops and work is not None:
        iops = _share(found, wants, "oltp", inputs) * inputs.drawn(
            "IOPS of a device",
            lot.sample([base.iops], base.noise, 9),
            "IOPS",
            f"{base.run} {base.metric} of {base.volume}{_about(base)}",
            base.iops,
        )
        if base.ceiling_ms > CEILING_MS:
            inputs.caveat(
                f"The profile allowed {base.ceiling_ms:g} ms; the published limit is "
                f"{CEILING_MS:g} ms."
            )
    if base.fill is not None and base.fill < fill - 1e-9:
        inputs.caveat(
            f"The profile was {100 * base.fill:.0f} % full at most, below the planned "
            f"{100 * fill:.0f} %: a fuller device is slower."
        )
    elif base.fill is None:
        inputs.caveat(
            f"The profile did not fill the device (--fill {100 * fill:.0f}): a fuller one is "
            "slower, and a small file gains from its cache and short seeks."
        )
    if base.mbps and queries is not None:
        source = f"{base.run} {base.mbps_metric} of {base.volume}"
        rate = inputs.add("MB/s of a device", base.mbps, "MB/s", source)
        mbps = lot.fixed(_share(found, wants, "dss", inputs) * rate)
    tb = base.size_tb if wants.device_tb is None else wants.device_tb
    if wants.device_tb is None and tb is not None:
        inputs.add("TB of a device", tb, "TB", f"{base.run}, size of {base.volume}")
    made = Device(iops, mbps, tb)
    if base.efficiency is not None:
        source = f"{base.run} io.scaling efficiency"
        made = replace(made, efficiency=inputs.add("several devices", base.efficiency, "", source))
    elif work is not None or queries is not None:
        inputs.assumed("several devices", 1.0, "", "IOPS and MB/s add up, as published")
    reads = None if work is None else work.reads
    return _at_level(made, base, wants, reads, inputs), compared


def _about(base: Storage) -> str:
    words = [f"{base.block / 1024:g} KiB, {100 * base.reads:.0f} % reads"]
    words += [f"{100 * base.fill:.0f} % full"] if base.fill is not None else []
    words += [f"RAID {base.raid}"] if base.raid else []
    return f" ({', '.join(words)}, within {base.ceiling_ms:g} ms)"


def _share(found: Evidence, wants: Wants, kind: str, inputs: Inputs) -> float:
    """The database's share of the profiled rate."""
    name = "share of the IOPS" if kind == "oltp" else "share of the MB/s"
    if wants.share is not None:
        return wants.share
    measured = [one for one in found.shares if one.kind == kind and one.bound]
    if measured:
        one = max(measured, key=lambda one: one.value)
        return inputs.add(name, min(1.0, one.value), "", one.source)
    words = f"published for {'transactions' if kind == 'oltp' else 'queries'}"
    if any(one.kind == kind for one in found.shares):
        words += "; in the runs the storage was not the bottleneck"
    return inputs.assumed(name, PUBLISHED_SHARE[kind], "", words)


def _compared(
    own: Sequence[Storage], base: Storage, wanted: str | None
) -> tuple[raid.Compared, ...]:
    """RAID levels against the base's: by theory, and by their profiles."""
    found: list[raid.Compared] = []
    profiles = {one.raid: one for one in own if one.raid and one.raid != base.raid and one.iops}
    if base.iops and base.raid:
        for level, other in profiles.items():
            if other.iops:
                theory = raid.theory(base.raid, level, base.reads)
                source = f"{base.run} {base.metric} / {other.run} {other.metric}"
                ratio = base.iops / other.iops
                found.append(raid.Compared(base.raid, level, base.reads, theory, ratio, source))
    if wanted and wanted != base.raid and wanted not in profiles:
        theory = raid.theory(wanted, base.raid, base.reads)
        found.append(raid.Compared(wanted, base.raid or "0", base.reads, theory, None))
    return tuple(found)


def _at_level(
    made: Device, base: Storage, wants: Wants, reads: float | None, inputs: Inputs
) -> Device:
    """The device with the wanted level; a measured one needs no theory."""
    if wants.raid is None or wants.raid == base.raid:
        return made
    mix = base.reads if reads is None else reads
    factor = inputs.assumed(
        f"IOPS with RAID {wants.raid}",
        raid.theory(wants.raid, base.raid, mix),
        "×",
        f"R + pW with {100 * mix:.0f} % reads, against {_name(base.raid)}",
    )
    inputs.caveat(
        f"RAID {wants.raid} is by theory; no profile of it. Published: theory ×1.46 and ×1.92 "
        "where ×1.41 and ×1.48 were measured."
    )
    iops = None if made.iops is None else made.iops * factor
    if base.raid is None:
        return replace(made, iops=iops, level=wants.raid)
    disks = base.members
    before, after = raid.usable(disks, base.raid), raid.usable(disks, wants.raid)
    tb = made.tb
    if wants.device_tb is None and tb is not None:
        if before > 0 and after > 0:
            tb = inputs.add("TB at that level", tb * after / before, "TB", f"{disks} disks")
        else:
            inputs.caveat("The number of disks is unknown: usable TB are those of the profile.")
    return replace(made, iops=iops, tb=tb)


def _name(level: str | None) -> str:
    return f"RAID {level}" if level else "a plain disk"


def needs(
    made: Device,
    wants: Wants,
    work: Transactions | None,
    queries: Decisions | None,
    lot: Lot,
    inputs: Inputs,
) -> list[Need]:
    """What the devices need for load and data.

    Raises:
        UsageError: If the size of a device is unknown.
    """
    found: list[Need] = []
    if work is not None and made.iops is not None and work.ios is not None:
        found.append(made.several(need("IOPS", work.tps * work.ios, made.iops)))
    elif work is not None and work.device_s is not None:
        inputs.assumed("device utilisation", BUSY, "", "headroom; no profile of the device")
        inputs.caveat(
            "No storage profile: devices are sized by their utilisation, which overstates the "
            "need of flash. Name a `dyno io` of the device."
        )
        found.append(made.several(need("device time", work.tps * work.device_s, BUSY)))
    if queries is not None and made.mbps is not None and queries.mb is not None:
        found.append(made.several(need("MB/s", queries.per_h / 3600 * queries.mb, made.mbps)))
    if wants.tb is not None:
        if made.tb is None:
            raise UsageError(
                "The size of a device is unknown. Name a storage profile, or --want device_tb=N."
            )
        found.append(Need("space", lot.fixed(space(made, wants)), made.step))
    if found and made.level is not None:
        found.append(Need(f"RAID {made.level}", lot.fixed(raid.FEWEST[made.level])))
    return found


def space(made: Device, wants: Wants) -> float:
    """Devices for the data after all growth, at the planned fill, before rounding up."""
    fill = FILL if wants.fill is None else wants.fill
    units = (wants.tb or 0.0) * wants.factor / ((made.tb or 1.0) * fill)
    lost = {"5": 1, "6": 2, "50": raid.GROUPS, "60": 2 * raid.GROUPS}.get(made.level or "", 0)
    return 2 * units if made.level in {"1", "10"} else units + lost
