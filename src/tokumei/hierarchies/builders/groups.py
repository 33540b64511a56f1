"""Groups that somebody knows: codes by their beginning, runs of values in an order, and trees written in YAML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import yaml

from tokumei.core.errors import FaultList, InputError
from tokumei.data.files.disk import check_is_file, read_bytes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.labels import Span, merged_spans, open_span_labels, span_label
from tokumei.hierarchies.leaves import check_covers, hierarchy_of, in_natural_order, leaf_texts


@dataclass(frozen=True)
class Prefix:
    """Characters are masked from the right: 12345, 1234*, 123**, …, *.

    Shorter values count as if they ended in masks, so that 12 and 12345 meet where two characters are left.
    """

    step: int = field(default=1, metadata={"help": "How many more characters each level masks."})
    mask: str = field(default="*", metadata={"help": "The character that stands for a masked one."})

    def __post_init__(self) -> None:
        if self.step < 1:
            raise InputError.of("a step of at least 1", option="step", value=self.step)
        if len(self.mask) != 1:
            raise InputError.of("one character", option="mask", value=self.mask)

    def build(self, attribute: str, values: pl.Series) -> Hierarchy:
        """Make the hierarchy of a column of codes."""
        texts = leaf_texts(attribute, values)
        longest = max(len(text) for text in texts)
        padded = [text.ljust(longest, self.mask) for text in texts]
        kept = range(longest - self.step, 0, -self.step)
        columns = [[text[:n].ljust(longest, self.mask) for text in padded] for n in kept]
        return hierarchy_of(attribute, [texts, *columns])


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


DEEPEST_TREE = 50
LIST_EXPECTED = "a list of values or further labels below each label"


@dataclass(frozen=True)
class NestedYaml:
    """A tree of labels is read from a YAML file, from the coarsest label down to lists of values.

        Europe:
          North: [Norway, Sweden]
          South: [Italy]
        Asia: [Japan]

    | value  | level 1 | level 2 |
    |--------|---------|---------|
    | Norway | North   | Europe  |
    | Japan  | Asia    | Asia    |

    Every scalar is text as it stands: `no` is a country and `010` a code. A branch with fewer levels repeats its last
    label downwards.
    """

    file: str = field(metadata={"help": "The YAML file."})

    def build(self, attribute: str, values: pl.Series) -> Hierarchy:
        """Make the hierarchy of a column all of whose values the file holds."""
        path = check_is_file(self.file)
        leaves = list(_read_tree(path))
        if not leaves:
            raise InputError.of("a tree with at least one value", file=path)
        depth = max(len(leaf.labels) for leaf in leaves)
        paths = [leaf.padded(depth) for leaf in leaves]
        _check_labels_differ(leaves, paths, path)
        columns = [[leaf.value for leaf in leaves]]
        columns += [[labels[index] for labels in paths] for index in reversed(range(depth))]
        return check_covers(hierarchy_of(attribute, columns), values)


@dataclass(frozen=True)
class Leaf:
    """One value of the file with its labels, coarsest first, and its line."""

    value: str
    labels: tuple[str, ...]
    line: int

    def padded(self, depth: int) -> tuple[str, ...]:
        """Return the labels with the last one repeated until there are so many."""
        return self.labels + self.labels[-1:] * (depth - len(self.labels))


@dataclass
class NestedReader:
    """Where the reading of a file stands: the labels above, and what is open."""

    path: Path
    labels: list[str] = field(default_factory=list)
    # For each open mapping the keys it had so far.
    keys: list[set[str]] = field(default_factory=list)
    is_key_next: bool = False
    is_in_list: bool = False

    def read(self, event: yaml.Event) -> Leaf | None:
        """Take one event of the parser; give a leaf if it is one."""
        line = _line_of(event)
        if isinstance(event, yaml.AliasEvent):
            # Aliases of aliases would grow a small file to any size.
            raise self.refusal("no aliases: every value written out", line, f"*{event.anchor}")
        if isinstance(event, yaml.MappingStartEvent):
            if self.is_in_list or self.is_key_next:
                raise self.refusal("a value, not a mapping", line)
            if len(self.keys) == DEEPEST_TREE:
                raise self.refusal(f"at most {DEEPEST_TREE} levels", line)
            self.keys.append(set())
            self.is_key_next = True
        elif isinstance(event, yaml.SequenceStartEvent):
            if self.is_in_list or self.is_key_next or not self.keys:
                raise self.refusal("a mapping of labels" if not self.keys else "a value, not a list", line)
            self.is_in_list = True
        elif isinstance(event, yaml.SequenceEndEvent):
            self.is_in_list = False
            self._leave_label()
        elif isinstance(event, yaml.MappingEndEvent):
            self.keys.pop()
            self._leave_label()
        elif isinstance(event, yaml.ScalarEvent):
            return self._read_scalar(event.value, line)
        return None

    def refusal(self, expected: str, line: int | None, value: str | None = None) -> InputError:
        """Make the error for something in the file that cannot be used."""
        return InputError.of(expected, file=self.path, line=line, value=value)

    def _leave_label(self) -> None:
        self.is_key_next = True
        if self.labels:
            self.labels.pop()

    def _read_scalar(self, text: str, line: int) -> Leaf | None:
        if self.is_in_list:
            if not text:
                raise self.refusal("a value that is not empty", line)
            return Leaf(text, tuple(self.labels), line)
        if not self.is_key_next:
            raise self.refusal(LIST_EXPECTED if self.keys else "a mapping of labels", line, text or None)
        if not text or text in self.keys[-1]:
            raise self.refusal("a label that is not empty and stands once", line, text)
        self.keys[-1].add(text)
        self.labels.append(text)
        self.is_key_next = False
        return None


def _read_tree(path: Path) -> Iterator[Leaf]:
    """Read the values in the order of the file, from the parser's events: no object is made and nothing recurses."""
    reader = NestedReader(path)
    n_documents = 0
    try:
        # A parser's BaseLoader knows no types, so that all scalars stay text.
        for event in yaml.parse(read_bytes(path), Loader=yaml.BaseLoader):
            n_documents += isinstance(event, yaml.DocumentStartEvent)
            if n_documents > 1:
                raise reader.refusal("one document", _line_of(event), "---")
            if leaf := reader.read(event):
                yield leaf
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise reader.refusal(f"YAML ({error.problem or error.context})", line) from None
    except yaml.YAMLError as error:
        raise reader.refusal(f"YAML in UTF-8 ({' '.join(str(error).split())})", None) from None


def _line_of(event: yaml.Event) -> int:
    # Only events that somebody made without a file have no mark.
    return event.start_mark.line + 1 if event.start_mark is not None else 1


def _check_labels_differ(leaves: list[Leaf], paths: list[tuple[str, ...]], path: Path) -> None:
    """Refuse a value that stands twice, and a label that stands at one level below two others."""
    faults = FaultList(str(path))
    value_lines: dict[str, int] = {}
    label_above: dict[tuple[int, str], tuple[str, ...]] = {}
    for leaf, labels in zip(leaves, paths, strict=True):
        if leaf.value in value_lines:
            faults.add(f"each value once (see line {value_lines[leaf.value]})", line=leaf.line, value=leaf.value)
        value_lines.setdefault(leaf.value, leaf.line)
        for index, label in enumerate(labels):
            above = label_above.setdefault((index, label), labels[:index])
            if above != labels[:index]:
                faults.add(f"a label that does not stand below '{above[-1]}' too", line=leaf.line, value=label)
                break
    faults.raise_if_any()
