"""Certificates from bundles: figures, marks, the page, and what a change is found by."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dyno.analyse import estimate
from dyno.bundle import archive, certified
from dyno.bundle.reader import Bundle
from dyno.bundle.tables import Table, spool_to_parquet
from dyno.bundle.writer import write_judgement
from dyno.certificates import Certificate
from dyno.cli import cli
from dyno.decide.judge import judge
from dyno.errors import UsageError
from dyno.report.certificate import page as rendered
from dyno.runner import certified as issuing
from dyno.safety import signing
from tests.certify import made

NOTICE = "Derived from TPC-H; not comparable with published TPC results."


def issued(bundle: Bundle, **options: Any) -> Bundle:
    """The bundle with its certificate, as a run leaves it."""
    estimates = estimate(bundle)
    validity, findings = judge(bundle, estimates)
    head = json.loads((bundle.path / "run.json").read_text())
    head["validity"] = validity.model_dump(mode="json")
    (bundle.path / "run.json").write_text(json.dumps(head))
    write_judgement(bundle.path, estimates, findings)
    bundle = Bundle.open(bundle.path)
    issuing.issue(bundle, estimates, findings, **options)
    return bundle


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certified bundle; tests take copies of it."""
    return issued(made.written(tmp_path_factory.mktemp("plain"))).path


@pytest.fixture
def copied(plain: Path, tmp_path: Path) -> Bundle:
    """A certified bundle of this test's own."""
    return Bundle.open(Path(shutil.copytree(plain, tmp_path / plain.name)))


def verified(place: Path, *options: str) -> Result:
    words = ["certify", "verify", str(place), *options]
    return CliRunner().invoke(cli, words, standalone_mode=False)


def content(bundle: Bundle) -> Certificate:
    return Certificate.model_validate(certified.record(bundle.path)["certificate"])


def kinds(bundle: Bundle, key: str | None = None) -> list[tuple[str, str]]:
    return [(one.kind, one.what) for one in issuing.verify(bundle, key).problems]


def test_figures_of_a_row_store(tmp_path: Path) -> None:
    found = content(issued(made.written(tmp_path, reference=made.REFERENCE, bom=made.BOM)))
    (one,) = found.figures.forms
    rates = one.combined
    assert (rates.completed, rates.queries_per_h) == (60, 720)
    assert rates.queries_per_h_per_tb == 360  # two TB
    assert rates.logical_mbps == pytest.approx(1600)
    assert rates.physical_mbps == pytest.approx(1000, rel=0.03)
    assert rates.measured_mbps == pytest.approx((1600 + (rates.physical_mbps or 0)) / 2)
    assert (rates.physical_peak_mbps or 0) >= (rates.physical_mbps or 0)
    assert rates.mbps_per_core == pytest.approx(1000)  # 1.6 CPUs
    assert rates.cpu_percent == pytest.approx(80, rel=0.05)
    assert one.compression == pytest.approx(4)
    assert one.relative_percent == pytest.approx(360)
    figures = found.figures
    assert figures.usable_tb == pytest.approx(8)
    assert figures.maximum_tb == 21  # 8 · 0.75 · 0.9 · 4 = 21.6
    assert figures.rated_tb == 21  # 25 · 3.6 = 90, more than fits
    assert figures.marks == {}
    assert {each.unit for each in figures.costs} == {"Q/h/TB (row)", "TB", "TB rated"}
    assert figures.price == 5000


def test_figures_of_both_forms(tmp_path: Path) -> None:
    forms = {"postgresql": "row", "duckdb": "column"}
    bundle = made.built(tmp_path, forms, reference=made.REFERENCE).write()
    found = content(issued(bundle)).figures
    row, column = found.forms
    assert (row.relative_percent, column.relative_percent) == (360, 90)
    assert column.combined.logical_mbps is None
    assert column.combined.measured_mbps is None
    assert any("logical" in note for note in column.notes)


def test_an_assumed_compression_is_named_for_the_database_that_has_it(tmp_path: Path) -> None:
    builder = made.built(tmp_path, {"postgresql": "row", "duckdb": "column"})
    for number, phase in enumerate(builder.phases):
        if phase.target == "duckdb":
            detail = {**phase.detail, "data_bytes": None}
            builder.phases[number] = phase.model_copy(update={"detail": detail})
    figures = content(issued(builder.write())).figures
    assert [one.compression for one in figures.forms] == [pytest.approx(4), None]
    assert figures.maximum_tb == 21  # of the worse of 4:1, measured, and 5:1, assumed
    (said,) = [one for one in figures.assumptions if "not measured" in one]
    assert "duckdb" in said
    assert "postgresql" not in said


def test_figures_of_both_forms_of_one_target(tmp_path: Path) -> None:
    builder = made.both_forms(tmp_path, {"row": 60, "column": 300}, reference=made.REFERENCE)
    figures = content(issued(builder.write())).figures
    row, column = figures.forms
    assert [(one.form, one.target) for one in figures.forms] == [
        ("row", "postgresql"),
        ("column", "postgresql"),
    ]
    assert (row.combined.queries_per_h, column.combined.queries_per_h) == (720, 3600)
    # It counts pages of rows, and stores columns without them.
    assert row.combined.logical_mbps == pytest.approx(1600)
    assert column.combined.logical_mbps is None
    assert [one.test for one in column.classes] == [one.test for one in row.classes]
    assert (row.relative_percent, column.relative_percent) == (360, 450)
    assert figures.rated_tb == 21  # 25 · (3.6 + 4.5) / 2 = 101, more than fits


def test_a_small_reference_is_scaled_by_the_mean_of_both_forms(tmp_path: Path) -> None:
    small = {**made.REFERENCE, "user_data": "2 TB"}
    builder = made.both_forms(tmp_path, {"row": 60, "column": 300}, reference=small)
    assert content(issued(builder.write())).figures.rated_tb == 8.1  # 2 · (3.6 + 4.5) / 2


def test_both_forms_of_one_target_have_metrics_and_a_verification_of_their_own(
    tmp_path: Path,
) -> None:
    bundle = issued(made.both_forms(tmp_path, {"row": 60, "column": 300}).write())
    assert kinds(bundle) == []
    names = [one.name for one in estimate(bundle) if one.name.startswith("certify.")]
    assert len(names) == len(set(names))
    assert "certify.postgresql.column-combined.queries_per_h" in names
    changed_rows(bundle)  # the last ones, which are of the column form
    found = set(kinds(Bundle.open(bundle.path)))
    assert ("figure", "figures.forms[1].combined.completed") in found
    assert not any("forms[0]" in what for _, what in found)


def test_an_empty_interval_of_the_second_form_has_no_certificate(tmp_path: Path) -> None:
    builder = made.both_forms(tmp_path, {"row": 60, "column": 0})
    bundle = builder.write()
    validity, _ = judge(bundle, estimate(bundle))
    assert {one.phase for one in validity.reasons if one.code == "empty-interval"} == {
        f"certify-column-{test}-postgresql" for test in made.EVERY
    }
    with pytest.raises(UsageError):
        issued(bundle)


@pytest.mark.parametrize(
    ("plan", "queries", "mark"),
    [({"quick": True}, 60, "quick"), ({}, 19, "few queries")],
)
def test_marks(tmp_path: Path, plan: dict[str, Any], queries: int, mark: str) -> None:
    builder = made.built(tmp_path, queries=queries, **plan)
    assert list(content(issued(builder.write())).figures.marks) == [mark]


def test_data_that_fits_in_memory_is_marked(tmp_path: Path) -> None:
    builder = made.built(tmp_path)
    builder.host["memory"] = {**builder.host["memory"], "total_bytes": made.STORED // 4 + 1}
    assert "in memory" in content(issued(builder.write())).figures.marks


def test_a_limit_holds_memory_below_the_data(tmp_path: Path) -> None:
    from dyno.bundle.model import Confined

    builder = made.built(tmp_path)
    builder.host["memory"] = {**builder.host["memory"], "total_bytes": made.STORED}
    builder.confined = Confined(where="server", limits={"memory": "64GB"})
    found = content(issued(builder.write())).figures
    assert "in memory" not in found.marks
    assert found.forms[0].memory_tb == pytest.approx((64 << 30) / 1e12)


def test_another_scale_than_the_reference_is_marked(tmp_path: Path) -> None:
    bundle = made.written(tmp_path, reference={**made.REFERENCE, "scale": 1000.0})
    assert "other scale" in content(issued(bundle)).figures.marks


def test_an_interval_with_a_failed_query_has_no_certificate(tmp_path: Path) -> None:
    builder = made.built(tmp_path)
    builder.tables["queries"][-1] |= {"error": "out of memory", "error_kind": "out_of_memory"}
    bundle = builder.write()
    validity, _ = judge(bundle, estimate(bundle))
    assert [one.code for one in validity.reasons] == ["empty-interval"]
    with pytest.raises(UsageError):
        issued(bundle)
    assert not (bundle.path / certified.RECORD).exists()


def test_a_certificate_agrees_with_its_bundle_and_its_archive(tmp_path: Path) -> None:
    bundle = issued(made.written(tmp_path, reference=made.REFERENCE, bom=made.BOM))
    assert kinds(bundle) == []
    assert archive.write(bundle, tmp_path / "run.tar.gz") == []
    done = verified(tmp_path / "run.tar.gz", "--json")
    assert done.return_value == 0
    assert json.loads(done.stdout)["valid"] is True


def test_remaking_the_report_changes_nothing(copied: Bundle) -> None:
    done = CliRunner().invoke(cli, ["report", str(copied.path)])
    assert done.exit_code == 0, done.output
    assert kinds(Bundle.open(copied.path)) == []


def changed_figure(bundle: Bundle) -> None:
    record = certified.record(bundle.path)
    record["certificate"]["figures"]["forms"][0]["combined"]["queries_per_h"] = 9999.0
    record["fingerprint"] = certified.fingerprint(record["certificate"])
    (bundle.path / certified.RECORD).write_text(json.dumps(record))


def changed_fingerprint(bundle: Bundle) -> None:
    record = certified.record(bundle.path)
    record["fingerprint"] = "0" * 64
    (bundle.path / certified.RECORD).write_text(json.dumps(record))


def changed_page(bundle: Bundle) -> None:
    page = bundle.path / certified.PAGE
    page.write_text(page.read_text().replace("720", "721"))


def changed_rows(bundle: Bundle) -> None:
    rows = bundle.table("queries").to_pylist()[:-30]
    spool = bundle.path / "queries.jsonl"
    (bundle.path / "queries.parquet").unlink()
    spool.write_text("".join(json.dumps(row) + "\n" for row in rows))
    spool_to_parquet(spool, Table.QUERIES)


def removed_file(bundle: Bundle) -> None:
    (bundle.path / "events.jsonl").unlink()


def added_file(bundle: Bundle) -> None:
    (bundle.path / "checks.json").write_text("[]")


PLACE = "figures.forms[0].combined"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (changed_figure, {("figure", f"{PLACE}.queries_per_h")}),
        (changed_fingerprint, {("figure", "fingerprint")}),
        (changed_page, {("page", certified.PAGE)}),
        (changed_rows, {("file", "queries.parquet"), ("figure", f"{PLACE}.completed")}),
        (removed_file, {("file", "events.jsonl")}),
        (added_file, {("file", "checks.json")}),
    ],
)
def test_a_change_is_found(copied: Bundle, change: Any, found: set[tuple[str, str]]) -> None:
    change(copied)
    assert found <= set(kinds(Bundle.open(copied.path)))
    assert verified(copied.path).return_value == 1


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"certificate": {}}', '{"certificate": 1}'])
def test_a_damaged_certificate_is_refused_in_a_line(copied: Bundle, text: str) -> None:
    (copied.path / certified.RECORD).write_text(text)
    with pytest.raises(UsageError) as caught:
        issuing.verify(copied)
    assert "\n" not in str(caught.value)


def test_no_certificate_and_no_bundle_are_refused(tmp_path: Path) -> None:
    bundle = made.written(tmp_path)
    with pytest.raises(UsageError):
        issuing.verify(bundle)
    with pytest.raises(UsageError):
        issuing.computed(Bundle.open(bundle.path), [], bundle.run.validity, [])
    (bundle.path / "run.json").unlink()
    for place in (bundle.path, tmp_path / "nothing"):
        assert isinstance(verified(place).exception, UsageError)


def test_canonical_json_does_not_depend_on_order() -> None:
    one = {"b": [1, 2.5], "a": {"y": "ü", "x": None}}
    other = {"a": {"x": None, "y": "ü"}, "b": [1, 2.5]}
    assert certified.canonical(one) == certified.canonical(other)
    assert certified.canonical(one) == b'{"a":{"x":null,"y":"\\u00fc"},"b":[1,2.5]}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        certified.canonical(float("nan"))


def key_of(folder: Path, name: str = "key") -> tuple[Path, Path]:
    """A new private key and its public key, as files."""
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ed25519

    key = ed25519.Ed25519PrivateKey.generate()
    private, public = folder / f"{name}.pem", folder / f"{name}.pub.pem"
    private.write_bytes(
        key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    )
    private.chmod(0o600)
    public.write_bytes(
        key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    )
    return private, public


def test_a_signature_is_checked(tmp_path: Path) -> None:
    private, public = key_of(tmp_path)
    _, other = key_of(tmp_path, "other")
    bundle = issued(made.written(tmp_path), key=signing.private_key(private))
    assert kinds(bundle, signing.public_key(public)) == []
    assert issuing.verify(bundle).signer.startswith("SHA256:")
    assert kinds(bundle, signing.public_key(other)) == [("signature", "signature")]
    changed_figure(bundle)  # with a new fingerprint
    assert ("signature", "signature") in kinds(bundle)
    text = (bundle.path / certified.RECORD).read_text()
    assert "PRIVATE" not in text
    assert private.read_text().splitlines()[1] not in text


def test_an_unsigned_certificate_fails_where_a_key_is_required(
    copied: Bundle, tmp_path: Path
) -> None:
    _, public = key_of(tmp_path)
    assert kinds(copied, signing.public_key(public)) == [("signature", "signature")]


def test_a_private_key_must_be_private(tmp_path: Path) -> None:
    private, public = key_of(tmp_path)
    secret = private.read_text().splitlines()[1]
    private.chmod(0o640)
    with pytest.raises(UsageError) as caught:
        signing.private_key(private)
    assert "chmod 600" in str(caught.value)
    public.chmod(0o600)
    link = tmp_path / "link.pem"
    shutil.copy(private, link)
    link.chmod(0o600)
    link.write_text(link.read_text().replace(secret, secret[:-4]))
    for path in (public, link, tmp_path / "none.pem"):
        with pytest.raises(UsageError) as caught:
            signing.private_key(path)
        assert secret[:12] not in str(caught.value)
        assert "\n" not in str(caught.value)


def test_the_page_has_the_notice_the_marks_and_no_scripts(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>"
    bom = {"currency": "EUR", "items": [{"name": hostile, "price": 1.0}]}
    bundle = issued(made.written(tmp_path, quick=True, bom=bom, number="2026-004"))
    page = (bundle.path / certified.PAGE).read_text()
    assert NOTICE in page
    assert "<h1>2026-004</h1>" in page
    assert "<strong>quick</strong>" in page
    assert hostile not in page
    assert not re.search(r"<script|https?://|src=", page)
    assert certified.fingerprint(content(bundle).model_dump(mode="json")) in page


@pytest.mark.parametrize(("physical_mbps", "noted"), [(992.0, True), (100.0, False), (None, False)])
def test_a_rate_read_from_devices_is_not_of_a_warm_cache(
    copied: Bundle, physical_mbps: float | None, noted: bool
) -> None:
    """Of 1,600 logical MB/s."""
    found = content(copied)
    (one,) = found.figures.forms
    assert one.rate is not None
    rate = one.rate.model_copy(update={"physical_mbps": physical_mbps})
    forms = (one.model_copy(update={"rate": rate}),)
    figures = found.figures.model_copy(update={"forms": forms})
    shown = rendered(found.model_copy(update={"figures": figures}), "0" * 64)
    assert ("62 % was read from the devices" in shown) is noted
