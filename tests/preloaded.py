"""What a run of Dyno may import; nothing of it is called. For the process that is forked from."""

import gc
import importlib
import pkgutil
from contextlib import suppress

import dyno

_LAZY = (
    *("altair", "jinja2", "numpy.polynomial", "pandas", "pyarrow.dataset"),
    *("pyarrow.parquet", "rich.progress", "scipy.special", "vl_convert"),
)
"""What Dyno, or a library of its own, imports only once it needs it."""

for _name in (*(module.name for module in pkgutil.walk_packages(dyno.__path__, "dyno.")), *_LAZY):
    with suppress(ImportError):  # of an optional package
        if _name != "dyno.__main__":
            importlib.import_module(_name)
gc.collect()
gc.freeze()  # what is shared with the forks stays so
