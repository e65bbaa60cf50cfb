"""The null target: proves the harness against known answers, and stores nothing."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from dyno.bundle.model import TargetFacts
from dyno.contracts.layout import Layout
from dyno.contracts.target import (
    Capabilities,
    Connection,
    Loaded,
    LoadOutcome,
    LoadPlan,
    Progress,
    TargetUrl,
)
from dyno.errors import UsageError
from dyno.targets.null.model import NullModel

_NO_DATA = "the null target stores no data; it simulates transaction times"


class NullTarget:
    """See the protocol. Its transactions are timed by a model inside the driver."""

    name = "null"
    SEVERAL_DATABASES: ClassVar = True

    def __init__(self, url: TargetUrl) -> None:
        self.url = url
        self.capabilities = Capabilities(
            dss=_NO_DATA, neutral=_NO_DATA, load=_NO_DATA, refresh=_NO_DATA, procedure=True
        )
        self._model = NullModel.parse(url)

    def __enter__(self) -> NullTarget:
        """Nothing has to be started."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Nothing has to be stopped."""

    def facts(self) -> TargetFacts:
        """The parameters of the model."""
        return TargetFacts(
            url=self.url.redacted,
            place="process",
            version="null model",
            settings=self._model.settings(),
        )

    def connect(self, workload: str = "") -> NoReturn:  # noqa: ARG002
        """There is nothing to send statements to.

        Raises:
            UsageError: Always.
        """
        raise UsageError(f"The null target runs no statements: {_NO_DATA}.")

    def create_tables(
        self,
        workload: str,  # noqa: ARG002
        *,
        replace: bool,  # noqa: ARG002
        layout: Layout | None = None,  # noqa: ARG002
    ) -> None:
        """The null target has no tables.

        Raises:
            UsageError: Always.
        """
        raise UsageError(f"The null target has no tables: {_NO_DATA}.")

    def loaded(self, workload: str) -> Loaded | None:  # noqa: ARG002
        """It acts as if it held whole data of the scale that its URL gives (1 by default)."""
        return Loaded(self._model.scale, seed=1, complete=True)

    def mark(self, workload: str, loaded: Loaded) -> None:
        """There is nothing to mark."""

    def load(self, plan: LoadPlan, control: Any) -> LoadOutcome:  # noqa: ARG002
        """The null target stores no rows.

        Raises:
            UsageError: Always.
        """
        raise UsageError(f"The null target stores no rows: {_NO_DATA}.")

    def insert(
        self,
        connection: Connection,  # noqa: ARG002
        workload: str,  # noqa: ARG002
        rows: Mapping[str, Any],  # noqa: ARG002
    ) -> int:
        """The null target stores no rows.

        Raises:
            UsageError: Always.
        """
        raise UsageError(f"The null target stores no rows: {_NO_DATA}.")

    def index(
        self,
        workload: str,  # noqa: ARG002
        control: threading.Event,  # noqa: ARG002
        progress: Progress,  # noqa: ARG002
        layout: Layout | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Does nothing."""
        return {}

    def wire(self, workload: str = "") -> dict[str, Any]:  # noqa: ARG002
        """The model as the Rust driver takes it."""
        return self._model.wire()

    def sql(self, workload: str, name: str, neutral: str) -> str:  # noqa: ARG002
        """Returns the statement unchanged; nothing runs it."""
        return neutral

    def data_paths(self) -> list[Path]:
        """There are none."""
        return []

    def process_ids(self) -> list[int]:
        """There are none."""
        return []
