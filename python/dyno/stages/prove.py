"""Stage: verifies answers against other engines, expected answers and published answers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import combinations

from dyno import workloads
from dyno.bundle import check_names
from dyno.bundle.model import Check
from dyno.bundle.phases.check import CheckDetail
from dyno.bundle.writer import Recorder
from dyno.contracts.databases import named, workload_of
from dyno.contracts.target import PowerResult, QueryResult, StreamAnswer, Target
from dyno.contracts.workload import Query, Workload
from dyno.errors import DatabaseError, DynoError, Interrupted
from dyno.runtime.deadline import within
from dyno.runtime.progress import Progress
from dyno.workloads.answers import (
    BETWEEN_ENGINES,
    EXPECTED,
    SPECIFICATION,
    Difference,
    Tolerance,
    compare_engines,
    compare_expected,
)
from dyno.workloads.diff import diff
from dyno.workloads.sorting import out_of_order

AGAINST_EXPECTED = ("got", "expected")


def ask(
    recorder: Recorder,
    target: Target,
    workload_name: str,
    scale: float,
    progress: Progress,
    timeout_s: float | None = None,
) -> PowerResult:
    """Runs every query once, with its validation parameters, only for the answers.

    A failed query is in the errors of the result and is a failed check. The others still run. A
    query that exceeds ``timeout_s`` is cancelled: it has no answer, right or wrong.

    Raises:
        TargetError: If the server is gone.
    """
    workload = workloads.get(workload_name)
    result = PowerResult()
    failed: list[str] = []
    name = f"ask-{workload_name}-{target.name}"
    with recorder.phase(name, f"Ask {target.name}", CheckDetail(), target.name) as phase:
        connection = target.connect(workloads.place_of(workload_name))
        try:
            for number, query in enumerate(workload.queries):
                progress.update(number, len(workload.queries), query.name)
                sql = query.text_for(target, workload_name, query.validation(scale))
                work = partial(query.execute, connection, sql)
                try:
                    answer = within(timeout_s, work, connection.cancel)
                    if why := query.against_rows(len(answer.rows)):
                        raise DatabaseError(why, kind="row_count")
                    result.answers[query.name] = answer
                except Interrupted:
                    raise
                except DynoError as error:
                    if error.kind == "connection_lost":
                        raise
                    result.errors[query.name] = str(error)
                    if error.kind != "timeout":
                        failed.append(query.name)
        finally:
            connection.close()
        phase.detail = CheckDetail(workload=workload.name, scale=scale, errors=dict(result.errors))
        checks = [
            Check(
                name=f"query {query}",
                target=target.name,
                passed=False,
                message=result.errors[query],
            )
            for query in failed
        ]
        recorder.add_checks(named(checks, workload_name))
    return result


def unproven(
    recorder: Recorder, workload_name: str, scale: float, target: str, unlike: str | None = None
) -> None:
    """Records that a single engine's answers are unverified: there are no expected ones.

    ``unlike`` is the reason if there are, but not for this data.
    """
    check = _unproven(workloads.get(workload_name), scale, target, unlike)
    recorder.add_checks(named(check, workload_name))


def answers(
    recorder: Recorder,
    workload_name: str,
    scale: float,
    results: dict[str, PowerResult],
    unlike: str | None = None,
) -> list[Check]:
    """Compares the rows of every query under the validation rules of the workload.

    Each answer must have the row order that the query requires. It must equal the expected and
    published answers, if the workload has them for this scale, unless ``unlike`` says why this data
    does not have them. All engines must agree.

    Returns:
        One check per query and pair, recorded in the bundle. A failed check lists the rows that
        differ.
    """
    workload = workloads.get(workload_name)
    checks: list[Check] = []
    with recorder.phase(f"check-answers-{workload_name}", "Compare answers", CheckDetail()):
        for query in workload.queries:
            for target, result in sorted(results.items()):
                answer = result.answers.get(query.name)
                checks += _alone(workload, query, scale, target, answer, compared=unlike is None)
            for (left, first), (right, second) in combinations(sorted(results.items()), 2):
                one, other = first.answers.get(query.name), second.answers.get(query.name)
                checks.append(_pair(query, (left, right), one, other))
        for target in sorted(results):
            checks += _unproven(workload, scale, target, unlike)
    checks = named(checks, workload_name)
    recorder.add_checks(checks)
    return checks


def streams(
    recorder: Recorder,
    workload_name: str,
    target: str,
    answers: Iterable[StreamAnswer],
    *,
    alike: bool,
    test: str = "throughput",
) -> list[Check]:
    """Verifies the answers of streams, which have no published answers.

    Checks the row order, and that streams with identical queries agree.

    Args:
        recorder: Receives the checks.
        workload_name: The workload.
        target: Name of the target.
        answers: Answers of all streams.
        alike: Whether all streams run identical queries on identical data, so that their answers
            must agree.
        test: The test: ``power`` or ``throughput``.

    Returns:
        One check per query that some stream completed.
    """
    found: dict[str, list[tuple[int, QueryResult]]] = {}
    for stream, name, answer in answers:
        found.setdefault(name, []).append((stream, answer))
    checks: list[Check] = []
    phase = f"check-{test}-{workload_name}-{target}"
    with recorder.phase(phase, f"Answers of the {test} test on {target}", CheckDetail(), target):
        for query in workloads.get(workload_name).queries:
            given = sorted(found.get(query.name, []), key=lambda item: item[0])
            if not given:
                continue
            if query.rules:
                misplaced = [
                    difference
                    for _, answer in given
                    if (difference := out_of_order(query, answer.rows)) is not None
                ]
                name = f"order-{'streams' if test == 'throughput' else test}-{query.name}"
                checks.append(_verdict(query, name, target, misplaced, ("row", "row above"), None))
            if alike and len(given) > 1:
                (_, first), *others = given
                known = query.of(first)
                differences = [
                    difference
                    for _, other in others
                    for difference in compare_engines(first.rows, other.rows, known.rules)
                ]
                name = f"{check_names.AMONG_STREAMS}{query.name}"
                where = f"the streams on {target}"
                sides = ("first stream", "other stream")
                checks.append(_verdict(known, name, where, differences, sides, BETWEEN_ENGINES))
    checks = named(checks, workload_of(workload_name))
    recorder.add_checks(checks)
    return checks


def _unproven(workload: Workload, scale: float, target: str, unlike: str | None) -> list[Check]:
    """The skipped check of answers that have nothing to be compared with, if that is so."""
    why = workload.unproven(scale)
    if not why and scale in workload.expected_scales:
        why = unlike or ""
    elif not why and workload.expected_scales:
        scales = " and ".join(f"{known:g}" for known in workload.expected_scales)
        why = f"Dyno ships expected answers for scale {scales}; this is {scale:g}"
    if not why:
        return []
    message = f"skipped: {why}"
    return [Check(name=check_names.UNPROVEN, target=target, passed=None, message=message)]


def _alone(
    workload: Workload,
    query: Query,
    scale: float,
    target: str,
    answer: QueryResult | None,
    *,
    compared: bool,
) -> list[Check]:
    """Checks the answer of one engine: row order, and if ``compared``, expected and published."""
    if answer is None:
        message = "skipped: the query did not end"
        return [Check(name=f"answers-{query.name}", target=target, passed=None, message=message)]
    checks: list[Check] = []
    if query.rules:
        misplaced = out_of_order(query, answer.rows)
        order, sides = [misplaced] if misplaced else [], ("row", "row above")
        checks.append(_verdict(query, f"order-{query.name}", target, order, sides, None))
    if not compared:
        return checks
    expected = workload.expected(query, scale)
    query = query.of(answer)
    if expected is not None:
        name = f"answers-expected-{query.name}"
        if expected and len(expected[0]) != len(query.rules):
            message = f"{len(query.rules)} columns, expected {len(expected[0])}"
            return [Check(name=name, target=target, passed=False, message=message)]
        found = compare_expected(answer.rows, expected, query.rules)
        checks.append(_verdict(query, name, target, found, AGAINST_EXPECTED, EXPECTED))
    published = workload.reference(query, scale, answer.rows)
    if published is not None:
        name = f"published-{query.name}"
        checks.append(_verdict(query, name, target, published, AGAINST_EXPECTED, SPECIFICATION))
    return checks


def _pair(
    query: Query, pair: tuple[str, str], left: QueryResult | None, right: QueryResult | None
) -> Check:
    name, target = f"answers-{query.name}", " and ".join(pair)
    if left is None or right is None:
        message = "skipped: the query did not end on both"
        return Check(name=name, target=target, passed=None, message=message)
    query = query.of(left)
    found = compare_engines(left.rows, right.rows, query.rules)
    return _verdict(query, name, target, found, pair, BETWEEN_ENGINES)


def _verdict(
    query: Query,
    name: str,
    target: str,
    differences: list[Difference],
    sides: tuple[str, str],
    tolerance: Tolerance | None,
) -> Check:
    """Passes without differences; otherwise lists them, as rows if they have columns."""
    if not differences:
        message = "rows in the order asked for" if tolerance is None else "equal"
        return Check(name=name, target=target, passed=True, message=message)
    detail = {"differences": [str(item) for item in differences]}
    shown = {} if tolerance is None else {"diff": diff(query, differences, sides, tolerance)}
    return Check(
        name=name,
        target=target,
        passed=False,
        message=str(differences[0]),
        detail={**detail, **shown},
    )
