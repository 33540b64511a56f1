"""Which names of two pseudonymous releases are one person's, and how right that is where the truth is known."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.attacks.judge import wilson_interval
from tokumei.core.errors import InputError
from tokumei.core.result import Facts, Result, Rows, Section, Sentence, UserFrame, as_kind
from tokumei.core.score import Score
from tokumei.core.text import Json, JsonView
from tokumei.data.files.csv import check_has_columns
from tokumei.data.files.formats import read_frame, write_frame
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.frames import as_frame
from tokumei.tasks.histories import released_of

SURE = 0.5
TRUTH = ["first", "second"]
ABOUT_CHANCES = (
    "A chance is the precision that is expected of pairs like this; it was learned on halves of the releases."
)


@dataclass(frozen=True, repr=False)
class LinkedReleases(Result):
    """The pairs of names believed to be one person, the surest first: first, second, chance."""

    pairs: pl.DataFrame
    facts: JsonView
    # What the chances promised on halves of the releases, where it is known who is who, and what was right.
    checked: Mapping[str, float]
    success: Mapping[str, Score] | None = None
    frame_kind: str = "polars"

    def to_dict(self) -> Json:
        """Return the facts as `tokumei attack history link-releases --json` prints them."""
        judged = {name: one.as_dict() for name, one in (self.success or {}).items()}
        return {**self.facts, "checked": dict(self.checked), **({"success": judged} if judged else {})}

    def sections(self) -> Sequence[Section]:
        """Return the facts, whether chances held on halves, and how right the pairs are."""
        halves = Rows(["on halves, whose truth is known", "value"], [list(one) for one in self.checked.items()])
        found: list[Section] = [Facts(self.facts), halves, Sentence(ABOUT_CHANCES)]
        if self.success:
            rows = [[name, one.value, one.baseline, one.interval] for name, one in self.success.items()]
            found.append(Rows(["success", "value", "guessing blindly", "95 % interval"], rows))
        return found

    def to_frame(self) -> UserFrame:
        """Return the pairs."""
        return as_kind(self.pairs, self.frame_kind)

    def write(self, out: Path) -> None:
        """Write the pairs."""
        write_frame(self.pairs, out)

    def __repr__(self) -> str:
        found = f", {self.success['linked'].value:.1%} of those in both linked" if self.success else ""
        return f"LinkedReleases({self.facts['sure']:,} sure of {self.pairs.height:,} pairs{found})"


def link_history_releases(
    first: object, second: object, *, truth: object = None, seed: int = 1, reading: Reading = AS_IT_IS
) -> LinkedReleases:
    """Link the names of two releases; `truth` has the columns first and second, the names of everybody in both."""
    from tokumei.attacks.history.link_releases import link_releases

    started = time.perf_counter()
    sides = [released_of(one, reading) for one in (first, second)]
    right = None if truth is None else _truth(truth)
    links = link_releases(*sides, seed=seed)
    sure = links.pairs.filter(pl.col("chance") > SURE)
    facts = {
        "attack": "link-releases",
        "first": links.n_first,
        "second": links.n_second,
        "in_both": round(links.n_both, 1),
        "sure": sure.height,
        "sure_right": round(float(sure["chance"].sum()), 1),
        "divided_by": links.divided,
        "learned_on": links.learned_on,
        "seed": seed,
        "seconds": round(time.perf_counter() - started, 3),
    }
    success = None if right is None else judge_links(links.pairs, right, (links.n_first, links.n_second))
    return LinkedReleases(links.pairs, facts, links.checked, success, sides[0].kind)


def judge_links(pairs: pl.DataFrame, truth: pl.DataFrame, n_names: tuple[int, int]) -> dict[str, Score]:
    """Count how many of those who are in both releases are linked rightly, and how many of the sure pairs are right.

    n_names: names of either release. Of names paired at random, each with another, one in as many as the larger release
    has is with its own.
    """
    blind = {"linked": 1 / max(n_names), "precision": truth.height / (n_names[0] * n_names[1])}
    is_right = pl.struct(TRUTH).is_in(truth.select(pl.struct(TRUTH).alias("pair"))["pair"].implode())
    told = pairs.select("chance", right=is_right)
    sure = told.filter(pl.col("chance") > SURE)
    counts = {"linked": (int(told["right"].sum()), truth.height), "precision": (int(sure["right"].sum()), sure.height)}
    words = {"linked": "people in both releases who are linked rightly", "precision": "sure pairs that are right"}
    return {
        name: Score(
            words[name],
            n_right / n,
            best=0,
            worst=1,
            interval=wilson_interval(n_right, n),
            baseline=blind[name],
            inputs={"right": n_right, "of": n},
        )
        for name, (n_right, n) in counts.items()
        if n
    }


def _truth(given: Any) -> pl.DataFrame:
    """Read who is who: each name once on either side."""
    is_file = isinstance(given, (str, Path))
    name = str(given) if is_file else "truth"
    frame = read_frame(given) if is_file else as_frame(given)
    check_has_columns(TRUTH, frame.columns, name)
    frame = frame.select(pl.col(TRUTH).cast(pl.String)).drop_nulls()
    for column in TRUTH:
        for value in frame[column].filter(frame[column].is_duplicated())[:1]:
            raise InputError.of("each name once", file=name, column=column, value=value)
    if not frame.height:
        raise InputError.of("a name that is in both releases, or more", file=name)
    return frame
