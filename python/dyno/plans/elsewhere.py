"""What observes a server on another machine."""

from __future__ import annotations

from dyno.plans.fields import Plan, Texts


class Elsewhere(Plan):
    """Agents and exporters on other machines.

    Attributes:
        agent: ``[NAME=]URL`` each; the first one is on the machine of the database.
        exporter: ``[NAME=]URL`` each of a Prometheus exporter.
    """

    agent: Texts = ()
    exporter: Texts = ()
