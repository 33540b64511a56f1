"""The page of one released table: what it promises, how large its classes are, its risks and its use."""

from __future__ import annotations

from typing import Any

from tokumei.core.errors import InputError
from tokumei.core.result import Facts, Rows, Sentence, shown
from tokumei.job.attack_table import attack_table
from tokumei.job.audit_table import audit_release
from tokumei.job.measure_table import measure_table
from tokumei.job.table_release import TableRelease
from tokumei.report.page import Page


def table_report(release: TableRelease) -> Page:
    """Make the page; everything on it is counted again on the released rows."""
    original = release.original
    if original is None or release.rows is None:
        raise InputError.of("a release of rows of people that is in this process, to report on")
    page = Page(f"Report on a release of {original.name}")
    page.paragraph(
        f"{len(release.rows):,} of {original.n_rows:,} rows are released, anonymized by {release.facts['method']}; "
        f"{release.n_suppressed:,} are left out. All numbers were counted again on the released rows."
    )
    audited = audit_release(release)
    page.heading("What it promises")
    if release.promises:
        rows = [[name, score.value] for name, score in release.promises.items()]
        page.table(["promise", "value reached"], rows, "What was asked for, recounted. Every class of rows holds it.")
    else:
        page.paragraph("Nothing was asked of its classes.")
    page.heading("How large its classes are")
    figure = audited.figure()
    if figure is not None:
        page.figure(figure.svg, f"Rows by the size of their class. The smallest class has {audited.k:,} rows.")
    page.heading("What became of each column")
    if release.columns:
        columns = [*release.columns[0], "hierarchy"]
        made = {**dict.fromkeys(release.hierarchies, "given"), **release.made}
        listed = [[_cell(v) for v in one.values()] + [made.get(str(one["column"]), "none")] for one in release.columns]
        page.table(columns, listed, f"Loss by {release.loss_name}: 0 if nothing is lost, 1 if all.")
    _add(page, "What it gives away", attack_table(original, release))
    _add(page, "Every measure of safety", audited)
    page.heading("What use is left")
    used = measure_table(original, release)
    figure = used.figure()
    if figure is not None:
        page.figure(figure.svg, "Measures between 0 and 1; the table says which end is best.")
    _add(page, None, used)
    return page


def _add(page: Page, heading: str | None, result: Any) -> None:
    """Add the sections of a result to the page."""
    if heading is not None:
        page.heading(heading)
    for section in result.sections():
        if isinstance(section, Rows):
            rows = [[_cell(value) for value in row] for row in section.rows]
            page.table(section.columns, rows, section.title or "")
        elif isinstance(section, Facts):
            page.paragraph(
                "; ".join(f"{name.replace('_', ' ')} {shown(value)}" for name, value in section.values.items())
            )
        elif isinstance(section, Sentence):
            page.paragraph(section.text)


def _cell(value: Any) -> Any:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else shown(value)
