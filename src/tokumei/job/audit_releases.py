"""What several releases of the same people give away together, for `tokumei audit --against`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.data.files.formats import scan_frame
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.frames import as_lazy
from tokumei.measure.safety.releases.m_invariance import MInvariance
from tokumei.measure.safety.releases.sequential_k import SequentialK
from tokumei.measure.several_releases import SeveralReleases


def compare_releases(
    files: Sequence[Any],
    attributes: Sequence[str],
    sensitive: Sequence[str],
    person: str | None,
    *,
    engine: str,
    reading: Reading = AS_IT_IS,
) -> dict[str, Any] | None:
    """Measure all releases together, the newest being the first; None where there is no earlier one."""
    if len(files) == 1:
        if person is not None:
            raise InputError.of("--against FILE, which --id is for", option="--id", value=person)
        return None
    if "://" in engine:
        raise InputError.of("files with --against, since people are matched here", option="--engine", value=engine)
    with step("comparing releases"):
        together = _match(files, attributes, sensitive, person, reading=reading)
        score = SequentialK(1).measure(together)
        remaining, domains = score.inputs["remaining"], together.domains
        invariance = {name: int(MInvariance(name, 1).measure(together).value) for name in domains}
    return {
        "releases": len(files),
        "matched_by": "row" if person is None else person,
        "k": int(score.value),
        **{name: score.inputs[name] for name in ("k_alone", "persons", "people_in_all", "singled_out")},
        # A column that some release does not have cannot be compared.
        "m_invariance": {name: invariance.get(name) for name in sensitive},
        "remaining_sensitive": {name: remaining.get(name) for name in sensitive},
    }


def describe_comparison(together: Mapping[str, Any]) -> str:
    """Say in a sentence what comparing the releases gives away, and of which sensitive values."""
    compared = f"Comparing the {together['releases']} releases"
    before = f"where each alone keeps everybody among at least {_listed([str(k) for k in together['k_alone']])}"
    if together["k"] == 1:
        text = f"{compared} singles out {together['singled_out']:,} of {together['persons']:,} people, {before}."
    else:
        text = f"{compared} still leaves everybody among at least {together['k']}, {before}."
    told = [name for name, n_values in together["remaining_sensitive"].items() if n_values == 1]
    return f"{text} It tells somebody's {_listed(told)}." if told else text


def _listed(words: Sequence[str]) -> str:
    return " and ".join([*([", ".join(words[:-1])] if words[1:] else []), *words[-1:]])


def _match(
    files: Sequence[Any],
    attributes: Sequence[str],
    sensitive: Sequence[str],
    person: str | None,
    *,
    reading: Reading,
) -> SeveralReleases:
    scans = [scan_frame(file, reading) if isinstance(file, (str, Path)) else as_lazy(file) for file in files]
    present = [scan.collect_schema().names() for scan in scans]
    columns = [[name for name in attributes if name in there] for there in present]
    for file, own in zip(files, columns, strict=True):
        if not own:
            raise InputError.of(f"one of the columns {', '.join(attributes)}", file=str(file), option="--qi")
    shared = [name for name in sensitive if all(name in there for there in present)]
    kept = [[*own, *shared, *([] if person is None else [person])] for own in columns]
    frames = [_collect(scan, names) for scan, names in zip(scans, kept, strict=True)]
    return SeveralReleases.of(
        frames,
        columns,
        sensitive=shared,
        person=person,
        names=[str(one) if isinstance(one, (str, Path)) else f"table {n}" for n, one in enumerate(files, 1)],
    )


def _collect(scan: pl.LazyFrame, names: Sequence[str]) -> pl.DataFrame:
    """Load the columns that are there; what is missing is named when releases are matched."""
    return scan.select(name for name in scan.collect_schema().names() if name in names).collect()
