"""The pages of a dossier by framework: how many clauses of each have which evidence, then every clause.

Clauses with the same evidence share a row, so that whoever checks finds each by its number and reads nothing twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from os.path import commonprefix

from tokumei.core.text import JsonView
from tokumei.data.context import label_of
from tokumei.reports.evidence_pages import sentence
from tokumei.reports.page import Document

# The kinds of evidence in the order of the table; what was held against a bound counts by its outcome.
KINDS = ("met", "not met", "undecided", "measured", "stated", "open", "not measured")
OF_PEOPLE = ("stated", "open")
# Where the number of a clause goes on after what several have in common.
BREAKS = ("(", "第")


@dataclass(frozen=True)
class Row:
    """Clauses that share a row: their places in the framework, their numbers and titles, and what stands there."""

    places: Sequence[int]
    names: Sequence[tuple[str, str]]
    asks: str
    verdict: str
    evidence: str

    def with_clause(self, other: Row) -> Row:
        """Add the clauses of another row that has the same evidence."""
        return Row([*self.places, *other.places], [*self.names, *other.names], self.asks, self.verdict, self.evidence)

    def with_answer(self, other: Row) -> Row:
        """Add the answer of another row on the same clause."""
        places, asks = [*self.places, *other.places], f"{self.asks}; {other.asks}"
        return Row(places, self.names, asks, self.verdict, f"{self.evidence}; {other.evidence}")

    def cells(self) -> list[str]:
        """Return the cells of the row."""
        return [spans(self.places), named_together(self.names), self.asks, self.verdict, self.evidence]


def add_frameworks(document: Document, dossier: JsonView) -> None:
    """Add a table of all frameworks, then a section for each, which is opened by a click."""
    document.heading("Evidence by framework")
    document.paragraph(
        "These pages gather evidence; they are no legal advice. A clause is met or not met only where a number is held "
        "against a bound that the job or the text states; what people state is theirs to answer for. Somebody who is "
        "found with certainty is one too many, whatever the bound. Pages of {version}; day on which the law was last "
        "read: {day}.",
        version=dossier["frameworks_of"],
        day=dossier["context"].get("law_as_of", document.say("not stated")),
    )
    rows = [[document.say(one["title"]), *_counts(one["clauses"])] for one in dossier["frameworks"]]
    document.table(["framework", *KINDS], rows, "How many clauses have which evidence.")
    # A report of a release that others made has no job that could be done again.
    if dossier.get("document") != "public" and "folder" in dossier:
        document.paragraph("A number is computed again by: tokumei verify dossier.json --clause ID")
    for part in dossier["frameworks"]:
        document.folded(part["title"])
        document.paragraph(part["source"])
        listed = [row.cells() for row in _rows(document, part["clauses"])]
        caption = document.say("The ID of a clause is {name}/ and its number.", name=part["name"])
        document.table(["number", "clause", "what it asks", "verdict", "evidence"], listed, caption)
        for draft in part["drafts"]:
            document.paragraph(draft)


def _counts(clauses: Sequence[JsonView]) -> list[int | str]:
    found = Counter(one["outcome"] or one["verdict"] for one in clauses)
    return [found[kind] or "–" for kind in KINDS]


def _rows(document: Document, clauses: Sequence[JsonView]) -> list[Row]:
    """Join the clauses that have the same evidence, and the answers of people on one clause."""
    same: dict[tuple[str, str, str], Row] = {}
    for at, one in enumerate(clauses, start=1):
        row = _row(document, at, one)
        key = (row.asks, row.verdict, row.evidence)
        same[key] = same[key].with_clause(row) if key in same else row
    joined: list[Row] = []
    for row in same.values():
        is_answer = clauses[row.places[0] - 1]["verdict"] in OF_PEOPLE
        if is_answer and joined and (joined[-1].names, joined[-1].verdict) == (row.names, row.verdict):
            joined[-1] = joined[-1].with_answer(row)
        else:
            joined.append(row)
    return joined


def _row(document: Document, at: int, one: JsonView) -> Row:
    """Row of one clause."""
    verdict = document.say(one["verdict"] if one["outcome"] is None else one["outcome"])
    evidence = sentence(document, one)
    figure = one["figure"]
    # That nothing of a kind may be there is what the clause asks.
    if figure is not None and figure["bound"]:
        said = "{evidence} (at least {bound})" if figure["least"] else "{evidence} (at most {bound})"
        evidence = document.say(said, evidence=evidence, bound=f"{figure['bound']:.3g}")
    if one["field"] is not None:
        label = document.tell(label_of(one["field"]))
        is_bare = one["said"] == "not stated"
        evidence = label if is_bare else document.say("{field}: {why}", field=label, why=evidence)
    asks = document.say(one["asks"]) + (f" ({document.say(one['who'])})" if one["who"] else "")
    return Row([at], [(document.say(one["number"]), document.say(one["title"]))], asks, verdict, evidence)


def spans(places: Sequence[int]) -> str:
    """Write numbers, those that follow each other as a span.

    >>> spans([1, 4, 5, 6, 9])
    '1, 4–6, 9'
    """
    runs = [[place for _, place in run] for _, run in groupby(enumerate(places), lambda pair: pair[1] - pair[0])]
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)


def named_together(names: Sequence[tuple[str, str]]) -> str:
    """Write numbers with their titles; what all numbers have in common stands once.

    >>> named_together([("164.514(b)(2)(i)(A)", "names"), ("164.514(b)(2)(i)(D)", "telephone numbers")])
    '164.514(b)(2)(i)(A) names; (D) telephone numbers'
    """
    # Letter by letter, which is meant: a number is no path.
    shared = commonprefix([number for number, _ in names])  # noqa: RUF071
    start = max(shared.rfind(one) for one in BREAKS)
    (first, title), *others = names
    return "; ".join([f"{first} {title}", *(f"{number[max(0, start) :]} {title}" for number, title in others)])
