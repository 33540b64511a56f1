"""PWSCUP 2021: a health survey; teams hide who was left out and whose each row is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tokumei.contest.checks import FILE_FORM, Together
from tokumei.contest.edition import (
    ContestTerms,
    Edition,
    FileRole,
    Files,
    GuessScore,
    Measure,
    ReleaseScore,
    Rule,
    Standing,
    TeamEntry,
    check_at_least,
    chosen_part,
    read_once,
)
from tokumei.contest.editions import nhanes
from tokumei.contest.editions.pwscup2021 import players
from tokumei.contest.editions.pwscup2021.players import LIMITS, N_GUESSES, OUT, beyond, use_of, without
from tokumei.contest.measures import BASELINE
from tokumei.contest.season import place_teams
from tokumei.contest.tables import (
    CELLS,
    ROW_NUMBERS,
    Ints,
    read_numbers,
    read_table,
    write_numbers,
    write_table,
)
from tokumei.core.errors import InputError
from tokumei.core.seeds import generator
from tokumei.core.text import Text

TYPES = nhanes.column_types(age=(13, 85), bmi=(13, 75))
LEFT_OUT = Rule(
    "left-out",
    "X holds different numbers of rows of B, counted from 0; D has a row for each of the others, more than half.",
    "X には B の行番号（0 から）を重複なく書く。D は残りの行と同じ行数とし、B の半数を超えること。",
)
MEASURES: Sequence[Measure] = (
    Measure(
        "use",
        "The largest of five numbers, each as a share of its limit: 0 if nothing moved, 1 at the limit of one.",
        "5つの指標の上限に対する割合の最大値。0 は変化なし、1 はどれか1つが上限に達した状態。",
    ),
    Measure(
        "uniqrt", "Kept rows that are unique by decades, of B.", "残した行のうち10刻みで一意な行の B に対する割合。"
    ),
    Measure("rate", "How far shares of values moved, the worst.", "値の比率のずれの最大値。"),
    Measure(
        "OR", "How far odds ratios of a regression moved, the worst.", "ロジスティック回帰のオッズ比のずれの最大値。"
    ),
    Measure("cor", "How far correlations moved, the worst.", "相関係数のずれの最大値。"),
    Measure(
        "iloss",
        "How far a row's age or bmi, or how many of its cells, moved.",
        "行ごとの age・bmi のずれと変更セル数の最大値。",
    ),
    Measure(
        "risk",
        "Recall × precision of who is in × share of them whose row is among three guesses: 0 if none, 1 if all.",
        "在否の再現率 × 適合率 × 3つの推定に正しい行が含まれる割合。0 は皆無、1 はすべて。",
        title="rows found",
        title_ja="特定した行",
    ),
    BASELINE,
)


@dataclass(frozen=True)
class Pwscup2021(Edition):
    """Leave out rows of a health survey and change the others, so that nobody tells who is in and which row is whose.

    Attackers get people of both kinds and name three rows for each, or say that they were left out.
    """

    ANONYMIZERS = players.ANONYMIZERS
    ATTACKS = players.ATTACKS

    n_rows: int = field(default=4190, metadata={"help": "People in the survey."})
    n_targets: int = field(default=100, metadata={"help": "People whose rows attackers look for; half were left out."})

    def __post_init__(self) -> None:
        check_at_least(self, n_rows=20, n_targets=2)

    @property
    def terms(self) -> ContestTerms:
        """What the edition says of itself."""
        limits = ", ".join(f"{name} {limit:g}" for name, limit in LIMITS.items())
        return ContestTerms(
            title="PWSCUP 2021",
            title_ja="PWSCUP 2021（健康調査データの匿名化）",
            summary=f"B has {self.n_rows:,} people of a health survey. A team leaves out rows (X) and changes the "
            f"others (D), in their order. Attackers get {self.n_targets} people, half of whom were left out, and "
            "guess three rows of D for each, or -1. Teams rank by the risk that the best attacker finds; a release "
            f"beyond a limit ({limits}) has risk 1. What the contest left open is decided so: all teams have one B, "
            "which attackers know, as in the first round, with the limits of the second; who is asked for is drawn "
            "anew for each release; where there are fewer of a kind, all are; 0/0 is 0. Rows keep their order, as in "
            "the contest, and it gives them away.",
            summary_ja=f"B は健康調査の{self.n_rows:,}人の表である。チームは一部の行を削除し（X）、残りを加工して"
            f"元の順序で"
            f"提出する（D）。攻撃者は{self.n_targets}人（半数は削除された人）について、D の行番号を3つまで、または"
            f"削除を示す"
            "-1 を推定する。最良の攻撃者が得たリスクの小さい順とし、上限"
            f"（{limits}）を超えた加工データのリスクは 1 とする。原文に曖昧さのある点は次のとおり定める：B は予備"
            f"戦と同じく"
            "全チーム共通で攻撃者も知るものとし、上限は本戦の値を使う。対象者は加工データごとに抽出し、足りない場合は"
            "全員とする。0/0 は 0 とする。行の順序はコンテストどおり保つため、順序自体が手がかりになる。",
            data_files=(FileRole("B", "the survey, 12 columns", "健康調査の表（12列）"),),
            release_files=(
                FileRole("D", "the kept rows, changed", "残した行の加工データ"),
                FileRole("X", "the rows of B that were left out", "削除した B の行番号"),
            ),
            published_files=(
                FileRole("D", "the released rows", "加工データ"),
                FileRole("C", "people whose rows are looked for", "推定の対象者"),
            ),
            truth_files=(FileRole("Ea", "the row of D of each, or -1", "各対象者の D の行番号（削除は -1）"),),
            guess_files=(FileRole("E", "three rows of D for each, or -1", "各対象者の D の行番号3つ（削除は -1）"),),
            knowledge_files={"": ()},
            release_rules=(FILE_FORM, CELLS, ROW_NUMBERS, LEFT_OUT),
            guess_rules=(FILE_FORM, ROW_NUMBERS),
            measures=MEASURES,
        )

    def make_data(self, folder: Path, *, seed: int, source: Path | None = None) -> None:
        """Write B: drawn from a file of its form, or made up without one."""
        write_table(nhanes.survey(self.n_rows, seed, source), folder / "B.csv")

    def check(self, data: Files, release: Files) -> None:
        """Raise one InputError with every fault of D and X."""
        together, n = Together(), read_once(data, nhanes.read_survey).height
        out = together.try_to(lambda: _read_out(release["X"], n))
        changed = together.try_to(lambda: read_table(release["D"], TYPES))
        together.raise_if_any()
        if out is not None and changed is not None and changed.height != n - len(out):
            expected = Text("{n:,} rows, those that are not in X", n=n - len(out))
            raise InputError.of(expected, file=release["D"], value=changed.height).under(LEFT_OUT.name)

    def score(self, data: Files, knowledge: Files, release: Files) -> ReleaseScore:
        """Return the numbers of use; only attacks of other teams tell how safe a release within limits is."""
        people, changed = read_once(data, nhanes.read_survey), read_table(release["D"], TYPES)
        kept = without(people, read_numbers(release["X"])[:, 0])
        found = use_of(people, kept, changed)
        worst = beyond(found)
        return ReleaseScore({"utility": found, "use": worst}, min(1.0, worst), 1.0 if worst > 1 else None)

    def publish(self, data: Files, release: Files, folder: Path, truth_folder: Path, *, seed: int) -> None:
        """Write D as it is, and people of both kinds in the order of B; apart from them their rows."""
        people, out = read_once(data, nhanes.read_survey), read_numbers(release["X"])[:, 0]
        write_table(read_table(release["D"], TYPES), folder / "D.csv")
        asked, truth = drawn_targets(people.height, out, self.n_targets, int(generator(seed, "asked").integers(2**32)))
        write_table(people[asked], folder / "C.csv")
        write_numbers(truth, truth_folder / "Ea.csv")

    def check_guess(self, data: Files, published: Files, guess: Files) -> None:
        """Raise one InputError with every fault of E."""
        n_asked, n = (read_table(published[name], nhanes.PEOPLE).height for name in ("C", "D"))
        read_numbers(guess["E"], N_GUESSES, n_asked, least=OUT, most=n - 1)

    def judge(self, data: Files, published: Files, truth: Files, guess: Files) -> GuessScore:
        """Return the risk: how well was told who is in, and whose row is among the three."""
        right = read_numbers(truth["Ea"], least=OUT)[:, 0]
        recall, precision, top = found_of(right, read_numbers(guess["E"], N_GUESSES, least=OUT))
        baseline = N_GUESSES / max(1, read_table(published["D"], TYPES).height) / 2
        details = {"risk": recall * precision * top, "recall": recall, "precision": precision, "top": top}
        return GuessScore(recall * precision * top, details | {"baseline": baseline})

    def rank(self, entries: Sequence[TeamEntry]) -> list[Standing]:
        """Order the teams by their risk; beyond a limit it is 1."""
        lines = []
        for entry in entries:
            is_out = entry.release.safety is not None
            risk = 1.0 if is_out else self.terms.attack_rule.found_by_others(entry)
            reason = "its use is beyond a limit" if is_out else ""
            lines.append(Standing(0, entry.team, risk, entry.release.utility, risk, reason=reason))
        return place_teams(lines)

    def anonymize(self, name: str, data: Files, folder: Path, *, seed: int) -> None:
        """Write D and X as a built-in anonymizer makes them."""
        people = read_once(data, nhanes.read_survey)
        out, changed = chosen_part("anonymizer", name, players.ANONYMIZERS)(people, seed)
        write_numbers(out, folder / "X.csv")
        write_table(changed, folder / "D.csv")

    def attack(self, name: str, data: Files, knowledge: Files, published: Files, folder: Path, *, seed: int) -> None:
        """Write E as a built-in attack guesses it; none of them needs luck."""
        play = chosen_part("attack", name, players.ATTACKS)
        asked, changed = (read_table(published[name], nhanes.PEOPLE) for name in ("C", "D"))
        write_numbers(play(read_once(data, nhanes.read_survey), asked, changed), folder / "E.csv")


def _read_out(path: Path, n_rows: int) -> Ints:
    out = read_numbers(path, most=n_rows - 1)[:, 0]
    if len(np.unique(out)) < len(out) or 2 * len(out) >= n_rows:
        raise InputError.of("different rows, less than half of B", file=path).under(LEFT_OUT.name)
    return out


def drawn_targets(n_rows: int, out: Ints, n: int, seed: int) -> tuple[Ints, Ints]:
    """Draw people who were left out, and as many others, in their order; of each the row of D or -1 (`pick`)."""
    kept = np.setdiff1d(np.arange(n_rows), out)
    drawn = [np.random.RandomState(seed).permutation(len(rows))[: n // 2] for rows in (out, kept)]
    asked = np.sort(np.concatenate([out[drawn[0]], kept[drawn[1]]]))
    is_kept = np.isin(asked, kept)
    return asked, np.where(is_kept, np.searchsorted(kept, asked), OUT)


def found_of(right: Ints, guessed: Ints) -> tuple[float, float, float]:
    """Return recall and precision of who is in, and the share of those whose row is among the guesses (`lmark`)."""
    is_in, is_told = right != OUT, guessed[:, 0] != OUT
    both = float((is_in & is_told).sum())
    n_top = float((guessed[is_in] == right[is_in, None]).any(axis=1).sum())
    n_in, n_told = max(1.0, float(is_in.sum())), max(1.0, float(is_told.sum()))
    return both / n_in, both / n_told, n_top / n_in
