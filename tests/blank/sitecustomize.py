"""For processes that tests start: each chart is a blank picture.

Rendering takes a third of the CPU time of a short run. Python imports this module at its start, by
its name, if its folder is in ``PYTHONPATH``.
"""

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder
from pathlib import Path

_MODULE = "dyno.report.kit.charts.render"
_CHART = Path(__file__).with_name("chart.svg")


class _Blank(MetaPathFinder):
    """Finds the module as usual, and replaces its last step once it is imported."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(fullname, path, target)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            module._svg = lambda *_: module.Markup(_CHART.read_text(encoding="utf-8"))

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, _Blank())
