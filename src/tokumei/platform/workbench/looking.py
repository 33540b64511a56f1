"""What the limited process does that looks at a file: its columns, what it gives away, and its hierarchies.

It calls the library on the folder of a piece of work alone, may be killed at any moment and called again, and writes
what it found beside the file: nothing of anybody's data goes through the database. Somebody waits for it, so that it
loads no attack before the first picture is there. The samples, made-up people and made-up purchases, are files to try
the workbench on.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.seeds import generator
from tokumei.core.text import Json, JsonView, Text, counted
from tokumei.data.files.disk import write_text
from tokumei.data.files.formats import read_frame, write_frame
from tokumei.data.history import read_history
from tokumei.data.table import Table
from tokumei.hierarchies.files import write_hierarchy
from tokumei.hierarchies.leaves import check_covers
from tokumei.inspection.column_facts import separate
from tokumei.inspection.repeated_people import repeated_people
from tokumei.platform.jobs.child import refusing
from tokumei.platform.workbench import folder as files
from tokumei.platform.workbench.column_pictures import drawn_tree, find_history_columns, first_rows, histogram
from tokumei.platform.workbench.file_notes import form_of, read_repaired
from tokumei.tasks.audit_sample import Sampling
from tokumei.tasks.audit_table import attack_as_it_stands, audit_table, history_facts, history_risk, threat_models
from tokumei.tasks.inspect_table import Inspection, inspect_columns
from tokumei.tasks.job_file import Job, table_of
from tokumei.tasks.job_writing import history_template, table_template

N_PEOPLE, N_CUSTOMERS, SEED = 3_000, 200, 1
FAMILY = ("佐藤", "鈴木", "高橋", "田中", "伊藤", "渡辺", "山本", "中村", "小林", "加藤")
GIVEN = ("陽菜", "蓮", "結衣", "湊", "葵", "大翔", "凛", "樹", "美咲", "悠真", "さくら", "健太")
ILLNESSES = ("cold", "flu", "asthma", "diabetes", "hypertension", "cancer", "depression")


@dataclass(frozen=True)
class Sample:
    """A file that is made when somebody takes it."""

    file: str
    kind: str
    make: Callable[[], pl.DataFrame]


def make_people() -> pl.DataFrame:
    """Make patients: a name, sex, age, prefecture, postal code, and an illness."""
    from tokumei.data.made_services import make_service

    people = make_service(N_PEOPLE, service=1, seed=SEED)
    rng = generator(SEED, "workbench", "people")
    names = [f"{rng.choice(FAMILY)} {rng.choice(GIVEN)}" for _ in range(N_PEOPLE)]
    codes = [f"{100 + number % 47 * 19:03d}{rng.integers(0, 40) * 10:04d}" for number in range(N_PEOPLE)]
    # Older people are ill with other things.
    older = people["age"].to_numpy() >= 50
    weights = {False: (8, 6, 3, 1, 1, 0.4, 2), True: (4, 4, 1, 4, 6, 2, 1)}
    shares = {is_old: [w / sum(given) for w in given] for is_old, given in weights.items()}
    illness = [str(rng.choice(ILLNESSES, p=shares[bool(is_old)])) for is_old in older]
    days = rng.integers(1, 15, N_PEOPLE)
    return people.with_columns(
        pl.Series("name", names),
        pl.Series("postal_code", codes),
        pl.Series("nights", days),
        pl.Series("illness", illness),
    ).select("name", "sex", "age", "prefecture", "postal_code", "nights", "illness")


def make_purchases() -> pl.DataFrame:
    """Make a year of purchases."""
    from tokumei.data.made_retail import make_retail

    made = make_retail(N_CUSTOMERS, n_rows=40 * N_CUSTOMERS, seed=SEED)
    # As a shop would write it, not with nine decimals.
    return made.with_columns(pl.col("time").dt.strftime("%H:%M:%S"))


SAMPLES = {
    "people": Sample("patients.csv", "table", make_people),
    "purchases": Sample("purchases.csv", "history", make_purchases),
}


MOST_COLUMNS = 500


def look(asked: JsonView) -> Json:
    """Look at the file: its columns, a first job file, what it gives away, and the hierarchies of its columns."""
    folder, kind = Path(asked["folder"]), str(asked["kind"])
    with refusing():
        piece = files.read(folder, files.PIECE)
        path = folder / piece["file"]
        if piece.get("sample") and not path.exists():
            write_frame(SAMPLES[piece["sample"]].make(), path)
        frame = None if (folder / files.LOOK).exists() else _look_at_columns(folder, path, kind)
        if kind == "table":
            _study_table(folder, frame)
        else:
            _study_history(folder)
    return {}


def _look_at_columns(folder: Path, path: Path, kind: str) -> pl.DataFrame:
    frame, reading, notes = read_repaired(path)
    if not frame.width or not frame.height:
        raise InputError.of("a file with a header and at least one row below it", file=path.name)
    if frame.width > MOST_COLUMNS:
        raise InputError.of(
            Text("at most {n} columns", n=MOST_COLUMNS), file=path.name, value=counted(frame.width, "column")
        )
    columns, repeated = inspect_columns(frame)
    shown = {name: one.as_dict() | {"picture": _picture(frame[name])} for name, one in columns.items()}
    nothing = separate(frame.head(0), [])
    found = Inspection(path.name, frame.height, columns, nothing, repeated, 0.0)
    look = {"rows": frame.height, "columns": shown, "first_rows": first_rows(frame)}
    look |= {"notes": notes, "form": form_of(path)}
    if kind == "history":
        mapped = find_history_columns(frame)
        look["mapped"] = mapped
        text = history_template(path, replace(reading, columns=mapped), beside=folder)
    else:
        text = table_template(found, path, reading, beside=folder)
    Job.of(text, folder=folder)
    write_text(folder / files.JOB, text)
    files.write(folder, files.LOOK, look)
    return frame


def _picture(column: pl.Series) -> Json:
    return {"bars": [], "others": 0} if column.dtype.is_nested() else histogram(column)


def _study_table(folder: Path, frame: pl.DataFrame | None) -> None:
    """Audit the table by the roles of the job file, build its hierarchies, attack it; the quickest picture first."""
    job = Job.read(folder / files.JOB)
    table, said = table_of(job, frame)
    sampling = Sampling(job.population_size, job.weights)
    sampling = sampling.with_special_uniques(len(table.quasi_identifiers), table.n_rows)
    audited = audit_table(table, population_size=sampling.population_size, weights=sampling.weights, suda=sampling.suda)
    risk: Json = {
        "audit": audited.to_dict(),
        "sizes": audited.counts.rows_by_size(),
        "roles": dict(job.roles),
        "threat_models": threat_models(audited),
        "population_given": job.population_size,
        "weights": job.weights,
    }
    if table.unit is None:
        several = repeated_people(read_frame(job.file, job.reading) if frame is None else frame)
        risk |= {} if several is None else {"several_rows": several.words}
    files.write(folder, files.RISK, risk)
    _draw_trees(folder, job, table, said)
    found = separate(table.frame, table.quasi_identifiers)
    alone = Inspection("", table.n_rows, {}, found, None, 0.0).to_dict()
    risk |= {"sets": alone["sets"], "alone": alone["minimal_uniques"]}
    files.write(folder, files.RISK, risk)
    files.write(folder, files.RISK, risk | {"attacks": attack_as_it_stands(table)})


def _draw_trees(folder: Path, job: Job, table: Table, said: dict[str, str]) -> None:
    made = folder / files.MADE_TREES
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(mode=0o700)
    trees = {}
    for place, column in enumerate(table.quasi_identifiers):
        hierarchy = (table.hierarchies or {})[column]
        if isinstance(job.hierarchies.get(column), Path):
            # One that was sent may be of another file; better told now than when the release is made.
            check_covers(hierarchy, table.frame[column])
        trees[column] = drawn_tree(hierarchy, said.get(column, "")) | {"file": f"{place}.csv"}
        write_hierarchy(hierarchy, made / f"{place}.csv")
    files.write(folder, files.TREES, trees)


def _study_history(folder: Path) -> None:
    job = Job.read(folder / files.JOB)
    history = read_history(str(job.file), job.reading)
    files.write(folder, files.RISK, {"facts": history_facts(history)})
    files.write(folder, files.RISK, history_risk(history))
