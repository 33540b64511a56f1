"""Whose purchases the rows of a released history are, for somebody who knows some.

Being found (`found` of other attacks) is about labels: which pseudonym is whose. This is about what people fear, that
purchases are known to be theirs, under whatever label these stand.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tokumei.attacks.attribution.judging import keeps_places
from tokumei.attacks.history.attackers import HistoryThreat, threat_of
from tokumei.attacks.history.attribution import attribute_release
from tokumei.attacks.judge import published
from tokumei.attacks.registry import HISTORY_ATTACKS, HistoryAttack
from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.result import Facts, Result, Rows, Section, Sentence, UserFrame, as_kind
from tokumei.core.score import Score
from tokumei.core.text import Json, JsonView, Text
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.history import History
from tokumei.hierarchies.files import item_hierarchy, roll_together
from tokumei.reports.needs import lacks
from tokumei.tasks.histories import HistoryRelease, history_of, released_of
from tokumei.tasks.row_numbers import row_numbers
from tokumei.tasks.threat_history import UNTOLD, over_draws, seed_of_draw

# Whose purchases a name stands for is the buyer's: of this the attacks by name are judged nowhere else.
ATTRIBUTION = "attribution"
ANYBODY = HistoryThreat("somebody who knows a quarter of all purchases", item_characters=None)
NEEDS_ROWS = (
    "the row of the original behind each released row (--rows FILE, which 'anonymize history --rows' writes), since "
    "values were changed or purchases moved"
)
UNKNOWN_SOURCES = Text("the file does not say whose purchases its rows are; what tk.anonymize gives does")
OF_SOME = Text("some customers alone were attacked")
UNITS = (
    "Rows are published rows that the attacker did not know before; claims are those of them for which one customer is "
    "likelier than all others together."
)
# Whoever knows what customers usually buy is not whom the bound is about.
ABOVE_BOUND = (
    "More purchases are given to their buyers than the bound on purchases says: it is about attackers who do not know "
    "what each customer usually buys."
)
READ_AS = {
    "rows": "rows given to their buyer",
    "shared": "the same where pseudonyms are shared",
    "claims": "claims that are right",
    "customers": "customers with 4/5 of their rows",
}


@dataclass(frozen=True, repr=False)
class Attribution(Result):
    """How many published purchases are given to their buyers, by rows and by customers."""

    threat: HistoryThreat
    scores: Mapping[str, Score]
    facts: JsonView
    claims: pl.DataFrame
    frame_kind: str = "polars"

    def to_dict(self) -> Json:
        """Return the result as `tokumei attack history attribution --json` prints it."""
        success = {name: score.as_dict() for name, score in self.scores.items()}
        return {**self.facts, "threat": self.threat.as_dict(), "success": success}

    def sections(self) -> Sequence[Section]:
        """Return who attacks and how much is given to whom."""
        rows = [
            [READ_AS[name], one.inputs.get("rows", one.inputs.get("customers")), one.value, one.interval, one.baseline]
            for name, one in self.scores.items()
        ]
        heads = ["attribution", "of", "share", "95 % interval", "guessing blindly"]
        is_above = self.scores["rows"].value > self.facts.get("attribution_bound", 1)
        above = [Sentence(ABOVE_BOUND)] if is_above else []
        return [Facts({"who": self.threat.who, **self.facts}), Rows(heads, rows), Sentence(UNITS), *above]

    def to_frame(self) -> UserFrame:
        """Return for each published row its number in the release, the customer and the chance."""
        return as_kind(self.claims, self.frame_kind)

    @property
    def numbered_claims(self) -> pl.DataFrame:
        """The claims as they are written to files, where rows count from 1."""
        return self.claims.with_columns(pl.col("row") + 1)

    def __repr__(self) -> str:
        return f"Attribution({self.threat.who}: {self.scores['rows'].value:.1%} of rows given to their buyer)"


def attribute_history(
    original: object,
    release: object,
    threat: str | HistoryThreat | None = None,
    *,
    sources: object = None,
    draws: int = 3,
    seed: int = 1,
    reading: Reading = AS_IT_IS,
    hierarchy: object = None,
    **changes: object,
) -> Attribution:
    """Give the published purchases to customers as somebody would who knows some of them, and judge that.

    threat: who attacks, a preset or a `HistoryThreat`; who knows a quarter of everybody's purchases if not given.
        `changes` are made to it.
    sources: the row of the original that each released row's purchase came from, counted from 0, or a file of them from
        1 (`--rows`); a release of `tk.anonymize` knows them. If not given, rows are taken to have kept their places.
    draws: knowledge is drawn so often; intervals are over draws.
    """
    if draws < 1:
        raise InputError.of("one draw or more", option="draws", value=draws)
    started = time.perf_counter()
    model, items = threat_of(ANYBODY if threat is None else threat, **changes), item_hierarchy(hierarchy)
    before, after = history_of(original, reading), released_of(release, reading)
    came_from = sources_of(before, release, after, sources)
    if model.period == "other":
        # Only the later half is attacked.
        is_later = after.period.is_in(model.attacked_months(before))
        after = History(after.frame.with_columns(pl.when(is_later).then(pl.all())), after.name)
    linker, seen, judged = _linker(before, model), published(after, seed=seed), []
    with step("attributing", draws) as bar:
        for number in range(draws):
            known = model.know(before, seed=seed_of_draw(seed, number))
            guesses = None if linker is None else linker.guess(*roll_together(known, seen, items))
            found, claims = attribute_release(before, after, came_from, known, guesses, seed=seed, hierarchy=items)
            judged.append((found.scores, claims))
            bar.advance()
    first, claimed = judged[0]
    scores = {name: over_draws([one[name] for one, _ in judged if name in one]) for name in first}
    bounds = {name: value for name, value in _promised(release).items() if name.startswith("attribution_")}
    facts = {
        "attack": ATTRIBUTION,
        "customers": len(before.customers),
        "draws": draws,
        **bounds,
        "seconds": round(time.perf_counter() - started, 3),
    }
    return Attribution(model, scores, facts, claimed, before.kind)


def sources_of(original: History, release: object, released: History, sources: object = None) -> pl.Series:
    """Return the row of the original that the purchase of each released row came from, missing where it was made up.

    A release that keeps no record of it is taken to have left purchases in their places where rows are as they were but
    for names and times, and refused elsewhere: whether a value was changed or another's put there cannot be seen.
    """
    if sources is not None:
        return row_numbers(sources, released, original.n_rows)
    if isinstance(release, HistoryRelease) and release.release.rows is not None:
        return release.release.rows
    if not keeps_places(original, released):
        raise InputError.of(NEEDS_ROWS, file=released.name)
    return pl.Series("row", np.arange(original.n_rows))


def sources_if_known(original: History, release: object, released: History) -> tuple[pl.Series | None, dict[str, Text]]:
    """Return which row of the original each released row's purchase is, or why nobody is judged by that."""
    try:
        return sources_of(original, release, released), {}
    except InputError:
        return None, {ATTRIBUTION: UNKNOWN_SOURCES}


def _linker(history: History, threat: HistoryThreat) -> HistoryAttack | None:
    """Return the attack whose guesses at pseudonyms are weighed with the rest, where the history allows it."""
    made: HistoryAttack = HISTORY_ATTACKS.make(UNTOLD[threat.period][0])
    return None if lacks(history, made) else made


def _promised(release: object) -> Mapping[str, object]:
    return release.recipe.found if isinstance(release, HistoryRelease) else {}
