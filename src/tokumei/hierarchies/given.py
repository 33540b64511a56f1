"""Hierarchies as people write them in Python, each with `*` above it.

| given for a column | stands for |
|---|---|
| `{"Kyoto": "west", "Chiba": "east"}` | a label for each value; of several levels a list, finest first |
| `{"west": ["Kyoto", "Osaka"], "east": ["Chiba"]}` | the values of each group |
| `[18, 65]` | the intervals below 18, from 18 up to 65, and from 65 on; of several levels a list of such lists |
| a frame | the values in the first column, a level in each further one, as in a file |
| a function | what it returns for each value: a label, or a list of labels, finest first |
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from numbers import Real
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.data.frames import as_frame
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.labels import interval_label, number_label
from tokumei.hierarchies.leaves import exactly, leaf_texts, number_leaves, unreadable

EXPECTED = "a tk.Hierarchy, the name of its file, a mapping, a frame, a list of cuts or a function"


def hierarchy_given(given: object, attribute: str, values: pl.Series) -> Hierarchy:
    """Make the hierarchy of a column with these values of what somebody wrote in Python."""
    if hasattr(given, "build"):
        made: Hierarchy = given.build(attribute, values)
        return made.with_top()
    if isinstance(given, Mapping):
        return _of_mapping(given, attribute, values).with_top()
    if hasattr(given, "columns"):
        return _of_frame(given, attribute).with_top()
    if hasattr(given, "tolist"):
        given = given.tolist()
    if isinstance(given, (list, tuple, range)):
        return _of_cuts(given, attribute, values).with_top()
    if callable(given):
        return _of_function(given, attribute, values).with_top()
    raise InputError.of(EXPECTED, option=f"hierarchies {attribute}", value=type(given).__name__)


def _of_mapping(given: Mapping[Any, Any], attribute: str, values: pl.Series) -> Hierarchy:
    texts = leaf_texts(attribute, values)
    labels = {_text(key): value for key, value in given.items()}
    is_of_groups = any(isinstance(value, (list, tuple, set, frozenset)) for value in labels.values())
    if is_of_groups and not labels.keys() & set(texts):
        members = [(_text(one), group) for group, several in labels.items() for one in several]
        for text, group in members:
            if dict(members)[text] != group:
                raise InputError.of(f"one group for each value, not {group!r} too", column=attribute, value=text)
        labels = dict(members)
    return _of_labels(attribute, texts, [labels.get(text) for text in texts])


def _of_frame(given: object, attribute: str) -> Hierarchy:
    frame = as_frame(given)
    columns = [frame[name].cast(pl.String).to_list() for name in frame.columns]
    for name, column in zip(frame.columns, columns, strict=True):
        if None in column:
            raise InputError.of("a label at every level", file=f"hierarchies {attribute}", column=name)
    made = Hierarchy.of_levels(attribute, columns)
    made.check_nested(file=f"hierarchies {attribute}")
    return made


def _of_cuts(given: Sequence[Any], attribute: str, values: pl.Series) -> Hierarchy:
    levels = given if given and all(isinstance(one, (list, tuple, range)) for one in given) else [given]
    leaves = number_leaves(attribute, values)
    is_whole = all(number.denominator == 1 for number, _ in leaves)
    columns = [[text for _, text in leaves]]
    for level in levels:
        cuts = [_cut(one, attribute) for one in level]
        if not cuts or any(low >= high for low, high in pairwise(cuts)):
            raise InputError.of("cuts that rise, as [18, 65]", option=f"hierarchies {attribute}", value=list(level))
        is_plain = is_whole and all(cut.denominator == 1 for cut in cuts)
        inner = [interval_label(low, high, is_whole=is_plain) for low, high in pairwise(cuts)]
        labels = [f"<{number_label(cuts[0])}", *inner, f"≥{number_label(cuts[-1])}"]
        columns.append([labels[bisect_right(cuts, number)] for number, _ in leaves])
    made = Hierarchy.of_levels(attribute, columns)
    made.check_nested(file=f"hierarchies {attribute}")
    return made


def _cut(one: object, attribute: str) -> Any:
    if isinstance(one, bool) or not isinstance(one, Real):
        raise InputError.of("numbers to cut at, as [18, 65]", option=f"hierarchies {attribute}", value=one)
    return exactly(float(one))


def _of_function(given: Callable[[object], object], attribute: str, values: pl.Series) -> Hierarchy:
    plain = values.cast(pl.String) if isinstance(values.dtype, (pl.Categorical, pl.Enum)) else values
    distinct = plain.drop_nulls().unique().sort()
    return _of_labels(attribute, leaf_texts(attribute, distinct), [given(value) for value in distinct.to_list()])


def _of_labels(attribute: str, texts: Sequence[str], labels: Sequence[object]) -> Hierarchy:
    """Make a hierarchy of a label, or of one for each level, for each value."""
    several = [
        [one] if isinstance(one, str) else list(one) if isinstance(one, (list, tuple)) else None for one in labels
    ]
    lacking = [text for text, one in zip(texts, several, strict=True) if one is None or not all(map(_is_label, one))]
    if lacking:
        raise unreadable(attribute, lacking, "a value with a label that is text, or with a list of labels")
    n_levels = max((len(one) for one in several if one is not None), default=0)
    uneven = [text for text, one in zip(texts, several, strict=True) if one is None or len(one) != n_levels]
    if uneven or not n_levels:
        raise unreadable(attribute, uneven, f"a value with as many labels as the others, {n_levels}")
    made = Hierarchy.of_levels(attribute, [list(texts), *map(list, zip(*(one or [] for one in several), strict=True))])
    made.check_nested(file=f"hierarchies {attribute}")
    return made


def _is_label(one: object) -> bool:
    return isinstance(one, str) and bool(one)


def _text(key: object) -> str:
    """Write a key as a column of its type does."""
    return str(key).lower() if isinstance(key, bool) else str(key)
