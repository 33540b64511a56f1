"""Who is found in a released history by somebody who knows some purchases, and how right guesses in files are.

On another engine than the local one, histories are attacked and judged where they are: only who is who must fit into
memory.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from tokumei.attacks.history.fitting import CHANCE, LEVEL, fraction_of, judge_guesses
from tokumei.attacks.history.plain_attacks import EqualRows
from tokumei.attacks.history.singling_out import SingledOut, singled_out
from tokumei.attacks.judge import Verdict, judge, judge_transactions
from tokumei.attacks.registry import HISTORY_ATTACKS, HistoryAttack
from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.registry import make_part, make_part_from_text, part_name
from tokumei.core.result import Answer, Facts, Result, Rows, Section, UserFrame, as_kind
from tokumei.core.text import Json, JsonView, counted
from tokumei.data.files.histories import CONTEST_2018, TABLE, form_of
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.files.released_histories import (
    are_pairs,
    is_row_guess,
    judged_periods,
    read_generalized,
    read_pairs,
    read_pseudonyms,
    read_row_guess,
    write_guesses,
    write_pairs,
)
from tokumei.data.history import History
from tokumei.hierarchies.files import item_hierarchy, roll_together
from tokumei.reports.needs import announce, check_needs
from tokumei.tasks.histories import (
    HistoryRelease,
    check_engine_reads,
    histories_on_engine,
    history_of,
    known_of,
    released_of,
)

if TYPE_CHECKING:
    from tokumei.attacks.history.generalized import GeneralizedAttack


@dataclass(frozen=True, repr=False)
class Guesses(Result):
    """The guesses of an attack and, where the truth is known, how right they are.

    `guesses` has the columns customer, period and pseudonym; of a generalized release pseudonym and customer.
    """

    guesses: pl.DataFrame
    customers: Sequence[str]
    facts: JsonView
    success: JsonView | None = None
    frame_kind: str = "polars"
    # What the cells of a generalized release give away by themselves.
    singled_out: SingledOut | None = None

    def to_dict(self) -> Json:
        """Return the facts as `tokumei attack history --json` prints them."""
        more: dict[str, object] = {} if self.singled_out is None else {"singled_out": self.singled_out.as_dict()}
        return {**self.facts, **more, **({} if self.success is None else {"success": self.success})}

    def sections(self) -> Sequence[Section]:
        """Return the facts, what cells give away, and how right the guesses are."""
        cells = [] if self.singled_out is None else singled_out_rows(self.singled_out)
        return [Facts(self.facts), *cells, *([] if self.success is None else [success_rows(self.success)])]

    def to_frame(self) -> UserFrame:
        """Return the guesses."""
        return as_kind(self.guesses, self.frame_kind)

    def write(self, out: Path, form: str = TABLE) -> None:
        """Write the guesses to submit: a line a customer, or a line a pseudonym."""
        if self.are_pairs:
            write_pairs(self.guesses, out, form)
        else:
            write_guesses(self.guesses, list(self.customers), out, form)

    @property
    def are_pairs(self) -> bool:
        """Whether a pseudonym has one customer for all months, as in a generalized release."""
        return "period" not in self.guesses.columns

    def __repr__(self) -> str:
        found = "" if self.success is None else f", {self.success['found']['value']:.1%} of customers found"
        return f"Guesses(by {self.facts['attack']}, {counted(self.facts['guesses'], 'guess', 'guesses')}{found})"


# Which has two releases in place of what is known and one.
P = TypeVar("P")
LINK_RELEASES = "link-releases"


def attack_history(
    knowledge: Any,
    release: Any,
    attack: Any = "linkage",
    *,
    reading: Reading = AS_IT_IS,
    customers: Sequence[str] | None = None,
    threat: Any = None,
    hierarchy: Any = None,
    engine: str = "local",
    **options: Any,
) -> Any:
    """Guess the pseudonym of each customer in each month; judged at once where the release knows who is who.

    With a `threat`, the first is the original, and what is known of it is drawn as the threat says (see
    `threat_history`): the result is then a `ThreatReport`, not `Guesses`. The attack "attribution" takes the original,
    too, and asks whose purchases the rows are (see `attribute_history`); "membership" asks whether customers are in the
    release, with a `control` of those who are not (see `attack_membership`). By "link-releases" both are releases, and
    the result is `LinkedReleases`. With an item `hierarchy`, what is known and what is released are compared at the
    coarser of their levels. On another engine than the local one both are files, whose rows need not fit into memory.
    """
    if attack == LINK_RELEASES:
        from tokumei.tasks.link_releases import link_history_releases

        if engine != "local":
            raise InputError.of("the local engine, which link-releases needs", option="engine", value=engine)
        return link_history_releases(knowledge, release, reading=reading, **options)
    if engine != "local":
        if threat is not None or hierarchy is not None or attack in ("attribution", "membership"):
            expected = "the local engine, which threats, hierarchies, attribution and membership need"
            raise InputError.of(expected, option="engine", value=engine)
        check_engine_reads(engine, knowledge=knowledge, release=release)

        where: Json = {"engine": engine, "reading": reading}
        return attack_history_on_engine(knowledge, release, attack, **where, customers=customers, **options)
    if attack == "attribution":
        from tokumei.tasks.attribute_history import attribute_history

        return attribute_history(knowledge, release, threat, reading=reading, hierarchy=hierarchy, **options)
    if attack == "membership":
        from tokumei.tasks.attack_membership import attack_membership

        control = options.pop("control", None)
        how: dict[str, Any] = {"control": control, "reading": reading, "hierarchy": hierarchy}
        return attack_membership(knowledge, release, threat, **how, **options)
    if threat is not None:
        from tokumei.tasks.threat_history import threat_history

        return threat_history(knowledge, release, threat, reading=reading, hierarchy=hierarchy, **options)
    if isinstance(attack, str) and attack not in HISTORY_ATTACKS:
        # Here, since it needs scipy, which takes longer to import than most attacks.
        from tokumei.attacks.history.generalized import GENERALIZED_ATTACKS

        if attack in GENERALIZED_ATTACKS:
            cells_attack = _made(GENERALIZED_ATTACKS[attack], options, attack)
            return _attack_generalized(knowledge, release, attack, cells_attack, reading)
    started = time.perf_counter()
    part = made_attack(attack, options)
    name = attack if isinstance(attack, str) else part_name(part)
    known = known_of(knowledge, reading)
    is_ours = isinstance(release, HistoryRelease)
    seen = release.published if is_ours else released_of(release, reading)
    check_needs(known, part, name)
    known, seen = roll_together(known, seen, item_hierarchy(hierarchy))
    announce(part, name, known, seen)
    with step(f"attacking by {name}"):
        guesses = part.guess(known, seen)
    named = list(customers) if customers is not None else known.customers
    success = None
    if is_ours:
        original, months = release.original, judged_periods(release.original, release.form)
        success = success_of(judge(guesses, release.truth, original.customers, months, seen))
    facts = {
        "attack": name,
        "customers": len(named),
        "guesses": guesses.height,
        "seconds": round(time.perf_counter() - started, 3),
    }
    return Guesses(guesses, named, facts, success, known.kind)


def success_of(verdict: Verdict) -> Json:
    """Return the measures of a verdict by name."""
    names = ("found", "row", "cell", "month", "pseudonym", "transaction")
    scores = {name: getattr(verdict, name) for name in names}
    return {name: score.as_dict() for name, score in scores.items() if score is not None}


def success_rows(success: JsonView) -> Rows:
    """Return the measures as a table for people."""
    rows = [[name, one["value"], one["baseline"], one.get("interval")] for name, one in success.items()]
    return Rows(["success", "value", "guessing blindly", "95 % interval"], rows)


def singled_out_rows(found: SingledOut) -> list[Section]:
    """Return how often the cells of a generalized release single a purchase out, as a table for people."""
    rows = [
        ["the end of a range fits exactly one purchase", found.end],
        ["any value of the same ranges does", found.anywhere],
        ["an item of a set fits exactly one purchase", found.item],
        ["an item of a set fits any purchase", found.occurs],
    ]
    known = [row for row in rows if row[1] is not None]
    return [Rows(["with the other cells of the row", "share"], known)] if known else []


def made_attack(attack: object, options: dict[str, Any]) -> Any:
    """Make the attack of a name; options as typed on a command line are read by it."""
    if not isinstance(attack, str):
        if not isinstance(attack, HistoryAttack):
            raise InputError.of("one attack on histories by its name", option="attack", value=attack)
        return attack
    return _made(HISTORY_ATTACKS.get(attack), options, attack)


def _made(part: type[P], options: dict[str, Any], name: str) -> P:
    """Make a part; options are read where all are text."""
    is_typed = options and all(isinstance(value, str) for value in options.values())
    make = make_part_from_text if is_typed else make_part
    return make(part, options, kind=HISTORY_ATTACKS.kind, name=name)


def _attack_generalized(
    knowledge: object, release: Any, attack: str, part: GeneralizedAttack, reading: Reading
) -> Guesses:
    """Guess the customers of a generalized release from the whole original."""
    started = time.perf_counter()
    original: History = history_of(knowledge, reading)
    cells = read_generalized(release, reading) if isinstance(release, (str, Path)) else release.cells
    cells = cells.filter(~cells.is_deleted)
    with step(f"attacking by {attack}"):
        guesses = part.guess(original, cells).select("pseudonym", "customer")
    with step("comparing ranges with purchases"):
        found = singled_out(original, cells)
    facts = {
        "attack": attack,
        "guesses": guesses.height,
        "seconds": round(time.perf_counter() - started, 3),
    }
    return Guesses(guesses, original.customers, facts, None, original.kind, found)


@dataclass(frozen=True, repr=False)
class Judged(Result):
    """The measures of a guess by name, and how many customers it was about."""

    success: Json
    n_customers: int

    def to_dict(self) -> Json:
        """Return the measures as `tokumei judge --json` prints them."""
        return {**self.success, "customers": self.n_customers}

    def sections(self) -> Sequence[Section]:
        """Return the measures as a table."""
        return [success_rows(self.success)]

    def __repr__(self) -> str:
        found = ", ".join(f"{name} {one['value']:.4g}" for name, one in self.success.items())
        return f"Judged({found}, {counted(self.n_customers, 'customer')})"


def judge_files(
    guess: Path | str,
    truth: Path | str,
    published: Any = None,
    *,
    reading: Reading = AS_IT_IS,
    engine: str = "local",
    p: str | float | None = None,
    alpha: str | float | None = None,
) -> Result:
    """Judge guesses by the truth, on another engine than the local one with published rows that need not fit in memory.

    guess: by customer (Fh), by pseudonym, or by row: the customer of each row of `published`, in their order.
    published: the rows that were published, for the share of purchases whose customer was found.
    p, alpha: of a generalized release, the chance of a right guess that the test allows and its level; those of PWSCUP
        2018 if not given, 1/3 and 0.01/20.
    """
    given = {name: value for name, value in {"p": p, "alpha": alpha}.items() if value is not None}
    for name, value in given.items():
        if not are_pairs(truth):
            expected = "guesses at a generalized release, a line a pseudonym, which the test is for"
            raise InputError.of(expected, option=name, value=value)
    if engine != "local":
        check_engine_reads(engine, published=published)

        return judge_files_on_engine(guess, truth, published, engine=engine, reading=reading)
    if are_pairs(truth):
        return _judge_generalized(guess, truth, {name: fraction_of(value, name) for name, value in given.items()})
    right, customers, periods = read_pseudonyms(truth)
    seen = None if published is None else released_of(published, reading)
    if is_row_guess(guess):
        if seen is None:
            raise InputError.of("--published S, which a guess row by row is about", file=guess)
        score = judge_transactions(read_row_guess(guess), right, seen, len(customers))
        return Judged({"transaction": score.as_dict()}, len(customers))
    guessed, _, _ = read_pseudonyms(guess)
    return Judged(success_of(judge(guessed, right, customers, periods, seen)), len(customers))


def _judge_generalized(guess: Path | str, truth: Path | str, given: Mapping[str, Fraction]) -> Answer:
    """Test whether guesses prove a generalized release unsafe."""
    p, level = given.get("p", CHANCE), given.get("alpha", LEVEL)
    verdict = judge_guesses(read_pairs(guess), read_pairs(truth), p, level)
    return Answer(
        {
            "guesses": verdict.n_guesses,
            "right": verdict.n_right,
            "needed": verdict.n_needed,
            "is_unsafe": verdict.is_unsafe,
            "p": str(p),
            "alpha": str(level),
        }
    )


def attack_history_on_engine(
    knowledge: Path | str,
    release: Path | str,
    attack: str,
    *,
    engine: str,
    reading: Reading,
    customers: Sequence[str] | None = None,
    **options: Any,
) -> Guesses:
    """Guess the pseudonym of each customer in each month where rows need not fit into memory."""
    started = time.perf_counter()
    part = made_attack(attack, options)
    if not isinstance(part, EqualRows):
        expected = f"the local engine, which {attack} needs; others have s1 to s6, same-… and exact-match"
        raise InputError.of(expected, option="engine")
    sources = {"known": (knowledge, "knowledge"), "seen": (release, "release")}
    with histories_on_engine(sources, reading, engine) as sides, step(f"attacking by {attack}"):
        known, seen = sides["known"], sides["seen"]
        for side in (known, seen):
            check_needs(side, part, attack)
        guesses = part.guess(known, seen)
        named = list(customers) if customers is not None else None
        if named is None:
            named = known.fetch(known.kept.select("customer").distinct())["customer"].sort().to_list()
    facts = {
        "attack": attack,
        "customers": len(named),
        "guesses": guesses.height,
        "seconds": round(time.perf_counter() - started, 3),
    }
    return Guesses(guesses, named, facts)


def judge_files_on_engine(
    guess: Path | str, truth: Path | str, published: Path | str | None, *, engine: str, reading: Reading
) -> Judged:
    """Judge guesses by the truth on an engine; who is who must fit into memory, published rows need not."""
    if form_of(truth) == CONTEST_2018 or is_row_guess(guess):
        raise InputError.of("guesses by customer and month, or the local engine", file=guess)
    right, customers, periods = read_pseudonyms(truth)
    guessed, _, _ = read_pseudonyms(guess)
    if published is None:
        return Judged(success_of(judge(guessed, right, customers, periods)), len(customers))
    with histories_on_engine({"published": (published, "release")}, reading, engine) as opened, step("judging"):
        verdict = judge(guessed, right, customers, periods, opened["published"])
    return Judged(success_of(verdict), len(customers))
