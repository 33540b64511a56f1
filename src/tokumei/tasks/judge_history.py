"""How right guesses in files are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from tokumei.attacks.hypothesis import CHANCE, LEVEL, fraction_of, judge_guesses
from tokumei.attacks.judge import judge, judge_transactions
from tokumei.core.errors import InputError
from tokumei.core.result import Answer, Result, Section
from tokumei.core.wording import counted
from tokumei.data.files.pseudonyms import are_pairs, is_row_guess, read_pairs, read_pseudonyms, read_row_guess
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.tasks.attack_history import success_of, success_rows
from tokumei.tasks.histories import check_engine_reads, released_of


@dataclass(frozen=True, repr=False)
class Judged(Result):
    """The measures of a guess by name, and how many customers it was about."""

    success: dict[str, Any]
    n_customers: int

    def to_dict(self) -> dict[str, Any]:
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
        from tokumei.tasks.attack_on_engine import judge_files_on_engine

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
