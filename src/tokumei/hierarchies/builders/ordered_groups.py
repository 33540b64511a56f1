"""Values in an order, grouped by name or by number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import polars as pl

from tokumei.core.errors import InputError
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.labels import Span, merged_spans, open_span_labels, span_label
from tokumei.hierarchies.leaves import check_covers, hierarchy_of, in_natural_order, leaf_texts


@dataclass(frozen=True)
class OrderedGroups:
    """Values become named groups, then runs of so many neighbors.

    Here the groups are low (a and b), mid (c) and high (d and e), and the only size is 2.

    | value | groups | sizes    |
    |-------|--------|----------|
    | a     | low    | low..mid |
    | c     | mid    | low..mid |
    | e     | high   | high     |

    Where neither groups nor an order is given, the values are those of the column, and the outermost runs are open: of
    a to e in pairs the first is `..b`, since who alone has the least value would be told by `a..b`.
    """

    groups: tuple[str, ...] = field(
        default=(), metadata={"help": "The groups of the first level, each as name=value|value|…"}
    )
    sizes: tuple[int, ...] = field(
        default=(), metadata={"help": "For each further level, how many neighbors of the level before make one."}
    )
    order: tuple[str, ...] = field(
        default=(), metadata={"help": "The order of the values; else that of the groups, the numbers or the alphabet."}
    )

    def __post_init__(self) -> None:
        for size in self.sizes:
            if size < 2:
                raise InputError.of("sizes of at least 2", option="sizes", value=size)
        _check_once(self.order, "order")
        named = [_read_group(group) for group in self.groups]
        _check_once((name for name, _ in named), "groups")
        _check_once((value for _, members in named for value in members), "groups")

    def build(self, attribute: str, values: pl.Series) -> Hierarchy:
        """Make the hierarchy of a column; groups and order may hold values that the column does not."""
        group_of = {value: name for name, members in map(_read_group, self.groups) for value in members}
        leaves = list(self.order or group_of or in_natural_order(leaf_texts(attribute, values)))
        # The order is checked first: it says which values there are.
        check_covers(hierarchy_of(attribute, [leaves]), values)
        for leaf in leaves:
            if group_of and leaf not in group_of:
                raise InputError.of("a value of one of the groups", column=attribute, value=leaf)
        columns = [leaves]
        names = leaves
        if group_of:
            names = [group_of[leaf] for leaf in leaves]
            columns.append(names)
        index = {name: position for position, name in enumerate(dict.fromkeys(names))}
        indices = [index[name] for name in names]
        spans: list[Span] = [(name, name) for name in index]
        for size in self.sizes:
            spans = merged_spans(spans, size)
            indices = [position // size for position in indices]
            labels = [span_label(span) for span in spans] if self.order or group_of else open_span_labels(spans)
            columns.append([labels[position] for position in indices])
        return hierarchy_of(attribute, columns)


def _read_group(text: str) -> tuple[str, list[str]]:
    name, equals, members = text.partition("=")
    listed = members.split("|")
    if not (equals and name and all(listed)):
        raise InputError.of("a group as name=value|value|…", option="groups", value=text)
    return name, listed


def _check_once(names: Iterable[str], option: str) -> None:
    for name, n in Counter(names).items():
        if n > 1:
            raise InputError.of("each name once", option=option, value=name)
