"""What a release must promise, as keywords: k=5, l_diversity={"illness": 2}, t_closeness={"income": "0.2:ordered"}."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from tokumei.core.errors import InputError, nearest
from tokumei.core.text import Text
from tokumei.core.wording import choice_of
from tokumei.engines.class_counts import ClassCounts
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.presets import preset
from tokumei.measures.requirement import MISSING_IS_A_VALUE, SAFETY, Requirement

# Whose shares count where rows are left out.
WHOSE = ("both", "original", "release")
OF_COLUMNS = ("l_diversity", "t_closeness", "alpha_k", "beta_likeness", "delta_disclosure")


@dataclass(frozen=True)
class Asked:
    """The requirements as asked for; those of columns by column: a number, or a number and its kind as "2:entropy"."""

    k: int | None = None
    preset: str | None = None
    l_diversity: Mapping[str, Any] | None = None
    t_closeness: Mapping[str, Any] | None = None
    alpha_k: Mapping[str, Any] | None = None
    beta_likeness: Mapping[str, Any] | None = None
    k_map: int | None = None
    delta_presence: Any = None
    delta_disclosure: Mapping[str, Any] | None = None
    # Requirements given as objects.
    requirements_given: Sequence[Requirement] = ()
    missing_is_a_value: bool = MISSING_IS_A_VALUE

    @property
    def needs_population(self) -> bool:
        """Whether everybody has to be counted too."""
        return self.k_map is not None or self.delta_presence is not None

    def sensitive_columns(self) -> list[str]:
        """Return the columns that the requirements name, without making them."""
        named = [column for name in OF_COLUMNS for column in getattr(self, name) or {}]
        given = [column for one in self.requirements_given for column in one.sensitive_columns]
        return list(dict.fromkeys([*named, *given]))

    def requirements(
        self, hierarchies: Mapping[str, Hierarchy], population: ClassCounts | None = None
    ) -> list[Requirement]:
        """Make the requirements; `hierarchies` may hold those of sensitive columns."""
        made: list[Requirement] = [] if self.preset is None else list(preset(self.preset).requirements())
        if self.k is not None:
            made.append(SAFETY.make("k-anonymity", k=whole_number(self.k, "k")))
        missing = {"is_missing_a_value": self.missing_is_a_value}
        for column, number, kinds in self._of("l_diversity"):
            options = {"sensitive": column, "l": number, **_diversity_kind(kinds, column)}
            made.append(SAFETY.make("l-diversity", **options, **missing))
        for column, number, kinds in self._of("t_closeness"):
            distance, against = _kind_and_whose(kinds, ("equal", "ordered", "hierarchical"), "t_closeness", column)
            options = {"sensitive": column, "t": number, "distance": distance, "hierarchy": hierarchies.get(column)}
            made.append(SAFETY.make("t-closeness", **options, **missing, against=against))
        for column, number, kinds in self._of("alpha_k"):
            if kinds:
                raise InputError.of("nothing after the number", option=f"alpha_k {column}", value=":".join(kinds))
            made.append(SAFETY.make("alpha-k", sensitive=column, alpha=number, k=self.k or 1, **missing))
        for column, number, kinds in self._of("beta_likeness"):
            kind, against = _kind_and_whose(kinds, ("basic", "enhanced"), "beta_likeness", column)
            options = {"sensitive": column, "beta": number, "kind": kind, "against": against}
            made.append(SAFETY.make("beta-likeness", **options, **missing))
        for column, number, kinds in self._of("delta_disclosure"):
            against, *rest = kinds or WHOSE[:1]
            if rest or against not in WHOSE:
                expected = f"{' or '.join(WHOSE)} after the number"
                raise InputError.of(expected, option=f"delta_disclosure {column}", value=":".join(kinds))
            options = {"sensitive": column, "delta": number, "against": against}
            made.append(SAFETY.make("delta-disclosure", **options, **missing))
        return [*made, *self._of_population(population), *self.requirements_given]

    def _of(self, name: str) -> list[tuple[str, float, list[str]]]:
        """Read the columns of one kind of requirement: each with its number and what follows it."""
        found = []
        for column, given in (getattr(self, name) or {}).items():
            # A list holds several for one column, a tuple a number and its kind.
            for one in given if isinstance(given, list) else [given]:
                parts = one if isinstance(one, tuple) else str(one).split(":")
                number, *kinds = (str(part) for part in parts)
                found.append((column, _number(number, f"{name} {column}"), kinds))
        return found

    def _of_population(self, population: ClassCounts | None) -> list[Requirement]:
        if not self.needs_population:
            return []
        if population is None:
            raise InputError.of("a population, which k-map and δ-presence need", option="population")
        made: list[Requirement] = []
        if self.k_map is not None:
            made.append(SAFETY.make("k-map", population=population, k=whole_number(self.k_map, "k_map")))
        if self.delta_presence is not None:
            given = self.delta_presence
            low, mark, high = given if isinstance(given, tuple) and len(given) == 3 else str(given).rpartition(":")
            ends = {"delta_max": _number(high, "delta_presence")}
            ends |= {"delta_min": _number(low, "delta_presence")} if mark else {}
            made.append(SAFETY.make("delta-presence", population=population, **ends))
        return made


def split_asked(options: Mapping[str, Any], sensitive: Sequence[str] = ()) -> tuple[Asked, dict[str, Any]]:
    """Take the requirements out of keywords, and give them and the keywords left.

    sensitive: the columns that a requirement is for which names none, as `l_diversity=2`.
    """
    known = {one.name for one in fields(Asked)}
    asked = {name: value for name, value in options.items() if name in known}
    for name in OF_COLUMNS:
        given = asked.get(name)
        if given is not None and not isinstance(given, Mapping):
            if not sensitive:
                expected = f"a sensitive column: tk.Table(data, sensitive=['illness']), or {name}={{'illness': …}}"
                raise InputError.of(expected, option=name, value=given)
            asked[name] = dict.fromkeys(sensitive, given)
    for name in ("k", "k_map"):
        if asked.get(name) is not None:
            asked[name] = whole_number(asked[name], name)
    return Asked(**asked), {name: value for name, value in options.items() if name not in known}


def refuse_unknown(options: Mapping[str, Any], known: Sequence[str], job: str) -> None:
    """Raise for a keyword that a job does not know, with the nearest name."""
    for name in options:
        near = nearest(name, known)
        hint = f"'{near}'" if near else choice_of(sorted(set(known)))
        raise InputError.of(Text("an option of {what}: {names}", what=job, names=hint), value=name)


def _diversity_kind(kinds: list[str], column: str) -> dict[str, Any]:
    kind, *rest = kinds or ["distinct"]
    if kind == "recursive" and len(rest) == 1:
        return {"kind": kind, "c": _number(rest[0], f"l_diversity {column}")}
    if kind not in ("distinct", "entropy") or rest:
        expected = "distinct, entropy or recursive:C after the number"
        raise InputError.of(expected, option=f"l_diversity {column}", value=":".join(kinds))
    return {"kind": kind}


def _kind_and_whose(kinds: list[str], known: Sequence[str], name: str, column: str) -> tuple[str, str]:
    """Read a kind and whose shares classes are compared with, the first of each if not given."""
    kind, against, *rest = [*kinds, *("", "")[len(kinds) :]]
    if rest or (kind and kind not in known) or (against and against not in WHOSE):
        expected = f"{' or '.join(known)} after the number, then {' or '.join(WHOSE)}"
        raise InputError.of(expected, option=f"{name} {column}", value=":".join(kinds))
    return kind or known[0], against or WHOSE[0]


def _number(text: Any, option: str) -> float:
    try:
        return float(text)
    except (TypeError, ValueError):
        raise InputError.of("a number", option=option, value=text) from None


def whole_number(value: Any, option: str) -> int:
    """Read an option that is a whole number from 1 on; a Python float or text that is one will do."""
    number = _number(value, option)
    if isinstance(value, bool) or number != number // 1 or number < 1:
        raise InputError.of("a whole number from 1 on", option=option, value=value)
    return int(number)
