"""The page of a study in Markdown, and the index of all pages."""

from __future__ import annotations

import inspect
import itertools
import math
import re
from collections.abc import Sequence
from pathlib import Path

from tokumei.core.errors import InputError
from tokumei.core.text import counted
from tokumei.data.files.disk import write_text
from tokumei_studies.study import STUDIES, Findings, Study, StudyFigure, StudyLine, Verdict

PICTURES = "pictures"
INDEX = "README.md"
# How a page says what became of its study, and how the index reads it again.
SUMMARY = "**{verdict}**: {n_holds} of {n_lines} numbers hold{others}."
SUMMARY_PATTERN = re.compile(
    r"^\*\*(holds|differs|different method)\*\*: (\d+) of (\d+) numbers hold"
    r"(?:, (\d+) (?:is|are) by a different method)?\.$",
    re.MULTILINE,
)
# Where in a source the paper ends and the place in it begins.
PLACE_PATTERN = re.compile(r"[,;:]\s+(?=(?:the\s+)?(?:§|tables?|figures?|sections?|chapters?|slides?|examples?)\b|§)")
NOT_COMPUTED = "not computed"
# The verdict of a page, and of how many numbers: those that hold, all, and those by a different method.
Summary = tuple[str, int, int, int]
YEAR_PATTERN = re.compile(r"\b(?:19|20)\d\d(?!\d)")


def shown(value: float, digits: int) -> str:
    """Write a number of a line with its digits behind the point."""
    # Adding 0 takes the sign from what rounds to nothing.
    return f"{round(value, digits) + 0.0:,.{digits}f}" if math.isfinite(value) else "–"


def tolerance_of(line: StudyLine) -> str:
    """Describe the ends within which a number holds."""
    if line.least == -math.inf:
        return "at most"
    if line.most == math.inf:
        return "at least"
    below, above = line.published - line.least, line.most - line.published
    if math.isclose(below, above, abs_tol=1e-12):
        return "exact" if above <= 0 else f"± {_short(above)}"
    return f"{_short(line.least)} to {_short(line.most)}"


def page_of(study: type[Study], findings: Findings, name: str) -> str:
    """Write the page of a study: what it is, its numbers, its figures, what differs and why."""
    parts = [f"# {study.title}", f"*{study.source}*", *_paragraphs(inspect.getdoc(study) or "")]
    parts += [_summary(findings), _table(findings.lines)]
    parts += _reasons("## What differs, and why", findings.lines, Verdict.DIFFERS)
    parts += _reasons("## What a different method gives, and which", findings.lines, Verdict.DIFFERENT_METHOD)
    if findings.figures:
        parts += ["## Figures", *(_picture(name, figure) for figure in findings.figures)]
    if findings.remarks:
        parts += ["## Remarks", *findings.remarks]
    parts += _reasons("## How near is near enough", findings.lines, Verdict.HOLDS)
    parts.append(f"Computed again by `tokumei study run {name}{' --data DIR' if study.needs else ''}`.")
    if study.needs:
        parts.append("It reads " + ", ".join(f"`{file}`" for file in study.needs) + " in that folder.")
    return "\n\n".join(parts) + "\n"


def write_page(folder: Path, name: str, findings: Findings) -> None:
    """Write the page of a study and its figures; the figures first, since the page shows them."""
    for figure in findings.figures:
        write_text(folder / PICTURES / f"{name}-{figure.name}.svg", figure.svg.rstrip("\n") + "\n")
    write_text(folder / f"{name}.md", page_of(STUDIES.get(name), findings, name))


def prepare_folder(folder: Path) -> None:
    """Make the folder of pages, before hours go into what could not be written."""
    try:
        (folder / PICTURES).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError.of(f"a folder that pages can be written to ({error.strerror})", file=folder) from None


def write_index(folder: Path) -> None:
    """Write the index of all studies, by paper, with what their pages in the folder say."""
    lines = [
        "# Studies",
        "Published tables and figures, computed again: the published number beside the one computed here, and whether "
        "it *holds* within the tolerance that the study states, or *differs*, and then why; *different method* says "
        "that another algorithm or other data than the paper's was used, so that nothing is refuted. Made by "
        "`tokumei study run --all --data DIR`; a study without a page was not computed, for lack of data or of time.",
    ]
    found = {name: _read_summary(folder / f"{name}.md") for name in STUDIES}
    for paper, names in itertools.groupby(sorted(STUDIES, key=_by_paper), key=_paper):
        rows = ["| study | what | verdict | numbers that hold |", "|---|---|---|---|"]
        rows += [_index_row(name, found[name]) for name in names]
        lines += [f"## {paper}", "\n".join(rows)]
    lines.append(_totals(list(found.values())))
    write_text(folder / INDEX, "\n\n".join(lines) + "\n")


def paper_of(source: str) -> str:
    """Return the paper of a source, without the place in it."""
    return PLACE_PATTERN.split(source, maxsplit=1)[0].strip()


def _summary(findings: Findings) -> str:
    """Summarize how many lines hold."""
    verdicts = [line.verdict for line in findings.lines]
    n_others = verdicts.count(Verdict.DIFFERENT_METHOD)
    others = f", {n_others} {'is' if n_others == 1 else 'are'} by a different method" if n_others else ""
    n_holds = verdicts.count(Verdict.HOLDS)
    return SUMMARY.format(verdict=findings.verdict, n_holds=n_holds, n_lines=len(verdicts), others=others)


def _paper(name: str) -> str:
    return paper_of(STUDIES.get(name).source)


def _by_paper(name: str) -> tuple[str, str, str]:
    """Order papers by their year, and what has none behind them."""
    paper = _paper(name)
    years = YEAR_PATTERN.findall(paper)
    return years[-1] if years else "none", paper, name


def _read_summary(page: Path) -> Summary | None:
    """Read from a page what became of its study; none if there is no page."""
    match = SUMMARY_PATTERN.search(page.read_text(encoding="utf-8")) if page.exists() else None
    return None if match is None else (match[1], int(match[2]), int(match[3]), int(match[4] or 0))


def _index_row(name: str, found: Summary | None) -> str:
    title = _cell(STUDIES.get(name).title)
    if found is None:
        return f"| `{name}` | {title} | {NOT_COMPUTED} | – |"
    verdict, n_holds, n_lines, _ = found
    return f"| [`{name}`]({name}.md) | {title} | {verdict} | {n_holds} of {n_lines} |"


def _totals(found: Sequence[Summary | None]) -> str:
    """Count studies and numbers by what became of them."""
    verdicts = [NOT_COMPUTED if one is None else one[0] for one in found]
    counts = [f"{verdicts.count(word)} {word}" for word in (*Verdict, NOT_COMPUTED) if word in verdicts]
    n_holds = sum(one[1] for one in found if one is not None)
    n_lines = sum(one[2] for one in found if one is not None)
    n_others = sum(one[3] for one in found if one is not None)
    n_differ = n_lines - n_holds - n_others
    numbers = f"{n_lines} numbers: {n_holds} hold, {n_differ} differ, {n_others} are by a different method."
    return f"{counted(len(verdicts), 'study', 'studies')}: {', '.join(counts)}. {numbers}"


def _table(lines: Sequence[StudyLine]) -> str:
    rows = ["| what | published | computed | difference | tolerance | verdict |", "|---|--:|--:|--:|--:|---|"]
    for line in lines:
        numbers = [shown(number, line.digits) for number in (line.published, line.computed, line.difference)]
        verdict = line.verdict if line.verdict is Verdict.HOLDS else f"**{line.verdict}**"
        rows.append(f"| {_cell(line.what)} | {' | '.join(numbers)} | {tolerance_of(line)} | {verdict} |")
    return "\n".join(rows)


def _reasons(heading: str, lines: Sequence[StudyLine], verdict: Verdict) -> list[str]:
    """List the reasons of the lines with a verdict; a reason that several lines share is told once."""
    subjects: dict[str, list[str]] = {}
    for line in lines:
        if line.verdict is verdict and line.why.strip():
            subjects.setdefault(line.why.strip(), []).append(line.what)
    if not subjects:
        return []
    return [heading, "\n".join(f"- {_listed(whats)}: {why}" for why, whats in subjects.items())]


def _listed(whats: Sequence[str]) -> str:
    if len(whats) > 2:
        return f"{len(whats)} numbers, from *{whats[0]}* to *{whats[-1]}*"
    return " and ".join(f"*{what}*" for what in whats)


def _picture(name: str, figure: StudyFigure) -> str:
    return f"![{figure.caption}]({PICTURES}/{name}-{figure.name}.svg)\n\n*{figure.caption}*"


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def _short(value: float) -> str:
    """Write an end of a tolerance with four digits that count, and never with an exponent."""
    rounded = f"{float(f'{value:.4g}'):,.12f}"
    return rounded.rstrip("0").rstrip(".")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
