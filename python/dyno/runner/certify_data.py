"""The data of a certificate: the tables it needs, their loads, and what may be replaced."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dyno import targets
from dyno.bundle.phases.certify import CertifyDetail
from dyno.contracts import databases
from dyno.contracts.layout import Form, Layout
from dyno.contracts.sized import Sized
from dyno.contracts.target import Loaded, LoadPlan, Target, TargetUrl
from dyno.contracts.workload import Workload
from dyno.errors import TargetError, UsageError
from dyno.layouts.resolve import resolve
from dyno.plans.certify import CertifyPlan
from dyno.runner import stages
from dyno.runner.layout import note_layout
from dyno.runner.session import Session
from dyno.targets.space import require_space, required_bytes
from dyno.workloads.rows import expected_rows

SCALE, QUICK_SCALE = 1.0, 0.1
"""Scale of the data that is loaded if there is none."""

FORMS: tuple[Form, Form] = ("row", "column")
LAYOUTS: dict[Form, str] = {"row": "rows", "column": "columnar"}
"""The layout that has all tables in a form."""


@dataclass(frozen=True)
class Wanted:
    """What loaded tables must be. None, or no form, for any.

    Attributes:
        forms: The forms that fit: all tables have one of them.
    """

    scale: float | None = None
    seed: int | None = None
    forms: tuple[Form, ...] = ()


@dataclass(frozen=True)
class Data:
    """Tables that are measured.

    Attributes:
        name: Of their database, which every function takes for the workload.
        scale: Scale of the data.
        facts: What all intervals record.
    """

    name: str
    scale: float
    facts: CertifyDetail

    @property
    def words(self) -> str:
        """The form as text, in a run that measures both forms; else empty."""
        return f" in {self.facts.part}s" if self.facts.part else ""


def require_both(url: TargetUrl) -> None:
    """Refuses a target that stores one form only.

    Raises:
        UsageError: With the target's reason.
    """
    parts = targets.require_layout(url, Layout(name="default", workload=""))
    for form in FORMS:
        reason = getattr(parts, form)
        if reason is not True:
            raise UsageError(
                f"The {url.name} target does not support --both-forms: {reason}. Name a second "
                f"target that stores {form}s."
            )


def form_of(layout: str, own: Form) -> Form | None:
    """The form of loaded tables; None if they have both.

    Args:
        layout: The recorded layout as JSON; empty for the default one.
        own: The form of tables whose layout sets none.
    """
    if not layout:
        return own
    tables = Layout.model_validate_json(layout).tables.values()
    forms: set[Form] = {one.form for one in tables if one.form is not None}
    if not forms:
        return own
    return forms.pop() if len(forms) == 1 else None


def unfit(found: Loaded, own: Form, wanted: Wanted) -> str:
    """Why complete tables cannot be measured; empty if they can.

    Args:
        found: The loaded data.
        own: The form of tables whose layout sets none.
        wanted: What is needed.
    """
    if wanted.scale not in (None, found.scale):
        return f"at scale {found.scale:.15g}, not {wanted.scale:.15g}"
    if wanted.seed not in (None, found.seed):
        return f"with seed {found.seed}, not {wanted.seed}"
    form = form_of(found.layout, own)
    if wanted.forms and form not in wanted.forms:
        words = " or ".join(f"{one}s" for one in wanted.forms)
        return f"in {'rows and columns' if form is None else f'{form}s'}, not in {words}"
    return ""


def prepared(
    session: Session,
    target: Target,
    asked: CertifyPlan,
    workload: Workload,
    own: Form,
    scale: float | None,
) -> tuple[Data, ...]:
    """Loads what is missing, and returns the tables to measure: of both forms, rows first.

    The second form has a database of its own. It is loaded first: a server may refuse it.

    Args:
        session: The run.
        target: The target, which is open.
        asked: The options.
        workload: The workload.
        own: The form that the target stores by itself.
        scale: The wanted scale; None for that of the loaded data, or the default.

    Raises:
        UsageError: If loaded data does not fit and may not be replaced.
        TargetError: If a load was interrupted and its data may not be replaced, or one fails.
    """
    name, both = workload.name, asked.both_forms
    streams = max(2, session.limits.threads)
    first = _kept(target, name, own, Wanted(scale, forms=FORMS if both else ()), asked)
    plan = LoadPlan(name, scale or (QUICK_SCALE if asked.quick else SCALE), 1, streams)
    if first is not None:
        plan = replace(plan, scale=first.scale, seed=first.seed)
    loads = [] if first is not None else [plan]
    if both:
        form = own if first is None else form_of(first.layout, own)
        other = FORMS[form == FORMS[0]]
        second = databases.name(name, 2)
        if _kept(target, second, own, Wanted(plan.scale, plan.seed, (other,)), asked) is None:
            layout = resolve(LAYOUTS[other], name, plan.scale)
            loads.insert(0, replace(plan, workload=second, layout=layout))
    if loads and target.url.scheme == "embedded":
        raw = workload.bytes_per_scale * plan.scale * len(loads)
        advice = "Free space, or use a smaller --scale or another --out."
        require_space(session.out, required_bytes({target.name: raw}), advice)
    for one in loads:
        stages.load_and_prove(session, target, one, replace=asked.replace)
    found = [
        _described(session, target, workload, one, own, both=both)
        for one in reversed(
            databases.names(name, 2 if both else 1)
        )  # the plan has the first's layout
    ]
    return tuple(sorted(found, key=lambda data: data.facts.form == FORMS[1]))


def _kept(
    target: Target, name: str, own: Form, wanted: Wanted, asked: CertifyPlan
) -> Loaded | None:
    """The loaded data if it fits; None if it is missing, or does not fit and may be replaced.

    Raises:
        UsageError, TargetError: If it does not fit and may not be replaced.
    """
    found = target.loaded(name)
    if found is None:
        return None
    why = unfit(found, own, wanted) if found.complete else "from an interrupted load"
    if not why:
        return found
    if asked.replace:
        return None
    workload, number = databases.split(name)
    what = workload if number == 1 else f"{workload} (database {number})"
    message = f"{target.name} holds {what} {why}. Use --replace to load it again."
    raise UsageError(message) if found.complete else TargetError(message, kind="database")


def _described(
    session: Session, target: Target, workload: Workload, name: str, own: Form, *, both: bool
) -> Data:
    """A complete database, with the facts that all intervals record."""
    loaded = stages.loaded_data(target, name, None)
    note_layout(session, target, loaded)
    sizes = workload.row_bytes
    raw = sum(sizes[table] * rows for table, (rows, _) in expected_rows(name, loaded).items())
    form = form_of(loaded.layout, own) or own
    facts = CertifyDetail(
        form=form,
        own=own,
        part=form if both else None,
        raw_bytes=round(raw),
        data_bytes=target.data_bytes(name) if isinstance(target, Sized) else None,
    )
    return Data(name, loaded.scale, facts)
