"""Many ways to anonymize one history, each measured and attacked: how much safety costs how much use.

Every finished result is a file of its own, named by what decides it, so that a sweep that was broken off goes on where
it was, and one with more ways in it only does what is new.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.progress import step
from tokumei.core.text import Text, from_json, to_json
from tokumei.data.files.atomic import write_text
from tokumei.data.files.toml import read_toml
from tokumei.data.history import History
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.methods.pipeline import Pipeline, pipeline_of
from tokumei.report.evaluation import evaluate
from tokumei.report.needs import absent_in_words, check_needs, lacks

# Raised whenever a number of a result comes to mean another thing, so that none from before is taken for it.
RESULTS = 2
LINE = {"name": pl.String, "utility": pl.Float64, "found": pl.Float64, "attack": pl.String, "left_out": pl.String}


def read_grid(path: Path | str) -> dict[str, dict[str, Any]]:
    """Read the pipelines of a sweep by name: a TOML file with a [[pipeline]] table for each, as of a pipeline file."""
    _, found = read_toml(Path(path))
    pipelines = found.get("pipeline")
    if not isinstance(pipelines, list) or not pipelines:
        raise InputError.of("a [[pipeline]] table for each way to anonymize", file=path)
    grid: dict[str, dict[str, Any]] = {}
    for number, one in enumerate(pipelines, 1):
        name = str(one.get("name", f"pipeline {number}"))
        if name in grid:
            raise InputError.of("a name for each pipeline", file=path, value=name)
        grid[name] = {key: value for key, value in one.items() if key != "name"}
    return grid


def default_grid(absent: Collection[str] = ()) -> dict[str, dict[str, Any]]:
    """Return the ways that are tried by default, of a history that may lack some columns.

    They combine how long a pseudonym lives, whether dates, times, quantities and prices are changed as far as the
    contest allows, and how many of the rows that give most away are deleted; and groups are permuted under bounds.
    """
    noise = {
        "method": "perturb",
        "days": 31,
        "quantities": 0.0 if "quantity" in absent else 1.0,
        "prices": 0.0 if "price" in absent else 1.0,
        "hides_times": True,
        "whole_baskets": False,
    }
    grid: dict[str, dict[str, Any]] = {
        Text("exchanged pseudonyms"): {"step": [{"method": "exchange-pseudonyms", "share": 1.0}]}
    }
    for months, is_noisy, deleted in itertools.product((1, 6, 12), (False, True), (0.0, 0.1, 0.15, 0.2, 0.3)):
        delete = {"method": "delete", "telling": deleted, "once": False, "price_deviations": 0.0}
        steps = ([dict(noise)] if is_noisy else []) + ([delete] if deleted else [])
        form = "pseudonyms of {n}, all values moved, {m:.0%} deleted"
        name = Text(form if is_noisy else form.replace(", all values moved", ""), n=_months(months), m=deleted)
        grid[name] = {"step": [*steps, {"method": "pseudonyms", "lifetime": months}]}
    for bound in (0.5, 0.35, 0.25, 0.15):
        grid[Text("permuted groups, bound {n:g}", n=bound)] = {"step": [{"method": "permute-groups", "bound": bound}]}
    return grid


def _months(number: int) -> Text:
    return Text("1 month") if number == 1 else Text("{n} months", n=number)


def rolled_ways(file: str, hierarchy: Hierarchy) -> dict[str, dict[str, Any]]:
    """Return the ways that roll items up: to each level that still says something, under yearly or monthly names."""
    levels = [one for one in range(1, hierarchy.height + 1) if not hierarchy.says_nothing(one)]
    return {
        Text("items at level {m}, pseudonyms of {n}", m=level, n=_months(months)): {
            "step": [
                {"method": "roll-up", "hierarchy": file, "level": level},
                {"method": "pseudonyms", "lifetime": months},
            ]
        }
        for level, months in itertools.product(levels, (1, 12))
    }


def possible_ways(
    grid: Mapping[str, Mapping[str, Any]], original: History
) -> tuple[dict[str, dict[str, Any]], dict[str, Text]]:
    """Return the ways that a history allows, and why the others are left out."""
    possible, left_out = {}, {}
    for name, settings in grid.items():
        absent = [column for method in pipeline_of(settings).methods for column in lacks(original, method)]
        if absent:
            left_out[name] = absent_in_words([*dict.fromkeys(absent)])
        else:
            possible[name] = dict(settings)
    return possible, left_out


def sweep(
    original: History,
    knowledge: Mapping[str, History],
    grid: Mapping[str, Mapping[str, Any]],
    folder: Path | None,
    *,
    seed: int,
    attacks: Sequence[str],
    not_tried: Mapping[str, str] | None = None,
    hierarchy: Hierarchy | None = None,
) -> list[dict[str, Any]]:
    """Anonymize, measure and attack in every way; give a line for each: name, utility, safety, the best attack.

    A way that a history does not allow, as groups under a bound may not be found, is left out with the reason.
    """
    results = None if folder is None else folder / "results"
    if results is not None:
        results.mkdir(parents=True, exist_ok=True)
    pipelines = {name: pipeline_of(settings) for name, settings in grid.items()}
    for one in pipelines.values():
        for method in one.methods:
            check_needs(original, method)
    rows = []
    with step("sweeping", len(grid)) as bar:
        for name, settings in grid.items():
            file = (
                None
                if results is None
                else results / f"{_key(original, knowledge, settings, seed, attacks, hierarchy)}.json"
            )
            if file is not None and file.exists():
                row = json.loads(file.read_text(encoding="utf-8"), object_hook=from_json)
            else:
                row = _measured(pipelines[name], original, knowledge, attacks, not_tried, hierarchy, seed)
                row |= {"name": name, "pipeline": settings}
                if file is not None:
                    write_text(file, json.dumps(to_json(row)) + "\n")
            rows.append({**row, "name": name})
            bar.advance()
    lines = [_line(row) for row in rows]
    unbeaten = frontier(pl.DataFrame(lines, schema=LINE))
    return [{**line, "is_on_frontier": is_best} for line, is_best in zip(lines, unbeaten, strict=True)]


def _measured(
    pipeline: Pipeline,
    original: History,
    knowledge: Mapping[str, History],
    attacks: Sequence[str],
    not_tried: Mapping[str, str] | None,
    hierarchy: Hierarchy | None,
    seed: int,
) -> dict[str, Any]:
    """Anonymize in one way, measure and attack."""
    try:
        release = pipeline.anonymize(original, seed=seed)
    except CannotAnonymize as error:
        return {"utility": None, "found": None, "attack": None, "evaluation": {"left_out": {"way": error.text}}}
    done = evaluate(
        original, History(release.frame), knowledge, attacks=attacks, not_tried=not_tried, hierarchy=hierarchy
    )
    best, found = done.best_attack(min(knowledge, key=int)) if done.attacks.height else (None, None)
    return {"utility": done.contest_utility, "found": found, "attack": best, "evaluation": done.as_dict()}


def _line(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is compared of a way, with why its use or its attacks were left out; one reason keeps its form."""
    reasons = list(dict.fromkeys(row["evaluation"].get("left_out", {}).values()))
    said = reasons[0] if len(reasons) == 1 else "; ".join(reasons)
    is_whole = row["utility"] is not None and row["found"] is not None
    return {**{key: row[key] for key in LINE if key in row}, "left_out": None if is_whole else said}


def frontier(points: pl.DataFrame) -> pl.Series:
    """Mark the ways that no other beats: none loses less use and lets fewer be found.

    What is left out beats nothing, and nothing beats it.
    """
    pairs = points.select("utility", "found").rows()
    known = [(u, f) for u, f in pairs if u is not None and f is not None]
    return pl.Series(
        [
            (utility, found) in known
            and not any((u <= utility and f <= found and (u, f) != (utility, found)) for u, f in known)
            for utility, found in pairs
        ],
        dtype=pl.Boolean,
    )


def _key(
    original: History,
    knowledge: Mapping[str, History],
    settings: Mapping[str, Any],
    seed: int,
    attacks: Sequence[str],
    hierarchy: Hierarchy | None,
) -> str:
    """Name a result by everything that decides it."""
    frames = [original.frame, *(part.frame for part in knowledge.values())]
    content = [str(frame.hash_rows(seed=0).sum()) for frame in frames]
    labels = [] if hierarchy is None else [hierarchy.labels_at(level) for level in range(hierarchy.height + 1)]
    named = [RESULTS, settings, seed, sorted(attacks), sorted(knowledge), content, labels]
    decided = json.dumps(named, sort_keys=True)
    return hashlib.blake2b(decided.encode(), digest_size=12).hexdigest()
