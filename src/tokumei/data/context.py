"""What only people know of a release: who receives it, why, where, under which terms, and who answers for it.

ISO/IEC 27559 calls it the context. No file tells it, so a job file, a form or a keyword does; what nobody stated is
shown as not stated, and counts for nothing.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from enum import StrEnum
from typing import Any

from tokumei.core.errors import InputError, nearest
from tokumei.core.text import Json, choice_of


class Answer(StrEnum):
    """The form of an answer."""

    TEXT = "text"
    CHOICE = "choice"
    DAY = "day"
    SHARE = "share"


ENVIRONMENTS = ("public", "contract", "enclave")
HARMS = ("low", "moderate", "high", "severe")
# A longer answer belongs in a document of its own, which the answer names.
LONGEST = 2_000


def _asks(label: str, question: str, example: str, **about: Any) -> Any:
    """Field of one question: its answer is text, or one of the `words`; `is_public` if the public document has it."""
    usual = {"answer": Answer.CHOICE if "words" in about else Answer.TEXT, "words": (), "is_public": False}
    return field(default=None, metadata={"label": label, "question": question, "example": example, **usual, **about})


@dataclass(frozen=True, kw_only=True)
class ReleaseContext:
    """Who receives a release, for what, where, what harm it could do, and who answers for it; None: not stated.

    >>> ReleaseContext(recipient="the research board", environment="enclave").stated()
    {'recipient': 'the research board', 'environment': 'enclave'}
    """

    recipient: str | None = _asks(
        "Recipient", "Who receives the release?", "the research board of the hospital", is_public=True
    )
    purpose: str | None = _asks("Purpose", "What will they use it for?", "waiting times by district", is_public=True)
    environment: str | None = _asks(
        "Environment",
        "Where will it be used: by anybody, under a contract, or in an enclave that you control?",
        "contract",
        words=ENVIRONMENTS,
        is_public=True,
    )
    contract: str | None = _asks(
        "Contract", "Which terms bind the recipients, and forbid them to identify people?", "12 of 2026"
    )
    retention: str | None = _asks("Retention", "How long may they keep it?", "until the end of 2027", is_public=True)
    harm: str | None = _asks("Harm", "How badly could a person be harmed who is found?", "moderate", words=HARMS)
    harm_reasons: str | None = _asks(
        "Reasons for the harm", "Which harm, and why is it that bad?", "a diagnosis known to an employer"
    )
    motive: str | None = _asks(
        "Motives", "Why might recipients try to find people?", "none known; they are paid by the hospital"
    )
    capacity: str | None = _asks(
        "Capacity",
        "What do recipients have to find people with: other data, skill, time, money?",
        "the register of voters",
    )
    most_gain: float | None = _asks(
        "Most that an attack may gain",
        "How many more people may an attack find than blind guessing does, as a share of all?",
        "0.02",
        answer=Answer.SHARE,
        is_public=True,
    )
    several_rows: str | None = _asks(
        "Several rows of a person",
        "If a column repeats and yet each row is a person of its own: what does that column tell?",
        "the ward that admitted them",
    )
    review_on: str | None = _asks(
        "Next review", "When will the release be judged anew?", "2027-11-19", answer=Answer.DAY, is_public=True
    )
    law_as_of: str | None = _asks(
        "Law as of",
        "On which day did somebody last read the law's own text?",
        "2026-11-19",
        answer=Answer.DAY,
        is_public=True,
    )
    responsible: str | None = _asks(
        "Responsible for what is kept apart",
        "Who may handle the seed, the recipe and the mapping, and who is responsible for them?",
        "the data protection officer",
    )
    handling_rules: str | None = _asks(
        "Rules of handling",
        "Which written rules say how these are handled, and when is it checked that they are kept?",
        "handling rules 3.2, checked each March",
    )
    access_control: str | None = _asks(
        "Access", "How are others kept from them?", "an encrypted disk in the office of two people"
    )
    notice: str | None = _asks(
        "Notice", "Where is it published which items the release has?", "www.example.org/data", is_public=True
    )
    incidents: str | None = _asks("Incidents", "What happens if somebody is found after all?", "plan of incidents 4")
    review_board: str | None = _asks(
        "Review board", "Which board judged the release, and when?", "disclosure review board, 2026-11-02"
    )
    expert: str | None = _asks(
        "Expert", "Who determined that the risk is very small, with which experience?", "A. Sato, 12 years"
    )
    actual_knowledge: str | None = _asks(
        "What you know",
        "Do you know anything by which the release could identify somebody?",
        "nothing; the records office was asked on 2026-11-02",
    )
    intruder: str | None = _asks("Intruder", "Who tried to find people, with which means?", "two students with the web")
    intruder_cost: str | None = _asks(
        "Cost of the trial", "How much time and money did they spend?", "16 hours, no money"
    )
    intruder_result: str | None = _asks(
        "Result of the trial", "Whom did they claim to have found, and how many claims were right?", "0 of 3"
    )
    intruder_on: str | None = _asks("Day of the trial", "When did they try?", "2026-11-10", answer=Answer.DAY)
    dp_trust: str | None = _asks(
        "Trust in the curator",
        "For differential privacy: who sees the original data, and who is trusted with it?",
        "the hospital alone",
    )

    def __post_init__(self) -> None:
        for one in fields(self):
            given = getattr(self, one.name)
            if given is not None and not fits(one, given):
                raise InputError.of(expected(one), option=one.name, value=given)

    def stated(self) -> Json:
        """Return the answers that were given."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name)) is not None}


NOT_STATED = ReleaseContext()
QUESTIONS: dict[str, Field[Any]] = {one.name: one for one in fields(ReleaseContext)}

# Who decides stands in a job beside its name.
REVIEWER, WHO_DECIDES = "reviewer", "Who decides"
# The number of the clauses on use under differential privacy: counted by people, and covered by no promise.
OF_USE = "use"
PUBLIC_FIELDS = (REVIEWER, *(name for name, one in QUESTIONS.items() if one.metadata["is_public"]))


def label_of(name: str) -> str:
    """Return what a question is called on pages."""
    return WHO_DECIDES if name == REVIEWER else str(QUESTIONS[name].metadata["label"])


def fits(question: Field[Any], value: Any) -> bool:
    """Whether a value answers a question in its form."""
    match question.metadata["answer"]:
        case Answer.SHARE:
            return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1
        case Answer.CHOICE:
            return value in question.metadata["words"]
        case Answer.DAY:
            return isinstance(value, str) and day_of(value) is not None
    return isinstance(value, str) and bool(value.strip()) and len(value) <= LONGEST


def expected(question: Field[Any]) -> str:
    """Return what an answer must be like, in words for an error."""
    match question.metadata["answer"]:
        case Answer.SHARE:
            return "a share from 0 to 1"
        case Answer.CHOICE:
            return choice_of(question.metadata["words"])
        case Answer.DAY:
            return "a day, as 2027-01-31"
    return "text that is not empty"


def day_of(text: str | None) -> dt.date | None:
    """Read a day; None for what is none."""
    try:
        return None if text is None or len(text) != 10 else dt.date.fromisoformat(text)
    except ValueError:
        return None


def context_of(given: Mapping[str, Any]) -> ReleaseContext:
    """Read what is stated by the names of the questions; an unknown name comes with the nearest that is."""
    for name in given:
        if name not in QUESTIONS:
            near = nearest(name, list(QUESTIONS))
            raise InputError.of(repr(near) if near else choice_of(QUESTIONS), option="context", value=name)
    return ReleaseContext(**given)
