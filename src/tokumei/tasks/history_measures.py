"""The measures of a history that are asked for, by name or as parts, each with its options.

Of an option that takes one value, several stand for a measure with each of them: `statistic` with seven statistics and
three columns is twenty-one measures.
"""

from __future__ import annotations

import itertools
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NoReturn

from tokumei.core.errors import InputError
from tokumei.core.registry import Option, fit_option, part_name, part_options, read_option
from tokumei.measures.registry import HISTORY_UTILITIES, HistoryUtility
from tokumei.report.needs import NEEDS_MASTER

Options = Mapping[str, Mapping[str, Any]]
MASTER = "master"


@dataclass(frozen=True)
class Asked:
    """A measure that is asked for: what its score goes by, its registered name, and the measure itself."""

    key: str
    name: str
    part: HistoryUtility


def asked_measures(
    measures: Sequence[str | HistoryUtility] | None, options: Options | None = None, *, master: Any = None
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


def options_from_text(texts: Iterable[str], measures: Sequence[str] | None) -> dict[str, dict[str, Any]]:
    """Read options as typed on a command line: NAME=VALUE of the one measure asked for, or MEASURE.NAME=VALUE."""
    found: dict[str, dict[str, Any]] = {}
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


def _made(name: str, options: Mapping[str, Any], master: Any) -> list[HistoryUtility]:
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


def _values(option: Option, value: Any) -> Sequence[Any]:
    """Return the values of an option, one of which may stand alone."""
    if _is_list(option) or isinstance(value, str) or not isinstance(value, Sequence):
        return [value]
    if not value:
        _refuse(option, value)
    return value


def _is_list(option: Option) -> bool:
    return typing.get_origin(option.type) is tuple


def _fitted(option: Option, value: Any) -> Any:
    try:
        return fit_option(option, value)
    except ValueError:
        _refuse(option, value)


def _refuse(option: Option, value: Any) -> NoReturn:
    raise InputError.of(option.type_name, option=option.name, value=value)


def _keyed(name: str, parts: Sequence[HistoryUtility]) -> list[tuple[str, HistoryUtility]]:
    """Name each measure for its score: its name, with the options in which they differ."""
    if len(parts) == 1:
        return [(name, parts[0])]
    settings: list[dict[str, Any]] = [asdict(part) for part in parts]  # type: ignore[call-overload]
    telling = [key for key in settings[0] if len({repr(one.get(key)) for one in settings}) > 1]
    keys = [f"{name}({', '.join(f'{key}={one[key]}' for key in telling)})" for one in settings]
    for key in keys:
        if keys.count(key) > 1:
            raise InputError.of("each measure once", option="measures", value=key if telling else name)
    return list(zip(keys, parts, strict=True))
