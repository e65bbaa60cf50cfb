"""The other machines of a run: opens their agents and exporters, and records what they sample."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from dyno import targets
from dyno.agent.address import Address, agent_address, exporter_address, machine_name
from dyno.agent.client import Client
from dyno.agent.follow import Follower
from dyno.agent.protocol import Placed
from dyno.agent.ssh import SshAgent
from dyno.bundle.model import TargetFacts
from dyno.bundle.writer import Recorder
from dyno.contracts.layout import Layout
from dyno.contracts.target import Target
from dyno.contracts.whereabouts import Telling
from dyno.errors import DynoError, TargetError, UsageError
from dyno.plans.elsewhere import Elsewhere
from dyno.plans.fields import Plan
from dyno.plans.watch import HOST, WatchPlan
from dyno.stages.observe.exporters import ExporterProbe
from dyno.stages.observe.sampler import Sampler
from dyno.targets.devices import with_layout


class Machines:
    """The agents and exporters of a run, by the name of their machine; empty for most runs.

    The database runs on the first machine.
    """

    def __init__(self, agents: dict[str, Client], exporters: list[ExporterProbe]) -> None:
        self._agents, self._exporters = agents, exporters
        self._placed: Callable[[], Placed] | None = None
        names = [*agents, *(probe.machine for probe in exporters)]
        self.first = names[0] if names else ""

    @contextlib.contextmanager
    def observed(self, recorder: Recorder, sampler: Sampler) -> Generator[None]:
        """Records their samples and facts while the block is open.

        Raises:
            TargetError: If an agent does not respond.
        """
        with contextlib.ExitStack() as stack:
            known = {probe.machine: probe.facts() for probe in self._exporters if probe.facts()}
            known |= {name: client.facts("/") for name, client in self._agents.items()}
            if known:
                recorder.update(machines=known)
            for name, client in self._agents.items():
                find = self._found_again if name == self.first else lambda: None
                stack.callback(Follower(client, name, recorder, find).close)
            stack.enter_context(sampler.joined(self._exporters))
            yield

    def place(
        self, target: Target, facts: TargetFacts, recorder: Recorder, layout: Layout | None
    ) -> TargetFacts:
        """Completes the facts of a server on the first machine.

        A server that runs here is not changed: the probes of this machine see it.

        Args:
            target: The running target.
            facts: Its facts so far.
            recorder: Records the facts of the machine.
            layout: The layout of its data, with the volumes of partitions; None if unknown.

        Raises:
            UsageError: If the target is not a server.
        """
        if not self.first or target.process_ids():
            return facts
        if facts.place == "process":
            raise UsageError(_NO_SERVER.format(target.name))
        known: dict[str, Any] = {"machine": self.first, "place": "elsewhere", "device_notes": ()}
        client = self._agents.get(self.first)
        if client is not None and isinstance(target, Telling):
            try:
                self._placed = partial(_placed, target, client, layout)
                found = self._placed()
                machines = {**recorder.run.machines, self.first: client.facts(found.path)}
                recorder.update(machines=machines)
            except (TargetError, LookupError, ValueError) as error:
                return facts.model_copy(update={**known, "device_notes": (str(error),)})
            known |= {
                "devices": found.devices,
                "disks": found.disks,
                "volumes": found.volumes,
                "device_notes": tuple(note[:500] for note in found.notes),
            }
        return facts.model_copy(update=known)

    def _found_again(self) -> bool | None:
        if self._placed is None:
            return None
        try:
            return self._placed().pid is not None
        except (DynoError, LookupError, ValueError):
            return False


def _placed(target: Telling, client: Client, layout: Layout | None) -> Placed:
    """Finds the server of a target on the machine of an agent, which then samples it.

    Raises:
        DynoError, LookupError, ValueError: If the server or the agent does not tell.
    """
    with target.told() as told:
        own = {role: [Path(one) for one in told.places[role]] for role in told.places}
        texts = {role: tuple(map(str, paths)) for role, paths in with_layout(own, layout).items()}
        return client.locate(replace(told, places=texts))


_NO_SERVER = "{} has no separate machine: --agent and --exporter need a server at a URL."


@contextlib.contextmanager
def machines_of(plan: Plan) -> Generator[Machines]:
    """Opens the agents of a plan, and ends those that it started.

    Raises:
        UsageError: If an address is invalid, or the target is not a server at a URL.
        TargetError: If an agent does not respond, or refuses this client.
    """
    if not isinstance(plan, Elsewhere) or not (plan.agent or plan.exporter):
        yield Machines({}, [])
        return
    # A run has several targets, of which a plan with agents has one.
    target = str(getattr(plan, "url", None) or getattr(plan, "target", ""))
    if target != HOST and (url := targets.parse(target)).scheme == "embedded":
        raise UsageError(_NO_SERVER.format(url.redacted))
    addresses = [agent_address(text) for text in plan.agent]
    exporters = [exporter_address(text) for text in plan.exporter]
    with contextlib.ExitStack() as stack:
        agents: dict[str, Client] = {}
        for address in addresses:
            client = _opened(address, stack)
            name = address.name or machine_name(client.hello().machine)
            if name in agents:
                raise UsageError(f"Two agents on machine {name}: name them, NAME=URL.")
            agents[name] = client
        default = next(iter(agents), "")
        probes = [ExporterProbe.at(address, default) for address in exporters]
        if len({probe.name for probe in probes}) < len(probes):
            raise UsageError("Give each --exporter once.")
        for probe in probes:
            if isinstance(plan, WatchPlan):
                probe.period_s = plan.interval_s
            probe.check()
        yield Machines(agents, probes)


def _opened(address: Address, stack: contextlib.ExitStack) -> Client:
    if address.scheme == "ssh":
        return stack.enter_context(SshAgent(address)).client
    client = Client.at(address)
    stack.callback(client.close)
    return client
