"""A release of a history made harder: the least further changes until no attack finds more than is allowed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.attacks.truth import truth_of
from tokumei.core.errors import InputError
from tokumei.core.result import Facts, Result, Rows, Section, Sentence
from tokumei.core.score import Score
from tokumei.core.seeds import fresh_seed
from tokumei.data.files.histories import TABLE
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.history import History
from tokumei.data.knowledge import Draw
from tokumei.hierarchies.items import item_hierarchy
from tokumei.measures.registry import HISTORY_UTILITIES
from tokumei.report.attack_choice import fitting_attacks, within_time
from tokumei.report.needs import check_needs, measure_or_say_why
from tokumei.report.sampling import REPORT_ROWS, sample_customers
from tokumei.tasks.anonymize_history import anonymize_history
from tokumei.tasks.hardening import Evidence, Hardening, least_change
from tokumei.tasks.histories import history_of, released_of
from tokumei.tasks.history_release import HistoryRelease
from tokumei.tasks.report_history import read_knowledge

MOVES = ("widen", "delete", "re-pseudonymize", "permute")
SHARES = (25, 100)
UNPUBLISHED = "The release before must not be published: pseudonyms are new, but rows of both could be compared."


@dataclass(frozen=True, eq=False, repr=False)
class Hardened(Result):
    """A hardened release with what it cost, measure by measure, and what every attack finds before and after."""

    release: HistoryRelease
    found: Hardening
    bound: float
    losses: Mapping[str, tuple[float, float]]
    left_out: Mapping[str, str]
    facts: Mapping[str, Any]
    sampled: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as `tokumei harden --json` prints it."""
        attacks = [
            {"attack": attack, "known": known, "before": share, "after": self.found.after.get((attack, known))}
            for (attack, known), share in self.found.before.items()
        ]
        costs = {name: {"before": a, "after": b, "rise": b - a} for name, (a, b) in self.losses.items()}
        tried = [
            {"change": one.change.name, "cost": one.cost, "found": one.worst[1], "by": one.worst[0], "holds": one.holds}
            for one in self.found.tried
        ]
        return {**self.facts, "attacks": attacks, "costs": costs, "tried": tried, "left_out": dict(self.left_out)}

    def sections(self) -> Sequence[Section]:
        """Return what was done, what each attack finds now, what each measure lost, and what else was tried."""
        rows = [
            [attack, f"{known} %", share, self.found.after.get((attack, known))]
            for (attack, known), share in sorted(self.found.before.items(), key=lambda one: -one[1])
        ]
        costs = [[name, a, b, b - a] for name, (a, b) in sorted(self.losses.items(), key=lambda one: -one[1][1])]
        said: list[Section] = [
            Facts({**self.facts, "seed": str(self.facts["seed"])}),
            Rows(["attack", "known", "found before", "found now"], rows),
            Rows(["loss", "before", "now", "it cost"], costs),
        ]
        tried = [[one.change.name, one.cost, one.worst[1], one.worst[0]] for one in self.found.tried]
        if tried:
            said.append(Rows(["change tried", "costs", "found", "by"], tried))
        if self.left_out:
            said.append(Rows(["left out", "because"], [list(pair) for pair in self.left_out.items()]))
        return [*said, Sentence(UNPUBLISHED), *([] if self.sampled is None else [Sentence(self.sampled)])]

    def save(self, out: Path | str, **options: Any) -> None:
        """Write the release and, where named, what is published of it, who is who and the recipe."""
        self.release.save(out, **options)

    def __repr__(self) -> str:
        worst = max(self.found.after.values(), default=0.0)
        return f"Hardened(by {self.found.change.name}: at most {worst:.1%} of customers found)"


def harden_history(
    original: Any,
    release: Any = None,
    *,
    bound: float,
    pipeline: Path | str | None = None,
    knowledge: Sequence[str | int] | Mapping[str, Any] | None = None,
    draw: Draw = "contest",
    draws: int = 1,
    attacks: Sequence[str] | None = None,
    minutes: float | None = None,
    changes: Sequence[str] | None = None,
    sample: int | None = None,
    seed: int | None = None,
    form: str = TABLE,
    reading: Reading = AS_IT_IS,
    hierarchy: Any = None,
) -> Hardened:
    """Change a release no more than needed for every attack to find at most a share of the customers.

    release: one that keeps the rows of its original and is not published yet; or `pipeline`, which makes it.
    bound: the largest share of customers that any attack may find.
    knowledge: what attackers know in per cent, as for `report_history`, drawn `draws` times; 25 and 100 if not given.
    attacks: those to try; if not given, all that the history allows, or as fit in so many `minutes` an attempt.
    changes: some of widen, delete, re-pseudonymize and permute; all if not given.
    hierarchy: of items, where the release names categories: what is known is rolled up to them.
    """
    started = time.perf_counter()
    moves = _checked(bound, draws, changes)
    before = history_of(original, reading)
    if (release is None) == (pipeline is None):
        raise InputError.of("either a release or a pipeline that makes it")
    used = fresh_seed() if seed is None else seed
    after = released_of(
        anonymize_history(before, pipeline=pipeline, seed=used) if release is None else release, reading
    )
    truth_of(before, after)
    if not after.kept.height:
        raise InputError.of("a release with rows", file=after.name)
    items = item_hierarchy(hierarchy)
    some = sample_customers(before, after, sample, most_rows=REPORT_ROWS, seed=0)
    drawn = [
        read_knowledge(knowledge or list(SHARES), some.original, number, reading, draw=draw, hierarchy=items)
        for number in range(draws)
    ]
    known = {share: [one[share] for one in drawn] for share in drawn[0]}
    names, left_out = _attacks(attacks, before, {share: one[0] for share, one in known.items()}, minutes)
    is_some = None if some.said is None else before.frame["customer"].is_in(some.original.customers)

    def rows_of_some(released: History) -> History:
        return released if is_some is None else History(released.frame.filter(is_some), released.name)

    evidence = Evidence(some.original, known, names, 0, rows_of_some, items)
    losses = _losses(before, after)
    found = least_change(before, after, evidence, bound, moves=moves, losses=losses, seed=used)
    hardened = found.release
    now = _losses(before, History(hardened.frame))
    worst = max(found.after.values(), default=0.0)
    kept = hardened.frame["customer"].drop_nulls()
    facts = {
        "method": "harden",
        "bound": bound,
        "change": found.change.name,
        "found_before": max(found.before.values(), default=0.0),
        "found": worst,
        "rows": before.n_rows,
        "released_before": after.kept.height,
        "released": len(kept),
        "customers": len(before.customers),
        "pseudonyms": kept.n_unique(),
        **hardened.recipe.found,
        "seed": used,
        "seconds": round(time.perf_counter() - started, 2),
    }
    made = HistoryRelease(before, hardened, facts, form, before.kind)
    costs = {name: (score.value, now[name].value) for name, score in losses.items() if name in now}
    return Hardened(made, found, bound, costs, left_out, facts, some.said)


def _checked(bound: float, draws: int, changes: Sequence[str] | None) -> list[str]:
    """Look at the options and give the kinds of changes that may be made."""
    if not 0 < bound <= 1:
        raise InputError.of("a share above 0 and up to 1", option="bound", value=bound)
    if draws < 1:
        raise InputError.of("one draw or more", option="draws", value=draws)
    for one in changes or ():
        if one not in MOVES:
            raise InputError.of(f"some of {', '.join(MOVES)}", option="changes", value=one)
    return list(MOVES if changes is None else changes)


def _attacks(
    wanted: Sequence[str] | None, history: History, knowledge: Mapping[str, History], minutes: float | None
) -> tuple[list[str], dict[str, str]]:
    """Return the attacks that are tried, the strongest first, and why others are left out."""
    for name in wanted or ():
        check_needs(history, HISTORY_ATTACKS.make(name), name)
    names, why_not = fitting_attacks(history, wanted)
    left_out: dict[str, str] = dict(why_not)
    if minutes is not None:
        names, late = within_time(names, history, knowledge, minutes)
        left_out |= late
    if not names:
        said = "; ".join(f"{name}: {why}" for name, why in left_out.items())
        raise InputError.of(f"an attack that can be tried ({said})", option="attacks")
    return names, left_out


def _losses(before: History, after: History) -> dict[str, Score]:
    """Measure every loss that the history allows."""
    found = {name: measure_or_say_why(HISTORY_UTILITIES.make(name), name, before, after) for name in HISTORY_UTILITIES}
    return {name: score for name, score in found.items() if isinstance(score, Score)}
