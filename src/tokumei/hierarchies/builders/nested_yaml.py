"""A tree that somebody wrote down in YAML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import yaml

from tokumei.core.errors import FaultList, InputError
from tokumei.data.files.source import check_is_file, read_bytes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.leaves import check_covers, hierarchy_of

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
