"""How much use a released history lost, by every measure that its columns allow, here or on an engine.

Measures are asked for by name or as parts, each with its options. Of an option that takes one value, several stand for
a measure with each of them: `statistic` with seven statistics and three columns is twenty-one measures.
"""

from __future__ import annotations

import itertools
import math
import time
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from tokumei.core.errors import InputError
from tokumei.core.fields import fit
from tokumei.core.progress import Bar, step
from tokumei.core.registry import Option, part_name, part_options, read_option
from tokumei.core.result import Result, Rows, Section
from tokumei.core.score import NORMAL_95, Score
from tokumei.core.seeds import generator
from tokumei.core.text import Json, JsonView, Text, counted
from tokumei.data.files.histories import is_generalized_file
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.files.released_histories import read_generalized
from tokumei.data.history import History
from tokumei.data.release import GeneralizedHistory
from tokumei.engines.engine_history import EngineHistory
from tokumei.measures.generalized_histories import DrawnCells, measure_generalized_error
from tokumei.measures.registry import HISTORY_UTILITIES, EngineUtility, HistoryUtility
from tokumei.reports.needs import (
    NEEDS_MASTER,
    measure_or_say_why,
    why_not_compared,
)
from tokumei.tasks.histories import check_engine_reads, histories_on_engine, history_of, released_of

Options = Mapping[str, Mapping[str, object]]
MASTER = "master"


@dataclass(frozen=True)
class Asked:
    """A measure that is asked for: what its score goes by, its registered name, and the measure itself."""

    key: str
    name: str
    part: HistoryUtility


def asked_measures(
    measures: Sequence[str | HistoryUtility] | None, options: Options | None = None, *, master: object = None
) -> list[Asked]:
    """Make the measures that are asked for, all if none are; those of one name go by the options that tell them apart.

    options: by the name of a measure, its options with their values.
    """
    given = dict(options or {})
    wanted: Sequence[str | HistoryUtility] = list(HISTORY_UTILITIES) if measures is None else measures
    for name in given:
        HISTORY_UTILITIES.get(name)
        if name not in wanted:
            raise InputError.of("an option of a measure that is asked for", option="measures", value=name)
    made: dict[str, list[HistoryUtility]] = {}
    for one in wanted:
        if isinstance(one, str):
            made.setdefault(one, []).extend(_made(one, given.get(one, {}), master))
        else:
            made.setdefault(part_name(one), []).append(one)
    return [Asked(key, name, part) for name, parts in made.items() for key, part in _keyed(name, parts)]


def options_from_text(texts: Iterable[str], measures: Sequence[str] | None) -> dict[str, dict[str, object]]:
    """Read options as typed on a command line: NAME=VALUE of the one measure asked for, or MEASURE.NAME=VALUE."""
    found: dict[str, dict[str, object]] = {}
    for text in texts:
        name, mark, value = text.partition("=")
        measure, dot, option = name.strip().rpartition(".")
        if not mark or not option or (dot and not measure):
            raise InputError.of("NAME=VALUE, or MEASURE.NAME=VALUE", option="--set", value=text)
        if not dot:
            if measures is None or len(measures) != 1:
                raise InputError.of("MEASURE.NAME=VALUE, where several are measured", option="--set", value=text)
            [measure] = measures
        known = _known(measure)
        key = option.replace("-", "_")
        if key in found.setdefault(measure, {}):
            raise InputError.of("each option once; several values with commas", option="--set", value=text)
        if key == MASTER:
            raise InputError.of("--master instead", option="--set", value=text)
        if key not in known:
            found[measure][key] = value
        elif _is_list(known[key]):
            found[measure][key] = read_option(known[key], value)
        else:
            found[measure][key] = [read_option(known[key], part.strip()) for part in value.split(",")]
    return found


def _made(name: str, options: Mapping[str, object], master: object) -> list[HistoryUtility]:
    """Make a measure with each combination of the values of its options."""
    known = _known(name)
    if MASTER in options:
        raise InputError.of("master of the job instead", value=MASTER)
    own = {MASTER: master} if master is not None and name in NEEDS_MASTER else {}
    values = [
        [_fitted(known[key], one) for one in _values(known[key], value)] if key in known else [value]
        for key, value in options.items()
    ]
    return [
        HISTORY_UTILITIES.make(name, **own, **dict(zip(options, chosen, strict=True)))
        for chosen in itertools.product(*values)
    ]


def _known(name: str) -> dict[str, Option]:
    return {option.name: option for option in part_options(HISTORY_UTILITIES.get(name))}


def _values(option: Option, value: object) -> Sequence[object]:
    """Return the values of an option, one of which may stand alone."""
    if _is_list(option) or isinstance(value, str) or not isinstance(value, Sequence):
        return [value]
    if not value:
        _refuse(option, value)
    return value


def _is_list(option: Option) -> bool:
    return typing.get_origin(option.type) is tuple


def _fitted(option: Option, value: object) -> object:
    try:
        return fit(option.type, value)
    except ValueError:
        _refuse(option, value)


def _refuse(option: Option, value: object) -> NoReturn:
    raise InputError.of(option.type_name, option=option.name, value=value)


def _keyed(name: str, parts: Sequence[HistoryUtility]) -> list[tuple[str, HistoryUtility]]:
    """Name each measure for its score: its name, with the options in which they differ."""
    if len(parts) == 1:
        return [(name, parts[0])]
    settings: list[dict[str, object]] = [asdict(part) for part in parts]  # type: ignore[call-overload]
    telling = [key for key in settings[0] if len({repr(one.get(key)) for one in settings}) > 1]
    keys = [f"{name}({', '.join(f'{key}={one[key]}' for key in telling)})" for one in settings]
    for key in keys:
        if keys.count(key) > 1:
            raise InputError.of("each measure once", option="measures", value=key if telling else name)
    return list(zip(keys, parts, strict=True))


GENERALIZED_ERROR = "generalized-error"
NEEDS_DRAWS = Text("it needs values, and the release has ranges and sets: --draws 100 draws values from them")


@dataclass(frozen=True, repr=False)
class HistoryUse(Result):
    """Losses by measure, and which measures were left out for what reason."""

    scores: Mapping[str, Score]
    left_out: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    frame_kind: str = "polars"
    # How often values were drawn from the cells of the release, and by which seed; nothing where none were.
    drawn: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, found: Mapping[str, Score | Text], started: float, **more: Any) -> HistoryUse:
        """Tell scores from reasons; `started` is the time when measuring began."""
        scores = {key: one for key, one in found.items() if isinstance(one, Score)}
        left_out = {key: one for key, one in found.items() if not isinstance(one, Score)}
        return cls(scores, left_out, round(time.perf_counter() - started, 3), **more)

    def to_dict(self) -> Json:
        """Return scores by measure, as `tokumei measure history --json` prints them."""
        scores = {name: score.as_dict() for name, score in self.scores.items()}
        return {"scores": scores, "left_out": dict(self.left_out), **self.drawn, "seconds": self.seconds}

    def sections(self) -> Sequence[Section]:
        """Return the losses, and below them what could not be measured."""
        heads = ["measure", "value", "best", "worst", *(["95 % interval"] if self.drawn else [])]
        rows = [
            [name, one.value, one.best, one.worst, *([one.interval] if self.drawn else [])]
            for name, one in self.scores.items()
        ]
        parts: list[Section] = [Rows(heads, rows)]
        if self.left_out:
            reasons: dict[str, list[str]] = {}
            for name, why in self.left_out.items():
                reasons.setdefault(why, []).append(name)
            parts.append(Rows(["left out", "because"], [[", ".join(some), why] for why, some in reasons.items()]))
        return parts

    def __repr__(self) -> str:
        # Only shares can be compared with each other.
        shares = [one for one in self.scores.items() if one[1].worst == 1] or list(self.scores.items())
        worst = [
            f"most lost by {name} ({one.value:.4g})" for name, one in sorted(shares, key=lambda one: -one[1].value)
        ]
        said = [counted(len(self.scores), "measure"), *worst[:1], f"{len(self.left_out)} left out"]
        return f"HistoryUse({', '.join(said)})"


def measure_history(
    original: Any,
    release: Any,
    measures: Sequence[str | HistoryUtility] | str | HistoryUtility | None = None,
    *,
    reading: Reading = AS_IT_IS,
    master: Any = None,
    engine: str = "local",
    options: Mapping[str, JsonView] | None = None,
    draws: int | None = None,
    seed: int = 1,
    **own: Any,
) -> HistoryUse:
    """Measure a release against its original; all measures that can be, or those that are named.

    On another engine than the local one both are files, whose rows need not fit into memory.

    options: by the name of a measure, its options; where one measure is named, they may be given as keywords. A list
        of values measures each.
    draws: how often values are drawn from the cells of a release with ranges and sets, which can be used so alone
        (PWSCUP 2018, section 6.3); scores are means then.
    """
    named = [measures] if isinstance(measures, (str, HistoryUtility)) else measures
    asked = _asked(named, options, own, master)
    if draws is not None and draws < 1:
        raise InputError.of("at least 1 draw", option="draws", value=draws)
    if engine != "local":
        if GENERALIZED_ERROR in (named or ()):
            raise InputError.of("the local engine, which generalized-error needs", option="engine", value=engine)
        if draws is not None:
            raise InputError.of("the local engine, which drawing from cells needs", option="engine", value=engine)
        check_engine_reads(engine, original=original, release=release)

        where: Json = {"engine": engine, "reading": reading, "has_master": master is not None}
        return measure_history_on_engine(original, release, asked, are_named=named is not None, **where)
    started = time.perf_counter()
    before, cells = history_of(original, reading), _cells_of(release, reading)
    if cells is None:
        if draws is not None:
            expected = "a release with ranges and sets, from whose cells values are drawn"
            raise InputError.of(expected, option="draws", value=draws)
        after = released_of(release, reading)
        found = _error(before, GeneralizedHistory.of(after)) if GENERALIZED_ERROR in (named or ()) else {}
        with step("measuring", len(asked)) as bar:
            found |= {one.key: _measured(one, before, after, master is not None, bar) for one in asked}
    else:
        found = {}
        if named is None or GENERALIZED_ERROR in named:
            # Where nothing is drawn there is nothing else to measure: other rows than the original's are refused.
            found = (
                {GENERALIZED_ERROR: measure_generalized_error(before, cells)}
                if draws is None
                else _error(before, cells)
            )
        found |= _drawn(before, cells, asked, master, draws, seed)
    drawn = {} if draws is None else {"draws": draws, "seed": seed}
    return HistoryUse.of(found, started, frame_kind=before.kind, drawn=drawn)


def _asked(
    named: Sequence[str | HistoryUtility] | None,
    options: Mapping[str, Mapping[str, object]] | None,
    own: Mapping[str, object],
    master: object,
) -> list[Asked]:
    """Make the measures; the options of the only one may come as keywords."""
    if named is not None:
        named = [one for one in named if one != GENERALIZED_ERROR]
    if own:
        if named is None or len(named) != 1 or not isinstance(named[0], str):
            raise InputError.of("one measure, whose option it is", value=next(iter(own)))
        options = {**(options or {}), named[0]: {**(options or {}).get(named[0], {}), **own}}
    return asked_measures(named, options, master=master)


def _cells_of(release: Any, reading: Reading) -> GeneralizedHistory | None:
    """Return the cells of a release with ranges and sets; None of any other."""
    if isinstance(release, (str, Path)):
        return read_generalized(release, reading) if is_generalized_file(release, reading) else None
    if isinstance(release, GeneralizedHistory):
        return release
    cells: GeneralizedHistory | None = release.cells if getattr(release, "is_generalized", False) else None
    return cells


def _error(original: History, cells: GeneralizedHistory) -> dict[str, Score | Text]:
    """Measure how much less cells say than the rows beside them, or say why that cannot be."""
    # Rows that were published are sorted and fewer: they stand beside nothing.
    why = why_not_compared("date", (), original.n_rows, cells.n_rows)
    return {GENERALIZED_ERROR: measure_generalized_error(original, cells) if why is None else why}


def _drawn(
    original: History,
    cells: GeneralizedHistory,
    asked: Sequence[Asked],
    master: object,
    draws: int | None,
    seed: int,
) -> dict[str, Score | Text]:
    """Measure what is done with values on values drawn from the cells, or say that this needs draws."""
    if draws is None:
        return {one.key: NEEDS_DRAWS for one in asked}
    drawn = DrawnCells.of(original, cells)
    values: dict[str, list[Score | Text]] = {one.key: [] for one in asked}
    with step("measuring", len(asked) * draws) as bar:
        for number in range(draws):
            after = drawn.draw(generator(seed, "draws", number))
            for one in asked:
                values[one.key].append(_measured(one, original, after, master is not None, bar))
    return {key: _mean(some) for key, some in values.items()}


def _mean(values: Sequence[Score | Text]) -> Score | Text:
    """Return the mean of a score over draws with its 95 % interval, or why no draw has a score."""
    scores = [one for one in values if isinstance(one, Score)]
    if not scores:
        return values[0]
    first, n = scores[0], len(scores)
    numbers = np.array([one.value for one in scores])
    mean = math.fsum(numbers) / n
    deviation = float(np.std(numbers, ddof=1)) if n > 1 else None
    interval = None
    if deviation is not None:
        margin = NORMAL_95 * deviation / math.sqrt(n)
        interval = (max(first.least, mean - margin), min(first.greatest, mean + margin))
    inputs = {"draws": n, "deviation": deviation}
    return Score(first.name, mean, best=first.best, worst=first.worst, interval=interval, inputs=inputs)


def measure_history_on_engine(
    original: Path | str,
    release: Path | str,
    asked: Sequence[Asked],
    *,
    are_named: bool,
    engine: str,
    reading: Reading,
    has_master: bool = False,
) -> HistoryUse:
    """Measure a release against its original where rows need not fit into memory."""
    started = time.perf_counter()
    for one in asked:
        if are_named and not isinstance(one.part, EngineUtility):
            names = [name for name in HISTORY_UTILITIES if issubclass(HISTORY_UTILITIES.get(name), EngineUtility)]
            expected = Text(
                "the local engine, which {what} needs; others have {names}", what=one.name, names=", ".join(names)
            )
            raise InputError.of(expected, option="engine", value=engine)
    sources = {"before": (original, "original"), "after": (release, "release")}
    with histories_on_engine(sources, reading, engine) as sides, step("measuring", len(asked)) as bar:
        found = {one.key: _measured(one, sides["before"], sides["after"], has_master, bar) for one in asked}
    return HistoryUse.of(found, started)


def _measured(one: Asked, before: object, after: object, has_master: bool, bar: Bar) -> Score | Text:
    """Measure, or say why that cannot be."""
    bar.advance()
    if isinstance(before, EngineHistory) and not isinstance(one.part, EngineUtility):
        return Text("it needs the local engine")
    return measure_or_say_why(one.part, one.name, before, after, has_master=has_master)
