"""The thirteen indices of PWSCUP 2015 on releases of a made survey: table 21 of the thesis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl

from tokumei.attacks.nearest_rows import IdRand, IdSa, Sa21, Sort, judge_rows
from tokumei.attacks.registry import TABLE_ATTACKS
from tokumei.core.seeds import generator
from tokumei.data.made_survey import N_ROWS, QUASI_IDENTIFIERS, make_survey
from tokumei.data.table import Table
from tokumei.engines.count import count_classes
from tokumei.measures.registry import TABLE_UTILITIES
from tokumei.measures.safety.class_sizes import KAnonymity, MeanClassSize
from tokumei.measures.table.row_by_row import Aya, RowCount
from tokumei_studies.results._thesis import SEED, THESIS, markdown_table
from tokumei_studies.study import Findings, StudyLine

# The parts that are the contest's indices, and what table 21 says each needs: Y, X and Y, or X, Y and row numbers.
UTILITIES = {
    "U1 meanMAE": ("mean-mae", 2),
    "U2 crossMean": ("cross-mean", 2),
    "U3 crossCnt": ("cross-count", 2),
    "U4 corMAE": ("correlation-mae", 2),
    "U5 IL": ("information-loss", 3),
    "U6 nrow": ("row-count", 1),
    "E5 AYA": ("aya", 3),
}
CLASSES: Mapping[str, tuple[KAnonymity | MeanClassSize, int]] = {
    "S1 k-anony": (KAnonymity(1), 1),
    "S2 k-anonyMean": (MeanClassSize(1), 1),
}
ATTACKS = {"E1 IdRand": ("id-rand", 2), "E2 IdSA": ("id-sa", 2), "E3 Sort": ("sort", 2), "E4 SA21": ("sa21", 2)}
N_INDICES = 13
# Four rows (q, r, s, t): (a, x, 0, 10), (a, y, 0, 30), (b, x, 2, 10), (b, y, 2, 30), of which the second is released
# with an s of 0.5 and the last with an r of x. The standard deviations of s and t are 1 and 10. By hand:
WORKED = {
    "U1 meanMAE": (1 / 16, "The mean of s moves by 1/8 of its standard deviation, that of t stays: half of that."),
    "U2 crossMean": (7 / 16, "In (a, y) s is off by 1/2, in (b, x) t by 1, and (b, y) is empty: 3.5 of 8 means."),
    "U3 crossCnt": (1 / 4, "The counts 1, 1, 1, 1 become 1, 1, 2, 0: 2 off in 4 + 4 rows."),
    "U4 corMAE": (5 / (20 * 3.1875**0.5) / 2, "The correlation of s and t goes from 0 to 5 / (20√3.1875); half of it."),
    "U5 IL": (3 / 32, "One of 16 cells is another, one is off by half a standard deviation."),
    "U6 nrow": (1 / 4, "Without the last of four rows."),
    "S1 k-anony": (1, "(a, x) and (a, y) are alone."),
    "S2 k-anonyMean": (4 / 3, "Four rows in three classes."),
    "E1 IdRand": (3 / 4, "Three rows have a class of one in the original; the last is taken for the third."),
    "E2 IdSA": (3 / 4, "The last row has only the third in its class, whatever its s."),
    "E3 Sort": (1, "The sums 10, 30, 12, 32 become 10, 30.5, 12, 32, in the same order."),
    "E4 SA21": (1 / 2, "By s alone the first of two equal people is taken: right for the first and the third."),
    "E5 AYA": (1 / 2, "Of eight rows one is declared to be one that all others are nearer to: 4 · 1/8."),
}
BLIND = ("U1 meanMAE", "U2 crossMean", "U3 crossCnt", "U4 corMAE", "U6 nrow", "S1 k-anony", "S2 k-anonyMean")
# The spread of the logarithm of what amounts are multiplied by, and how many households share their mean.
NOISE = 0.2
GROUP = 5


@dataclass(frozen=True)
class Numbered:
    """A release Y, and the row of X that each of its rows is said to be."""

    table: Table
    rows: pl.Series


@dataclass(frozen=True)
class ThesisIndices:
    """Computes the thirteen indices of the first contest on four releases of a made survey.

    Table 21 prints no values, only what each index needs to be told: the release Y alone, the original X too, or also
    the row numbers. That is tried out: an index needs X if another survey in its place changes it, and row numbers if
    shuffling them does. An attack needs what its guess needs, not what its judge does. The needed things are
    counted: 1 is Y, 2 is X and Y, 3 is X, Y and the row numbers.

    The formulas are tried on four rows whose indices are worked out by hand. The table gives one line for each, such as
    "mean absolute error of cross-tabulated counts", and leaves units open: they are Tokumei's, as its catalogue says.

    The thesis tells of teams that shuffled nothing but the row numbers, which leaves utility and classes as they are
    and makes every guess wrong; U5 and E5 were to notice. One of the releases does that.
    """

    title: ClassVar[str] = "The thirteen indices of PWSCUP 2015"
    source: ClassVar[str] = f"{THESIS}, table 21 and section 6.2.4"
    needs: ClassVar[tuple[str, ...]] = ()
    is_quick: ClassVar[bool] = False

    def run(self, data: Path) -> Findings:  # noqa: ARG002
        """Make the releases, compute the indices, and try out what each needs."""
        original, other = _survey(SEED), _survey(SEED + 1)
        releases = make_releases(original)
        found = {name: indices(original, release) for name, release in releases.items()}
        lines = (
            *_worked_rows(),
            *_needs(original, other, releases["noise"]),
            *_shuffled(found["noise"], found["numbers shuffled"]),
        )
        return Findings(lines, remarks=_remarks(found))


def worked_rows() -> dict[str, float]:
    """Compute the indices of four rows, one of them with another r and one with another s."""
    columns: dict[str, list[object]] = {
        "q": list("aabb"),
        "r": list("xyxy"),
        "s": [0.0, 0.0, 2.0, 2.0],
        "t": [10.0, 30.0, 10.0, 30.0],
    }
    changed: dict[str, list[object]] = {"r": list("xyxx"), "s": [0.0, 0.5, 2.0, 2.0]}
    original = _table(columns)
    release = Numbered(_table(columns | changed), pl.Series(range(4)))
    out = {}
    for name, (part, _) in UTILITIES.items():
        out[name] = TABLE_UTILITIES.make(part).measure(original, release.table, release.rows).value
    without_last = release.table.with_frame(release.table.frame.head(3))
    out["U6 nrow"] = RowCount().measure(original, without_last, release.rows.head(3)).value
    amounts = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 1000.0]
    eight = _table({"q": ["a"] * 8, "s": amounts})
    moved = _table({"q": ["a"] * 8, "s": [0.1, *amounts[1:]]})
    # The first row is declared to be the one with 1000, and the last to be the first.
    out["E5 AYA"] = Aya().measure(eight, moved, pl.Series([7, 1, 2, 3, 4, 5, 6, 0])).value
    out |= _of_classes(release)
    out["E1 IdRand"] = IdRand().expect(original, release.table, release.rows).value
    attacks: dict[str, IdSa | Sort | Sa21] = {"E2 IdSA": IdSa("s"), "E3 Sort": Sort(), "E4 SA21": Sa21("s")}
    for name, attack in attacks.items():
        guess = attack.guess(original, release.table, seed=SEED)
        out[name] = judge_rows(guess, release.rows, original.n_rows).value
    return out


def _table(columns: Mapping[str, Sequence[object]]) -> Table:
    known = [name for name in columns if name in ("q", "r")]
    amounts = [name for name in columns if name not in known]
    return Table.with_quasi_identifiers(pl.DataFrame(columns), known, sensitive=amounts, name="worked rows")


def _worked_rows() -> list[StudyLine]:
    """Hold the indices of the worked rows against those worked out by hand."""
    found = worked_rows()
    return [
        StudyLine.near(f"worked rows: {name}", WORKED[name][0], found[name], within=1e-9, why=WORKED[name][1])
        for name in _in_order(WORKED)
    ]


def make_releases(original: Table) -> dict[str, Numbered]:
    """Make the releases: another order, noise on amounts, means of groups, and noise with false row numbers."""
    rng = generator(SEED, "releases")
    rows = pl.Series(rng.permutation(original.n_rows))
    moved = original.frame[rows]
    factors = np.exp(NOISE * rng.standard_normal((len(original.sensitive), original.n_rows)))
    noisy = moved.with_columns(
        (moved[name] * pl.Series(by)).round() for name, by in zip(original.sensitive, factors, strict=True)
    )
    # Neighbors in this order agree in as many traits as can be, and so lose little by sharing them.
    by_traits = sorted(original.quasi_identifiers, key=lambda name: original.frame[name].n_unique())
    order = moved.with_row_index("row").sort(*by_traits, *original.sensitive, "row")["row"].to_numpy()
    group = np.empty(original.n_rows, np.int64)
    group[order] = np.minimum(np.arange(original.n_rows) // GROUP, original.n_rows // GROUP - 1)
    grouped = moved.with_columns(group=pl.Series(group))
    means = grouped.with_columns(
        *(pl.col(name).mode().min().over("group") for name in original.quasi_identifiers),
        *(pl.col(name).mean().over("group") for name in original.sensitive),
    ).drop("group")
    shuffled = rows[rng.permutation(original.n_rows)]
    frames = {"other order": (moved, rows), "noise": (noisy, rows), "means of five": (means, rows)}
    frames["numbers shuffled"] = noisy, shuffled
    return {name: Numbered(original.with_frame(frame), numbers) for name, (frame, numbers) in frames.items()}


def indices(original: Table, release: Numbered) -> dict[str, float]:
    """Compute all indices by their names in the contest."""
    out = {}
    for name, (part, _) in UTILITIES.items():
        out[name] = TABLE_UTILITIES.make(part).measure(original, release.table, release.rows).value
    out |= _of_classes(release)
    for name, (part, _) in ATTACKS.items():
        attack = TABLE_ATTACKS.make(part)
        if isinstance(attack, IdRand):
            # What is expected of its draws, so that no luck is in it.
            out[name] = attack.expect(original, release.table, release.rows).value
        else:
            guess = attack.guess(original, release.table, seed=SEED)
            out[name] = judge_rows(guess, release.rows, original.n_rows).value
    return {name: out[name] for name in _in_order(out)}


def _in_order(names: Iterable[str]) -> list[str]:
    """Sort indices as table 21 does."""
    return sorted(names, key=lambda name: ("USE".index(name[0]), name))


def _of_classes(release: Numbered) -> dict[str, float]:
    counts = count_classes(release.table.frame, release.table.quasi_identifiers)
    return {name: measure.measure(counts).value for name, (measure, _) in CLASSES.items()}


def _survey(seed: int) -> Table:
    frame = make_survey(seed=seed)
    amounts = [name for name in frame.columns if name not in QUASI_IDENTIFIERS]
    return Table.with_quasi_identifiers(frame, QUASI_IDENTIFIERS, sensitive=amounts, name="survey")


def _needs(original: Table, other: Table, release: Numbered) -> list[StudyLine]:
    """Try out what each index needs to be told."""
    again = generator(SEED, "needs").permutation(len(release.rows))
    published = {name: needed for table in (UTILITIES, CLASSES, ATTACKS) for name, (_, needed) in table.items()}
    computed: dict[str, int] = {}
    for name, (part, _) in UTILITIES.items():
        measure = TABLE_UTILITIES.make(part).measure
        computed[name] = _n_needed(
            measure(original, release.table, release.rows).value,
            measure(other, release.table, release.rows).value,
            measure(original, release.table, release.rows[again]).value,
        )
    by_classes, of_shuffled = _of_classes(release), _of_classes(replace(release, rows=release.rows[again]))
    for name, told in by_classes.items():
        # The original cannot matter to them: they are not given it.
        computed[name] = _n_needed(told, told, of_shuffled[name])
    for name, (part, _) in ATTACKS.items():
        guess = TABLE_ATTACKS.make(part).guess
        guesses = [guess(known, release.table, seed=SEED) for known in (original, other)]
        computed[name] = 1 if guesses[0].equals(guesses[1], null_equal=True) else 2
    why = "A count: it is the same or it is not."
    lines = [
        StudyLine.near(f"{name}: things needed", published[name], computed[name], within=0, why=why, digits=0)
        for name in _in_order(published)
    ]
    return [StudyLine.near("indices", N_INDICES, len(computed), within=0, why=why, digits=0), *lines]


def _n_needed(told: float, misled: float, shuffled: float) -> int:
    """Count the things an index needs: 3 if row numbers matter, else 2 if the original does, else 1."""
    if shuffled != told:
        return 3
    return 2 if misled != told else 1


def _shuffled(honest: Mapping[str, float], cheating: Mapping[str, float]) -> list[StudyLine]:
    change = max(abs(cheating[name] - honest[name]) for name in BLIND)
    why = "The text says that shuffled row numbers change neither utility nor k; but for the order of additions."
    lines = [StudyLine.near("numbers shuffled: change of U1 to U4, U6, S1 and S2", 0, change, within=1e-9, why=why)]
    best = max(cheating[name] for name in ATTACKS)
    # A share of rows, each right with this chance; its spread is the root of the chance over the rows.
    expected = 1 / N_ROWS
    spread = 4 * expected
    why = f"Every guess is as good as any: one row of {N_ROWS:,} by chance, and four times the spread of that."
    lines.append(StudyLine.near("numbers shuffled: best of E1 to E4", expected, best, within=spread, why=why, digits=5))
    why = "The text says that both indices worked in the final round: they rise."
    for name in ("U5 IL", "E5 AYA"):
        rise = cheating[name] - honest[name]
        lines.append(StudyLine.at_least(f"numbers shuffled: rise of {name}", 0, rise, why=why))
    return lines


def _remarks(found: Mapping[str, Mapping[str, float]]) -> tuple[str, ...]:
    names = list(found)
    rows = [[index, *(f"{found[name][index]:.4g}" for name in names)] for index in next(iter(found.values()))]
    table = markdown_table(["index", *names], rows)
    return (
        f"The indices of four releases of one made survey of {N_ROWS:,} households, 13 traits and 12 amounts. The "
        "formulas are those of Tokumei's parts: the thesis prints names and one line for each. U1 to U6 are losses, 0 "
        "if nothing is lost; E1 to E4 are the share of rows found, E5 about the share of row numbers that are false."
        f"\n\n{table}",
        "The contest ranked teams by their ranks in the indices. Its data and releases are not published, so that the "
        "distribution of figure 62 cannot be drawn.",
    )
