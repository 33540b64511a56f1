"""What a study is: a published result, and the same result computed here, number beside number."""

from __future__ import annotations

import math
import pkgutil
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, Protocol

from tokumei.core.registry import Registry
from tokumei_studies import results

CLIP = re.compile(r'((?:\bid="|url\(#)clip)(\d+)')


class Verdict(StrEnum):
    """What became of a published number."""

    HOLDS = "holds"
    """Computed here within the tolerance that the study states."""
    DIFFERS = "differs"
    """Computed here, and not the same; the line says why."""
    DIFFERENT_METHOD = "different method"
    """Computed by another method or on other data than the paper's, and not the same; the line says which."""
    NEEDS_DATA = "needs data"
    """Not computed, for lack of the data it speaks of."""


@dataclass(frozen=True)
class StudyLine:
    """One published number beside the one computed, and the ends within which the latter holds.

    `why` explains the tolerance of a line that holds and the difference of one that does not; `digits` are those
    shown behind the point. A line by another method or on other data than the paper's cannot refute it: it says
    `is_same_method=False`.
    """

    what: str
    published: float
    computed: float
    least: float
    most: float
    why: str = ""
    digits: int = 4
    is_same_method: bool = True

    @classmethod
    def near(
        cls,
        what: str,
        published: float,
        computed: float,
        *,
        within: float,
        why: str = "",
        digits: int = 4,
        is_same_method: bool = True,
    ) -> StudyLine:
        """Compare with a published number, so far away at most."""
        return cls(what, published, computed, published - within, published + within, why, digits, is_same_method)

    @classmethod
    def at_most(
        cls,
        what: str,
        published: float,
        computed: float,
        *,
        why: str = "",
        digits: int = 4,
        is_same_method: bool = True,
    ) -> StudyLine:
        """Compare with a published number that is not to be exceeded."""
        return cls(what, published, computed, -math.inf, published, why, digits, is_same_method)

    @classmethod
    def at_least(
        cls,
        what: str,
        published: float,
        computed: float,
        *,
        why: str = "",
        digits: int = 4,
        is_same_method: bool = True,
    ) -> StudyLine:
        """Compare with a published number that is to be reached."""
        return cls(what, published, computed, published, math.inf, why, digits, is_same_method)

    @property
    def difference(self) -> float:
        """How much more was computed than published."""
        return self.computed - self.published

    @property
    def verdict(self) -> Verdict:
        """Whether the published number holds."""
        # A number on the end of its tolerance may miss it by rounding.
        slack = 1e-9 * max(1.0, abs(self.published))
        if self.least - slack <= self.computed <= self.most + slack:
            return Verdict.HOLDS
        return Verdict.DIFFERS if self.is_same_method else Verdict.DIFFERENT_METHOD


@dataclass(frozen=True)
class StudyFigure:
    """A figure of a study's page, in a file of its own."""

    name: str
    svg: str
    caption: str

    def __post_init__(self) -> None:
        # Whoever draws numbers the clips of all figures of a process; here each figure's start from 1.
        numbers: dict[str, int] = {}
        renumbered = CLIP.sub(lambda match: f"{match[1]}{numbers.setdefault(match[2], len(numbers) + 1)}", self.svg)
        object.__setattr__(self, "svg", renumbered)


@dataclass(frozen=True)
class Findings:
    """What a study found: its lines, figures, and paragraphs of Markdown for its page."""

    lines: Sequence[StudyLine]
    figures: Sequence[StudyFigure] = ()
    remarks: Sequence[str] = ()

    @property
    def verdict(self) -> Verdict:
        """Whether every published number holds; a difference weighs more than a different method."""
        found = {line.verdict for line in self.lines}
        return next((one for one in (Verdict.DIFFERS, Verdict.DIFFERENT_METHOD) if one in found), Verdict.HOLDS)

    @property
    def unexplained(self) -> list[StudyLine]:
        """The lines that do not hold and do not say why."""
        return [line for line in self.lines if line.verdict is not Verdict.HOLDS and not line.why.strip()]


class Study(Protocol):
    """Computes one published result again; its fields are its options, its docstring opens its page."""

    title: ClassVar[str]
    # The paper, and the table, figure or section in it.
    source: ClassVar[str]
    # The files it reads, by their path in the folder of data; none if it makes its data up.
    needs: ClassVar[tuple[str, ...]]
    # Whether it takes few seconds, so that every test run can afford it.
    is_quick: ClassVar[bool]

    def run(self, data: Path) -> Findings:
        """Compute the result; the files it needs are in the folder, which it may ignore if it needs none."""


STUDIES: Registry[Study] = Registry(
    "study",
    results.__name__,
    {
        one.name: [one.name.replace("_", "-")]
        for one in pkgutil.iter_modules(results.__path__)
        # The others hold what several results share.
        if not one.name.startswith("_")
    },
)
