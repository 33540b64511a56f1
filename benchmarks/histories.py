"""Measuring and attacking a history: the contest's own set, and the whole of Online Retail."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from benchmarks.measure import Figure, best_seconds
from tokumei.attacks.history.plain_attacks import Jaccard
from tokumei.attacks.judge import judge, truth_of
from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.contest.editions.pwscup2017.files import read_history, read_knowledge, read_release
from tokumei.data.files.formats import read_frame
from tokumei.data.history import History
from tokumei.data.online_retail import clean_retail, to_history
from tokumei.measures.registry import HISTORY_UTILITIES
from tokumei.methods.history.steps import Pseudonyms
from tokumei.reports.evaluation import CONTEST_UTILITIES, SAMPLE_ATTACKS

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
SHARES = (25, 50, 75, 100)


def run() -> list[Figure]:
    if not SHARED.is_dir():
        print("  skipped: the shared data is not beside the checkout")
        return []
    folder = SHARED / "pwscup2017"
    original, released = read_history(folder / "T.csv.gz"), read_release(folder / "AT_sample.csv.gz")
    known = [read_knowledge(folder / f"T{share}.csv.gz") for share in SHARES]
    whole = to_history(clean_retail(read_frame(SHARED / "online_retail" / "online_retail_full.parquet")))
    pseudonymous = History(Pseudonyms(1).anonymize(whole, seed=1).frame)
    parts = [whole.known(share / 100, seed=1) for share in SHARES]
    year = History(Pseudonyms(13).anonymize(whole, seed=1).frame)
    return [
        Figure(
            "2017 set: E1–E6, S1–S6 at four levels", best_seconds(partial(_score, original, released, known)), "s", 0.5
        ),
        Figure(
            "397,625 rows: E1–E6, S1–S6 at four levels",
            best_seconds(partial(_score, whole, pseudonymous, parts), repeat=2),
            "s",
            5,
        ),
        Figure("Jaccard, 4,333 customers on each side", best_seconds(partial(Jaccard().guess, whole, year)), "s", 1),
    ]


def _score(original: History, released: History, known: list[History]) -> None:
    for name in CONTEST_UTILITIES:
        HISTORY_UTILITIES.make(name).measure(original, released)
    truth = truth_of(original, released)
    published = History(released.kept)
    for name in SAMPLE_ATTACKS:
        for part in known:
            guesses = HISTORY_ATTACKS.make(name).guess(part, published)
            judge(guesses, truth, original.customers, original.periods)
