"""What each kind of knowledge of a purchase is worth to an attacker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from tokumei.attacks.background import AS_STATED, danger_by_kind, measure_risks, predict_risks
from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.result import Drawing, Result, Rows, Section, Sentence
from tokumei.core.score import Score
from tokumei.core.wording import choice_of, counted
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.history import History
from tokumei.report.knowledge_page import crowd_drawing, knowledge_page
from tokumei.report.page import Page
from tokumei.tasks.histories import history_of, released_of
from tokumei.tasks.unicity_history import unicity_history

Weight = Literal["usual", "baskets", "rows"]
WEIGHTS = ("usual", "baskets", "rows")
STATED = (
    "Attackers 4 and 9 are stated to know all items and how many rows there were. The figures printed by Ito, Kikuchi "
    "and Nakagawa (2017) follow where whoever bought these items fits (measured); by the statement the number of rows "
    "must agree, too (as stated)."
)
ABOVE_ONE = (
    "Theory is Π ω / m, the number of things that may be known by the number of rows. It takes every row to be another "
    "customer's and all kinds of knowledge to be independent: where there are more combinations than rows it exceeds "
    "1, and says that about so many combinations fall on each row, not a chance."
)


@dataclass(frozen=True, repr=False)
class Knowledge(Result):
    """The risk of being found by each of ten attackers, measured and by theory."""

    history: History
    risks: Sequence[Score]
    theory: Sequence[float]
    danger: pl.DataFrame
    weight: Weight = "usual"

    def to_dict(self) -> dict[str, Any]:
        """Return the attackers and the kinds of knowledge, as `tokumei knowledge --json` prints them."""
        attackers = [
            {
                "attacker": number,
                "knows": score.name,
                "measured": score.value,
                "as_stated": score.inputs[AS_STATED],
                "theory": expected,
                "theory_is_a_chance": expected <= 1,
            }
            for number, (score, expected) in enumerate(zip(self.risks, self.theory, strict=True))
        ]
        return {"attackers": attackers, "danger": self.danger.to_dicts(), "weight": self.weight}

    def sections(self) -> Sequence[Section]:
        """Return both tables, and a word where theory is no chance."""
        rows = [
            [
                number,
                score.name,
                score.value,
                score.inputs[AS_STATED],
                expected,
                "" if expected <= 1 else "above 1: no chance",
            ]
            for number, (score, expected) in enumerate(zip(self.risks, self.theory, strict=True))
        ]
        danger = Rows(
            self.danger.columns,
            [list(row) for row in self.danger.iter_rows()],
            "Which kind of knowledge is dangerous",
        )
        parts: list[Section] = [Rows(["attacker", "knows", "measured", AS_STATED, "theory", ""], rows), danger]
        differs = any(score.value != score.inputs[AS_STATED] for score in self.risks)
        parts += [Sentence(STATED)] if differs else []
        return [*parts, *([Sentence(ABOVE_ONE)] if any(one > 1 for one in self.theory) else [])]

    def figure(self) -> Drawing:
        """Draw how many customers fit what may be known."""
        return Drawing(crowd_drawing(self.history))

    def page(self) -> Page:
        """Return the page with the tables and the figure."""
        return knowledge_page(self.history, self.risks, self.theory, self.danger)

    def __repr__(self) -> str:
        worst = max(self.risks, key=lambda score: score.value)
        whom = counted(len(self.history.customers), "customer")
        return f"Knowledge(of {whom}, at worst {worst.value:.4g} by {worst.name})"


def knowledge_history(
    history: Any,
    release: Any = None,
    *,
    weight: Weight = "usual",
    unicity: bool = False,
    reading: Reading = AS_IT_IS,
    **options: Any,
) -> Any:
    """Measure how dangerous each kind of knowledge is; with `unicity`, how many purchases single customers out.

    weight: what share meets a piece of knowledge: of `rows`, of `baskets`, or as `usual`, of rows where an item is
        known and of baskets otherwise.
    unicity: give `Unicity` in place of `Knowledge`; its `options` are `points`, `draws`, `exactness` and `seed`.
    """
    if unicity:
        if release is not None:
            expected = "a release in the place of the history: its pseudonyms are singled out then"
            raise InputError.of(expected, option="release", value="unicity")
        return unicity_history(history, reading=reading, **options)
    for name in options:
        raise InputError.of("an option of knowledge: 'weight', 'unicity'", value=name)
    if weight not in WEIGHTS:
        raise InputError.of(choice_of(WEIGHTS), option="weight", value=weight)
    original = history_of(history, reading)
    original.check_has(["item"], "knowledge")
    with step("measuring knowledge"):
        released = None if release is None else released_of(release, reading)
        risks = measure_risks(original, released, met=weight)
        return Knowledge(original, risks, predict_risks(original), danger_by_kind(risks), weight)
