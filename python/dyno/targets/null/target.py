"""The null target: verifies the harness against known results, and stores nothing."""

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
    """Implements the protocol. A model in the driver times its transactions."""

    name = "null"
    SEVERAL_DATABASES: ClassVar = True

    def __init__(self, url: TargetUrl) -> None:
        self.url = url
        self.capabilities = Capabilities(
            dss=_NO_DATA,
            neutral=_NO_DATA,
            load=_NO_DATA,
            refresh=_NO_DATA,
            procedure=True,
            mixed=_NO_DATA,
        )
        self._model = NullModel.parse(url)

    def __enter__(self) -> NullTarget:
        """Does nothing."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Does nothing."""

    def facts(self) -> TargetFacts:
        """The parameters of the model."""
        return TargetFacts(
            url=self.url.redacted,
            place="process",
            version="null model",
            settings=self._model.settings(),
        )

    def connect(self, workload: str = "") -> NoReturn:  # noqa: ARG002
        """The null target runs no statements.

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
        """Reports complete data of the scale in its URL (1 by default)."""
        return Loaded(self._model.scale, seed=1, complete=True)

    def mark(self, workload: str, loaded: Loaded) -> None:
        """Does nothing."""

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
        """The model as the Rust driver expects it."""
        return self._model.wire()

    def sql(self, workload: str, name: str, neutral: str) -> str:  # noqa: ARG002
        """Returns the statement unchanged; nothing runs it."""
        return neutral

    def data_paths(self) -> list[Path]:
        """The null target has no files."""
        return []

    def process_ids(self) -> list[int]:
        """The null target has no processes."""
        return []
