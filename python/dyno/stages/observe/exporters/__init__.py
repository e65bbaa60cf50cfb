"""Samples of another machine from Prometheus exporters, in the terms of Dyno's own probes."""

from dyno.stages.observe.exporters.probe import ExporterProbe

__all__ = ["ExporterProbe"]
