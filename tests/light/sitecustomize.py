"""For processes that tests start: charts are blank pictures, and pandas is not there.

They take half of the CPU time of a short run. Dyno does not need pandas, but pyarrow imports it
where it is installed. Python imports this module at its start if its folder is in ``PYTHONPATH``.
"""

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder
from pathlib import Path

_RENDER = "dyno.report.kit.charts.render"
_CHART = Path(__file__).with_name("chart.svg")


class _Light(MetaPathFinder):
    """Finds no pandas, and replaces the last step of a chart once its module is imported."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname == "pandas":
            raise ModuleNotFoundError(name=fullname)
        if fullname != _RENDER:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            module._svg = lambda *_: module.Markup(_CHART.read_text(encoding="utf-8"))

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, _Light())
