"""Histories anonymized in memory and on engines: all give the bytes that plain Python gives, row by row."""

from __future__ import annotations

import datetime
import hashlib
import math
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.cases import has_many
from tests.journey.commands import tokumei_here
from tests.philox import philox_number

import tokumei as tk
from tokumei.core.errors import InputError
from tokumei.core.seeds import generator, key_of
from tokumei.data.files.reading import AS_IT_IS
from tokumei.data.files.released_histories import read_pseudonyms
from tokumei.data.history_columns import SCHEMA
from tokumei.engines import engine_history
from tokumei.methods.history.delete import COMPARED, Delete
from tokumei.methods.pipeline import pipeline_of, seed_of
from tokumei.tasks import anonymize_history
from tokumei.tasks.anonymize_history import write_history_on_engine
from tokumei.tasks.long_work import resumable

Row = dict[str, Any]
SEED = 7
DELETE = {"method": "delete", "telling": 0.2, "random": 0.2, "price_deviations": 1.5, "most": 0.6}
PERTURB = {"method": "perturb", "days": 4, "quantities": 0.4, "prices": 0.3, "hides_times": True}
STEPS = [DELETE, PERTURB, {"method": "pseudonyms", "lifetime": 2}]
DAYS = [datetime.date(2010, 12, 30), datetime.date(2011, 1, 1), datetime.date(2011, 1, 2), datetime.date(2011, 4, 30)]
ROW = st.tuples(
    st.sampled_from(["a", "P1", "花子", "c d"]),
    st.sampled_from(DAYS),
    st.sampled_from(["22a", "22b", "31", "茶碗"]),
    st.sampled_from([0.01, 1.95, 2.5, 100.0, -13.91, 0.0, 0.0012, 250_000.0]),
    st.sampled_from([1, 5, 12, 999_999, -3, 0, 2_000_000]),
)
YEN = ROW.map(lambda row: (*row[:3], float(round(100 * row[3])), row[4]))
ROWS = st.lists(st.none() | ROW, min_size=1, max_size=25) | st.lists(st.none() | YEN, min_size=1, max_size=25)
KEPT_OPEN = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]}
# An example takes seconds, so that shrinking a failure would take an hour.
PHASES = [Phase.explicit, Phase.generate]
MANY = settings(max_examples=20 if has_many() else 4, phases=PHASES, **KEPT_OPEN)  # type: ignore[arg-type]
FEW = settings(max_examples=1, phases=[Phase.generate], **KEPT_OPEN)  # type: ignore[arg-type]


def history_of(rows: list[Any]) -> pl.DataFrame:
    """Return a history; None is a deleted row."""
    cells = [
        (None,) * 7 if row is None else (row[0], str(at // 3), row[1], datetime.time(9, at % 60), *row[2:])
        for at, row in enumerate(rows)
    ]
    return pl.DataFrame(cells, schema=SCHEMA, orient="row")


# The same in plain Python, with no engine and no frame: what all of them are held against.


def drawn(seed: int, *purpose: str) -> Callable[..., list[int]]:
    key = key_of(seed, *purpose)

    def draw(*names: Any) -> list[int]:
        digits = hashlib.md5((key + " ".join(map(str, names))).encode(), usedforsecurity=False).hexdigest()
        return [int(digits[at : at + 8], 16) for at in range(0, 32, 8)]

    return draw


def drawn_beside(seed: int, *purpose: str) -> Callable[[int], tuple[int, int]]:
    """Draw by the number of a row alone."""
    key = int(key_of(seed, *purpose), 16)
    return lambda row: divmod(philox_number(key, row), 2**32)


def plain_delete(rows: list[Row | None], method: Delete, seed: int) -> list[Row | None]:
    draw = drawn_beside(seed, "delete")
    there = {at: row for at, row in enumerate(rows) if row is not None}
    chance = {at: (draw(at)[0], at) for at in there}
    items = Counter(row["item"] for row in there.values())
    prices = [row["price"] for row in there.values()]
    mean = math.fsum(prices) / max(1, len(prices))
    limit = method.price_deviations * math.sqrt(math.fsum((p - mean) ** 2 for p in prices) / max(1, len(prices))) + 1e-9
    hidden = {}
    for at, row in there.items():
        alike = [
            len({other["customer"] for other in there.values() if kind(other, columns) == kind(row, columns)})
            for columns in COMPARED
        ]
        hidden[at] = sum(300_000_000 - 300_000_000 // n for n in alike)
    rules = [
        ([at for at, row in there.items() if items[row["item"]] == 1], chance, len(rows)),
        ([at for at, row in there.items() if abs(row["price"] - mean) > limit], chance, len(rows)),
        (list(there), {at: (hidden[at], *chance[at]) for at in there}, round(method.telling * len(rows))),
        (list(there), chance, round(method.random * len(rows))),
    ]
    gone = {at for at, row in enumerate(rows) if row is None}
    for candidates, order, n_wanted in rules:
        left = sorted((at for at in candidates if at not in gone), key=lambda at, by=order: by[at])  # type: ignore[misc]
        gone |= set(left[: min(n_wanted, max(0, int(method.most * len(rows) + 1e-9) - len(gone)))])
    return [None if at in gone else row for at, row in enumerate(rows)]


def kind(row: Row, columns: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(row["item"][:2] if column == "group" else row[column] for column in columns)


def scaled(amount: float, factor: float, decimals: tuple[int, ...], most: float) -> float:
    parts = [one for one in decimals if math.isclose(amount * 10**one, round(amount * 10**one), abs_tol=1e-6)]
    per_unit: float = 10 ** (parts[0] if parts else decimals[-1])
    size = max(1, math.floor(abs(amount * factor) * per_unit + 0.5)) / per_unit
    return 0 if not amount else math.copysign(min(size, most) if abs(amount) <= most else size, amount)


def plain_perturb(rows: list[Row | None], seed: int) -> list[Row | None]:
    days, amounts = drawn(seed, "perturb", "days"), drawn_beside(seed, "perturb", "amounts")
    changed: list[Row | None] = []
    in_yen = all(row is None or row["price"] == round(row["price"]) for row in rows)
    for at, row in enumerate(rows):
        if row is None:
            changed.append(None)
            continue
        date = row["date"]
        number = (date - datetime.date(1970, 1, 1)).days
        month = [date + datetime.timedelta(n) for n in range(-4, 5)]
        near = [day for day in month if day.month == date.month]
        moved = near[0] + datetime.timedelta(days(number, row["customer"])[0] * len(near) >> 32)
        first, second = (one / 2**32 for one in amounts(at))
        quantity = scaled(row["quantity"], 1 + 0.4 * (2 * first - 1), (0,), 999_999)
        price = scaled(row["price"], 1 + 0.3 * (2 * second - 1), (0,) if in_yen else (2, 4, 6), 99_999.99)
        changed.append(
            {
                **row,
                "date": moved,
                "time": datetime.time(0, 0),
                "quantity": int(quantity),
                "price": price,
            }
        )
    return changed


def plain_release(frame: pl.DataFrame) -> list[tuple[Any, ...]]:
    """Delete, perturb and name, as STEPS say."""
    rows: list[Row | None] = [None if row["customer"] is None else row for row in frame.iter_rows(named=True)]
    method = Delete(**{name: value for name, value in DELETE.items() if name != "method"})  # type: ignore[arg-type]
    rows = plain_perturb(plain_delete(rows, method, seed_of(SEED, 1)), seed_of(SEED, 2))
    there = [row for row in rows if row is not None]
    first = min((month_of(row) for row in there), default=0)
    prefix = "PP" if any(row["customer"].startswith("P") for row in there) else "P"
    lives = sorted({(row["customer"], (month_of(row) - first) // 2) for row in there})
    numbers = generator(seed_of(SEED, 3), "pseudonyms").permutation(len(lives)) + 1
    width = len(str(len(lives)))
    names = {life: f"{prefix}{number:0{width}d}" for life, number in zip(lives, numbers.tolist(), strict=True)}
    n_invoices = len({row["invoice"] for row in there})
    released: list[tuple[Any, ...]] = []
    for row in rows:
        if row is None:
            released.append((None,) * len(SCHEMA))
            continue
        name = names[row["customer"], (month_of(row) - first) // 2]
        invoice = row["invoice"] if n_invoices == 1 else invoice_name(row, name)
        released.append(tuple({**row, "customer": name, "invoice": invoice}[role] for role in SCHEMA))
    return released


def month_of(row: Row) -> int:
    return int(row["date"].year * 12 + row["date"].month - 1)


def invoice_name(row: Row, pseudonym: str) -> str:
    """Name an invoice anew under its pseudonym."""
    text = f"{key_of(seed_of(SEED, 3), 'invoices')}{pseudonym} {row['invoice']}"
    return "B" + hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:20]


def check_engine(rows: list[Any], engine: str, folder: Path) -> None:
    """Hold the release, what is published of it and who is who against plain Python."""
    frame = history_of(rows)
    source = folder / "T.parquet"
    frame.write_parquet(source)
    drafts = {name: folder / f"{name}.parquet" for name in ("out", "published")} | {"truth": folder / "F.csv"}
    how: dict[str, Any] = {"engine": engine, "reading": AS_IT_IS, "seed": SEED}
    pipeline = pipeline_of({"step": STEPS})
    done = write_history_on_engine(source, pipeline, drafts, out=folder / "A.parquet", **how)
    expected = plain_release(frame)
    here = tk.anonymize(tk.History(frame), pipeline={"step": STEPS}, seed=SEED).release
    assert here.frame.rows() == expected
    written = pl.read_parquet(drafts["out"])
    roles = [role for role in SCHEMA if role in written.columns]
    assert [tuple(row) for row in written.select(roles).rows()] == [
        tuple(cell for role, cell in zip(SCHEMA, row, strict=True) if role in roles) for row in expected
    ]
    draw = drawn_beside(SEED, "publish")
    order = sorted(range(len(rows)), key=lambda at: (draw(at), at))
    shown = [expected[at] for at in order if expected[at][0] is not None]
    assert pl.read_parquet(drafts["published"])["customer"].to_list() == [row[0] for row in shown]
    owners = {
        (row["customer"], row["date"].year * 12 + row["date"].month - 1, name)
        for row, name in zip(frame.iter_rows(named=True), written["customer"], strict=True)
        if name is not None
    }
    assert set(read_pseudonyms(drafts["truth"])[0].select("customer", "period", "pseudonym").rows()) == owners
    assert done.facts["released"] == len(shown)
    assert done.facts["pseudonyms"] == len({row[0] for row in shown})
    assert not [one.name for one in folder.iterdir() if one.name.startswith(".tokumei-")]


@MANY
@given(ROWS)
def test_duckdb_on_random_histories_gives_the_bytes_of_plain_python(tmp_path: Path, rows: list[Any]) -> None:
    check_engine(rows, "duckdb", tmp_path)


@MANY
@given(ROWS)
def test_postgres_on_random_histories_gives_the_bytes_of_plain_python(
    postgres_engine: str, tmp_path: Path, rows: list[Any]
) -> None:
    check_engine(rows, postgres_engine, tmp_path)


@FEW
@given(ROWS)
def test_spark_on_random_histories_gives_the_bytes_of_plain_python(
    spark_engine: str, tmp_path: Path, rows: list[Any]
) -> None:
    check_engine(rows, spark_engine, tmp_path)


def test_a_history_in_pieces_is_the_one_in_one_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_history, "PIECE_ROWS", 3)
    some = [("a", DAYS[1], "22a", 1.95, 5), None, ("b", DAYS[1], "31", 2.5, 1), ("a", DAYS[2], "22b", 1.0, 12)]
    check_engine(some * 3, "duckdb", tmp_path)


def check_risky_lives(rows: list[Any], engine: str, folder: Path) -> None:
    """Hold lives that were halved by what steps had made of the rows against those in memory."""
    frame, out = history_of(rows), folder / "A.parquet"
    frame.write_parquet(folder / "T.parquet")
    named = {"method": "pseudonyms", "lifetime": 3, "risk_limit": 0.6, "known": 0.5}
    for steps in ([named], [DELETE, PERTURB, named]):
        here = tk.anonymize(tk.History(frame), pipeline={"step": steps}, seed=SEED).release
        how: dict[str, Any] = {"engine": engine, "reading": AS_IT_IS, "seed": SEED, "out": out}
        write_history_on_engine(folder / "T.parquet", pipeline_of({"step": steps}), {"out": out}, **how)
        written = pl.read_parquet(out)
        assert written.rows() == here.frame.select(written.columns).rows()


@MANY
@given(ROWS)
def test_duckdb_halves_risky_lives_as_memory_does(tmp_path: Path, rows: list[Any]) -> None:
    check_risky_lives(rows, "duckdb", tmp_path)


@FEW
@given(ROWS)
def test_postgres_halves_risky_lives_as_memory_does(postgres_engine: str, tmp_path: Path, rows: list[Any]) -> None:
    check_risky_lives(rows, postgres_engine, tmp_path)


@pytest.mark.parametrize("step", [{"method": "exchange-pseudonyms"}, {"method": "km-anonymity"}])
def test_a_method_that_needs_rows_in_memory_is_refused_by_name(tmp_path: Path, step: dict[str, Any]) -> None:
    history_of([("a", DAYS[0], "22a", 1.0, 1)]).write_parquet(tmp_path / "T.parquet")
    how: dict[str, Any] = {"engine": "duckdb", "reading": AS_IT_IS, "out": tmp_path / "A.parquet"}
    with pytest.raises(InputError, match=f"the local engine, which {step['method']} needs"):
        write_history_on_engine(
            tmp_path / "T.parquet", pipeline_of({"step": [step]}), {"out": tmp_path / "A.parquet"}, **how
        )


# It kills itself when it writes the fourth piece.
KILLED = """
import os, signal, sys
from pathlib import Path
from tokumei.methods.pipeline import pipeline_of
from tokumei.data.files.released_histories import read_pseudonyms
from tokumei.data.files.reading import AS_IT_IS
from tokumei.engines import engine_history
from tokumei.methods.history import on_engine
from tokumei.tasks import anonymize_history
engine_history.PIECE_ROWS = 10
folder = Path(sys.argv[1])
under_names = on_engine.under_names
def killed(*given):
    if len(list(folder.glob(".tokumei-*/piece-*.arrow"))) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return under_names(*given)
on_engine.under_names = killed
steps = pipeline_of({"step": [{"method": "delete", "random": 0.3}, {"method": "pseudonyms"}]})
anonymize_history.write_history_on_engine(folder / "T.parquet", steps, {"out": folder / "A.parquet"},
    out=folder / "A.parquet", engine="duckdb", reading=AS_IT_IS)
"""


def test_a_run_that_was_killed_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    some = [("a", DAYS[1], "22a", 1.95, 5), ("b", DAYS[1], "31", 2.5, 1), ("c", DAYS[2], "22a", 1.0, 12)]
    history_of(some * 100).write_parquet(tmp_path / "T.parquet")
    assert subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)]).returncode == -signal.SIGKILL
    left = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob(".tokumei-*/piece-*.arrow")}
    assert len(left) == 3
    assert not (tmp_path / "A.parquet").exists()
    # No seed was given: the secret one that the killed run drew is used again, or the pieces would not fit.
    [folder] = tmp_path.glob(".tokumei-*")
    assert folder.stat().st_mode & 0o077 == 0
    seed = int((folder / "seed").read_text())
    kept: dict[str, int] = {}
    monkeypatch.setattr(engine_history, "PIECE_ROWS", 10)
    scan = anonymize_history._scan

    def noting(parts: list[Path]) -> pl.LazyFrame:
        kept.update({path.name: path.stat().st_mtime_ns for path in parts})
        return scan(parts)

    monkeypatch.setattr(anonymize_history, "_scan", noting)
    steps = pipeline_of({"step": [{"method": "delete", "random": 0.3}, {"method": "pseudonyms"}]})
    how: dict[str, Any] = {"engine": "duckdb", "reading": AS_IT_IS}
    with caplog.at_level("INFO", logger="tokumei.notes"):
        done = write_history_on_engine(
            tmp_path / "T.parquet", steps, {"out": tmp_path / "A.parquet"}, out=tmp_path / "A.parquet", **how
        )
    assert "Going on where the same command was broken off" in caplog.text
    assert left.items() <= kept.items()
    assert len(kept) == 30
    assert done.facts["seed"] == seed
    assert not list(tmp_path.glob(".tokumei-*"))
    monkeypatch.setattr(engine_history, "PIECE_ROWS", 1_000)
    again = tmp_path / "again.parquet"
    write_history_on_engine(tmp_path / "T.parquet", steps, {"out": again}, out=again, seed=seed, **how)
    assert pl.read_parquet(again).equals(pl.read_parquet(tmp_path / "A.parquet"))


def test_two_runs_of_one_command_at_once_are_refused(tmp_path: Path) -> None:
    with (
        resumable(tmp_path / "A.parquet", [], {"k": 1}),
        pytest.raises(InputError, match="no other run of the same command"),
        resumable(tmp_path / "A.parquet", [], {"k": 1}),
    ):
        pass
    assert not list(tmp_path.iterdir())


def test_a_run_that_fails_leaves_nothing_and_one_broken_off_by_hand_all(tmp_path: Path) -> None:
    for error, n_left in ((ValueError, 0), (KeyboardInterrupt, 1)):
        with pytest.raises(error), resumable(tmp_path / "A.parquet", [], {"k": 1}):
            raise error
        assert len(list(tmp_path.iterdir())) == n_left


def test_a_dry_run_says_passes_memory_and_time_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    history_of([("a", DAYS[0], "22a", 1.0, 1)] * 10).write_parquet(tmp_path / "T.parquet")
    words = ["anonymize", "history", tmp_path / "T.parquet", "--engine", "duckdb", "--dry-run"]
    words += ["--out", tmp_path / "A.csv"]
    code, plan = tokumei_here(capsys, *words, "--method", "delete", "--set", "telling=0.1")
    # To read, look months and invoices up, change, and put together; items that stand once, prices, and six kinds of
    # rows alike.
    assert (code, plan["rows"], plan["passes"]) == (0, 10, 5 + 2 + 7)
    assert plan["cpu_seconds"] > 0
    assert [one.name for one in tmp_path.iterdir()] == ["T.parquet"]
    code, plan = tokumei_here(capsys, *words, "--method", "dummies")
    # Customers are not counted before, whom time and memory follow.
    assert (code, plan["passes"], plan["cpu_seconds"], plan["memory_gb"]) == (0, 5 + 8, None, None)
    code, told = tokumei_here(capsys, *words, "--method", "km-anonymity")
    assert code == 2
    assert "the local engine, which km-anonymity needs; others have delete, dummies" in told["message"]
