"""What running studies gives: their outcomes, as programs and people read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from tokumei.core.result import Drawing, Result, Rows, Section, Sentence
from tokumei.core.text import Json
from tokumei_studies.page import shown
from tokumei_studies.running import StudyOutcome
from tokumei_studies.study import STUDIES, StudyLine, Verdict

KEYS = ("what", "published", "computed", "difference", "verdict", "why")


@dataclass(frozen=True, repr=False)
class StudyList(Result):
    """All studies that there are."""

    def to_dict(self) -> Json:
        """Return each study with its title, source, and what it needs."""
        keys = ("title", "source", "is_quick")
        studies = ((name, STUDIES.get(name)) for name in STUDIES)
        rows = [
            {"name": name} | {key: getattr(one, key) for key in keys} | {"needs": list(one.needs)}
            for name, one in studies
        ]
        return {"studies": rows}

    def sections(self) -> Sequence[Section]:
        """Return a table of studies with the folders of their data; files and sources are in the JSON."""
        rows = []
        for one in self.to_dict()["studies"]:
            folders = dict.fromkeys(file.split("/")[0] for file in one["needs"])
            rows.append([one["name"], one["title"], one["is_quick"], ", ".join(folders)])
        return [Rows(["study", "what", "quick", "data"], rows)]


@dataclass(frozen=True, repr=False)
class StudyRun(Result):
    """The outcomes of some studies, in their order."""

    outcomes: Sequence[StudyOutcome]

    @property
    def is_unexplained(self) -> bool:
        """Whether a number does not hold and nobody says why."""
        return any(one.findings is not None and one.findings.unexplained for one in self.outcomes)

    @property
    def has_errors(self) -> bool:
        """Whether an error stopped a study."""
        return any(one.error is not None for one in self.outcomes)

    def to_dict(self) -> Json:
        """Return every study with its lines, and the number of each verdict."""
        verdicts = [outcome.verdict for outcome in self.outcomes]
        return {
            "studies": [_as_dict(outcome) for outcome in self.outcomes],
            **{word.replace(" ", "_"): verdicts.count(word) for word in Verdict},
        }

    def sections(self) -> Sequence[Section]:
        """Return a table for each study, the reasons below it, and the count of verdicts."""
        verdicts = [outcome.verdict for outcome in self.outcomes]
        counted = Sentence(", ".join(f"{verdicts.count(word)} {word}" for word in Verdict))
        return [*(section for outcome in self.outcomes for section in _sections(outcome)), counted]

    def figure(self) -> Drawing | None:
        """Return the first figure of a single study."""
        findings = self.outcomes[0].findings if len(self.outcomes) == 1 else None
        return Drawing(findings.figures[0].svg) if findings and findings.figures else None

    def __repr__(self) -> str:
        verdicts = [outcome.verdict for outcome in self.outcomes]
        return f"StudyRun({', '.join(f'{verdicts.count(word)} {word}' for word in Verdict)})"


def _as_dict(outcome: StudyOutcome) -> dict[str, object]:
    study = STUDIES.get(outcome.name)
    lines = outcome.findings.lines if outcome.findings else ()
    return {
        "name": outcome.name,
        "title": study.title,
        "source": study.source,
        "verdict": outcome.verdict,
        "lines": [_line_as_dict(line) for line in lines],
        "seconds": round(outcome.seconds, 3),
        "needs": list(outcome.missing),
    } | ({} if outcome.error is None else {"error": outcome.error})


def _line_as_dict(line: StudyLine) -> dict[str, object]:
    every = asdict(line) | {"difference": line.difference, "verdict": line.verdict}
    return {key: every[key] for key in KEYS}


def _sections(outcome: StudyOutcome) -> list[Section]:
    title = f"{STUDIES.get(outcome.name).title} ({outcome.name})"
    if outcome.missing:
        return [Sentence(f"{title}: needs data, {', '.join(outcome.missing)} in the folder of --data")]
    if outcome.findings is None:
        return []
    lines = outcome.findings.lines
    rows = [
        [
            line.what,
            *(shown(one, line.digits) for one in (line.published, line.computed, line.difference)),
            line.verdict,
        ]
        for line in lines
    ]
    others = [line for line in lines if line.verdict is not Verdict.HOLDS]
    reasons = [
        Sentence(f"{', '.join(line.what for line in others if line.why == why)}: {why or 'differs without a reason'}")
        for why in dict.fromkeys(line.why for line in others)
    ]
    return [Rows(["what", "published", "computed", "difference", "verdict"], rows, title), *reasons]
