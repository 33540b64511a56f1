"""Who is found in a released history, attacked and judged on an engine."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.attacks.judge import judge
from tokumei.attacks.on_engine.exact_match import guess_on_engine
from tokumei.attacks.on_engine.judge import judge_on_engine
from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.data.files.histories import CONTEST_2018, form_of
from tokumei.data.files.pseudonyms import is_row_guess, read_pseudonyms
from tokumei.data.files.reading import Reading
from tokumei.report.needs import check_needs
from tokumei.tasks.attack_history import Guesses, made_attack, success_of
from tokumei.tasks.histories_on_engine import histories_on_engine
from tokumei.tasks.judge_history import Judged


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
    sources = {"known": (knowledge, "knowledge"), "seen": (release, "release")}
    with histories_on_engine(sources, reading, engine) as sides, step(f"attacking by {attack}"):
        known, seen = sides["known"], sides["seen"]
        for side in (known, seen):
            check_needs(side, part, attack)
        guesses = known.fetch(guess_on_engine(part, known, seen))
        named = list(customers) if customers is not None else None
        if named is None:
            named = known.fetch(known.kept.select("customer").distinct())["customer"].sort().to_list()
    guesses = guesses.cast({"period": pl.Int32}).sort("customer", "period")
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
        verdict = judge_on_engine(guessed, right, customers, periods, opened["published"])
    return Judged(success_of(verdict), len(customers))
