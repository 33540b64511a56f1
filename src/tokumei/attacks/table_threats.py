"""Who attacks a released table: what they hold, whom they aim at and what they want.

Prosecutor, journalist and marketer are those of El Emam and Dankar (2008) and Dankar and El Emam (2010). A prosecutor
knows that one person is in the release and looks for their record: the risk is the highest, 1 over the fewest records
alike. A journalist does not know who is in it, holds a list of the population and needs one person, whoever it is: 1
over the fewest people of the list alike. A marketer wants as many as possible: the share expected to be found. The
others follow the scenarios of Elliot and Dale (1999): somebody with response knowledge, somebody with a database of
their own, somebody who has the original. How exactly they know people is set here, and can be changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl

from tokumei.attacks.threat_model import KnownMethod
from tokumei.core.errors import InputError
from tokumei.core.registry import preset_of
from tokumei.core.seeds import generator
from tokumei.core.text import Json, Text, choice_of
from tokumei.data.table import Table
from tokumei.engines.class_counts import encode
from tokumei.hierarchies.label_semantics import Ints

Aim = Literal["everybody", "anybody", "riskiest", "named"]
AIMS = ("everybody", "anybody", "riskiest", "named")
WHO, VALUE, PRESENCE = "who", "value", "presence"
WANTS = (WHO, VALUE, PRESENCE)
LEARNED = {WHO: "whose a record is", VALUE: "a value", PRESENCE: "who is in the release"}
SECOND = {
    "population": "a list of the population",
    "control": "people who are not in the release",
    "earlier": "earlier releases",
}
METHODS = ("nothing", "name", "options")
# The second data set that an attack is made with.
HELD = {
    "presence": "population",
    "population-linkage": "population",
    "membership": "control",
    "intersection": "earlier",
}
# What each attack tells; one that is not named here, of another package, is tried by everybody.
TELLS: Mapping[str, tuple[str, ...]] = {
    "background-knowledge": (VALUE,),
    "distance-linkage": (WHO,),
    "downcoding": (WHO, VALUE),
    "homogeneity": (VALUE,),
    "inference": (VALUE,),
    "intersection": (WHO,),
    "linkability": (WHO,),
    "linked-rows": (WHO,),
    "membership": (PRESENCE,),
    "minimality": (VALUE,),
    "population-linkage": (WHO,),
    "presence": (PRESENCE,),
    "reconstruction": (WHO, VALUE),
    "record-linkage": (WHO,),
    "refine": (WHO, VALUE),
    "singling-out": (WHO,),
}
# These look for people who are known to be in the release.
TAKE_FOR_PRESENT = (
    *("background-knowledge", "distance-linkage", "homogeneity", "intersection", "linked-rows"),
    *("minimality", "record-linkage"),
)
# These rule a record out by one known value that it cannot stand for, so that a mistaken value hides a person.
TAKE_FOR_RIGHT = (
    *("background-knowledge", "homogeneity", "intersection", "linked-rows", "population-linkage", "presence"),
    "record-linkage",
)


@dataclass(frozen=True)
class TableThreat:
    """An attacker of a table, apart from how the attack is done."""

    who: str = field(default="somebody who knows everybody", metadata={"help": "Said in reports."})
    knows: tuple[str, ...] = field(default=(), metadata={"help": "The known columns; the quasi-identifiers if none."})
    share: float = field(default=1.0, metadata={"help": "Each known cell is known with this chance."})
    people_share: float = field(default=1.0, metadata={"help": "Share of the people in the release who are known."})
    numbers_off: float = field(
        default=0.0, metadata={"help": "Known numbers are off by up to so many standard deviations of their column."}
    )
    codes_wrong: float = field(default=0.0, metadata={"help": "Share of the other known values that are another's."})
    holds: tuple[str, ...] = field(
        default=tuple(SECOND), metadata={"help": "Data beside the release: population, control, earlier."}
    )
    method_known: Literal["nothing", "name", "options"] = field(
        default="options", metadata={"help": "What they know of how the release was made."}
    )
    knows_who_is_in: bool = field(default=True, metadata={"help": "Whether they know that people are in the release."})
    aim: Aim = field(default="everybody", metadata={"help": "Whom they look for."})
    named: tuple[int, ...] = field(default=(), metadata={"help": "The rows of the original, from 0, if aim=named."})
    targets: int = field(default=100, metadata={"help": "How many people, if aim=riskiest."})
    wants: tuple[str, ...] = field(default=WANTS, metadata={"help": "What to learn: who, value, presence."})

    def __post_init__(self) -> None:
        for name in ("share", "people_share", "codes_wrong"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError.of("a share from 0 to 1", option=name, value=getattr(self, name))
        if not 0 <= self.numbers_off < np.inf:
            raise InputError.of(Text("{n} or more", n=0), option="numbers_off", value=self.numbers_off)
        if self.targets < 1:
            raise InputError.of(Text("{n} or more", n=1), option="targets", value=self.targets)
        stated: list[tuple[str, Sequence[str], Sequence[str]]] = [
            ("aim", AIMS, [self.aim]),
            ("method_known", METHODS, [self.method_known]),
            ("holds", list(SECOND), self.holds),
            ("wants", WANTS, self.wants),
        ]
        for name, choices, given in stated:
            for one in given:
                if one not in choices:
                    raise InputError.of(choice_of(choices), option=name, value=one)
        if (self.aim == "named") != bool(self.named):
            raise InputError.of("rows of the original, with aim=named", option="named", value=self.aim)

    def as_dict(self) -> Json:
        """Return what is assumed of the attacker, for JSON; rows count from 1 there."""
        return {**asdict(self), "named": [row + 1 for row in self.named]}

    def method_of(self, known: KnownMethod) -> KnownMethod:
        """Return what the attacker knows of how the release was made, of what is public."""
        if self.method_known == "options":
            return known
        # Who does not know the method may still read k off the release.
        return KnownMethod(known.name if self.method_known == "name" else "", k=known.k, suppression=known.suppression)

    def aimed_at(self, original: Table, known: Sequence[str], seed: int) -> Ints | None:
        """Return the rows of the original that are looked for, of the people who are known; None for all."""
        rows: Ints | None = None
        if self.aim == "named":
            rows = np.unique(np.array(self.named, np.int64))
            for wrong in rows[(rows < 0) | (rows >= original.n_rows)][:1]:
                expected = Text("a row of the original, counted from 0 to {n:,}", n=original.n_rows - 1)
                raise InputError.of(expected, option="named", value=int(wrong))
        if self.people_share < 1 and rows is None:
            unit = original.unit
            codes = np.arange(original.n_rows) if unit is None else encode(original.frame[unit.column])[1]
            is_known = generator(seed, "known people").random(int(codes.max(initial=0)) + 1) < self.people_share
            rows = np.flatnonzero(is_known[codes])
        if self.aim == "riskiest":
            among = np.arange(original.n_rows) if rows is None else rows
            sizes = original.frame.select(pl.len().over(list(known)))["len"].to_numpy()
            # The fewest others alike first, in an order that tells nothing else.
            drawn = generator(seed, "riskiest").random(original.n_rows)
            rows = np.sort(among[np.lexsort([drawn[among], sizes[among]])][: self.targets])
        return rows

    def why_not(self, attack: str) -> Text | None:
        """Explain why somebody of this kind does not try an attack; None where they do."""
        told = TELLS.get(attack, WANTS)
        if not set(told) & set(self.wants):
            return Text("an attacker who wants to learn {what}", what=Text(LEARNED[told[0]]))
        if attack in TAKE_FOR_PRESENT and not self.knows_who_is_in:
            return Text("an attacker who knows who is in the release")
        held = HELD.get(attack)
        if held is not None and held not in self.holds:
            return Text("an attacker who holds {what}", what=Text(SECOND[held]))
        if attack == "minimality" and self.method_known != "options":
            return Text("an attacker who knows how the release was made")
        return None

    def lacks(self, *, has_population: bool) -> Text | None:
        """Name what somebody of this kind cannot do without; None where nothing lacks."""
        if "population" in self.holds and not self.knows_who_is_in and not has_population:
            return Text("a population, in which {who} looks people up", who=self.who)
        return None


TABLE_THREATS: Mapping[str, TableThreat] = {
    "prosecutor": TableThreat(
        "a prosecutor who knows that somebody is in it",
        holds=(),
        method_known="name",
        aim="riskiest",
        wants=(WHO, VALUE),
    ),
    "journalist": TableThreat(
        "a journalist with a list of the population",
        holds=("population",),
        method_known="nothing",
        knows_who_is_in=False,
        aim="anybody",
        wants=(WHO, PRESENCE),
    ),
    "marketer": TableThreat(
        "a marketer who matches a whole customer file", holds=("population",), method_known="nothing", wants=(WHO,)
    ),
    "employer": TableThreat(
        "an employer who looks for their staff",
        share=0.7,
        people_share=0.1,
        numbers_off=0.1,
        codes_wrong=0.02,
        holds=(),
        method_known="nothing",
        wants=(WHO, VALUE),
    ),
    "insider": TableThreat("an insider with the original and the recipe"),
    "data-broker": TableThreat(
        "a data broker with inexact files on half of the people",
        share=0.8,
        people_share=0.5,
        numbers_off=0.2,
        codes_wrong=0.05,
        holds=("population", "control"),
        method_known="name",
        knows_who_is_in=True,
    ),
}


def table_threat_of(threat: str | TableThreat, **changes: Any) -> TableThreat:
    """Return a preset by name or the threat itself, with some of its assumptions changed."""
    return preset_of(TableThreat, TABLE_THREATS, threat, changes, sort="threat")
