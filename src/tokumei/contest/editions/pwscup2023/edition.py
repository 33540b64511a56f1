"""PWSCUP 2023: digits, some of them public; teams hide which secret part belongs to which public one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tokumei.attacks.judge import wilson_interval
from tokumei.contest.edition import (
    ContestTerms,
    Edition,
    FileRole,
    Files,
    GuessScore,
    Measure,
    ReleaseScore,
    Standing,
    TeamEntry,
    chosen_part,
    read_once,
)
from tokumei.contest.editions.pwscup2023 import players
from tokumei.contest.editions.pwscup2023.files import (
    GUESS_RULES,
    N_SECRET,
    RELEASE_RULES,
    ZERO,
    check_release,
    read_cells,
    read_digits,
    sorted_cells,
    write_cells,
    write_digits,
)
from tokumei.contest.editions.pwscup2023.stream import Digits, public_table, secret_table
from tokumei.contest.measures import BASELINE, INTERVAL
from tokumei.contest.season import place_teams
from tokumei.core.errors import InputError
from tokumei.core.seeds import generator

MEASURES: Sequence[Measure] = (
    Measure(
        "utility",
        "Share of all cells of A that are as in the original: 0 if none, 1 if all; a deleted cell is not.",
        "A の全セルのうち元のままのものの割合。0 は皆無、1 はすべて。削除したセルは数えない。",
    ),
    Measure(
        "match",
        "Share of the secret cells that were guessed: .1 by luck, 1 if all.",
        "秘密のセルのうち当てた割合。偶然なら 0.1、すべてなら 1。",
        title="secret cells found",
        title_ja="当てた秘密のセル",
    ),
    Measure(
        "total",
        "1 − (use + safety) / 2, where safety is 1 less what the best attacker found: lower is better.",
        "1 −（有用性 + 安全性）/ 2。安全性は 1 から最良の攻撃者が当てた割合を引いた値。小さいほどよい。",
    ),
    BASELINE,
    INTERVAL,
)


@dataclass(frozen=True)
class Pwscup2023(Edition):
    """Release a table of digits in which nobody finds a row's ten secret cells by its public ones.

    Everybody has the public columns; a team draws the secret ones from a seed of its choice. Lines are sorted before
    attackers see them.
    """

    ANONYMIZERS = players.ANONYMIZERS
    ATTACKS = players.ATTACKS

    n_rows: int = field(default=100_000, metadata={"help": "Rows of the table."})
    n_public: int = field(default=8, metadata={"help": "Public columns: 6 in the first round, 8 in the main one."})
    public_seed: int | None = field(
        default=None,
        metadata={"help": "Seed of P: 123456789 in the first round, 123123123 in the main one; drawn if none."},
    )

    def __post_init__(self) -> None:
        for option, least in (("n_rows", 2), ("n_public", 1), ("public_seed", 0)):
            value = getattr(self, option)
            if value is not None and value < least:
                raise InputError.of(f"at least {least}", option=option, value=value)

    @property
    def terms(self) -> ContestTerms:
        """What the edition says of itself."""
        n_columns = self.n_public + N_SECRET
        return ContestTerms(
            title="PWSCUP 2023",
            title_ja="PWSCUP 2023（数字の表の匿名化）",
            summary=f"P has {self.n_rows:,} rows of {self.n_public} public digits. Each team draws {N_SECRET} secret "
            "columns R from a seed of its own, and releases A: P and R side by side, any cell changed to another "
            "digit or deleted (*). Attackers see the lines of A, sorted, and guess R. Use is the share of cells "
            "unchanged, safety 1 less the share that the best attacker found; teams rank by 1 − the mean of both, "
            "equal ones by safety. What the contest left open is decided so: lines are sorted by bytes, a star before "
            "commas and digits; only the first line of seed.txt is looked at; a guess is about one release, in "
            "f.csv, without my_id.txt. A seed is drawn from a generator that can be cracked, which the rules forbid.",
            summary_ja=f"P は公開の数字{self.n_public}列、{self.n_rows:,}行の表である。各チームは自分で選んだシードから"
            f"秘密の{N_SECRET}列 R を生成し、P と R を横に並べ、任意のセルを別の数字に変えるか削除（*）した表 A を"
            "提出する。攻撃者は行を整列した A を見て R を推定する。有用性は元のままのセルの割合、安全性は 1 から"
            "最良の攻撃者が当てた割合を引いた値で、1 − 両者の平均の小さい順、同点なら安全性の高い順とする。"
            "原文に曖昧さのある点は次のとおり定める：行はバイト順（* はカンマと数字より前）に整列する。seed.txt は"
            "1行目だけを見る。推定は1つの加工データについて f.csv で提出し、my_id.txt は不要とする。"
            "シードの乱数は解読できる方式だが、解読は禁止する。",
            data_files=(FileRole("p", f"{self.n_public} public columns", f"公開の{self.n_public}列"),),
            release_files=(
                FileRole("a", f"{n_columns} columns, digits or *", f"{n_columns}列（数字または *）"),
                FileRole("r", f"the {N_SECRET} secret columns", f"秘密の{N_SECRET}列"),
                FileRole("seed", "the seed of r", "r のシード", ".txt"),
            ),
            published_files=(FileRole("b", "the lines of a, sorted", "a の行を整列したもの"),),
            truth_files=(FileRole("r", f"the {N_SECRET} secret columns", f"秘密の{N_SECRET}列"),),
            guess_files=(FileRole("f", "the guess of r, in the order of p", "r の推定（p の行順）"),),
            knowledge_files={"": ()},
            release_rules=RELEASE_RULES,
            guess_rules=GUESS_RULES,
            measures=MEASURES,
        )

    def make_data(self, folder: Path, *, seed: int, source: Path | None = None) -> None:
        """Write P: from a file, as the contest drew it, or drawn afresh in its way."""
        if source is not None:
            public = read_digits(source, self.n_public, self.n_rows)
        else:
            public = public_table(self.n_rows, self.n_public, seed if self.public_seed is None else self.public_seed)
        write_digits(public, folder / "p.csv")

    def check(self, data: Files, release: Files) -> None:
        """Raise one InputError with every fault of A, R and the seed."""
        self._read_public(data)
        check_release(self.n_rows, self.n_public, release["a"], release["r"], release["seed"])

    def score(self, data: Files, knowledge: Files, release: Files) -> ReleaseScore:
        """Return the share of cells that are as they were; only attacks of other teams tell how safe A is."""
        released = read_cells(release["a"], self.n_public + N_SECRET, self.n_rows, may_delete=True) - np.uint8(ZERO)
        public, secret = self._read_public(data), read_digits(release["r"], N_SECRET, self.n_rows)
        n_same = int((released[:, : self.n_public] == public).sum() + (released[:, self.n_public :] == secret).sum())
        utility = n_same / released.size
        return ReleaseScore({"utility": utility}, 1 - utility)

    def publish(self, data: Files, release: Files, folder: Path, truth_folder: Path, *, seed: int) -> None:
        """Write the sorted lines of A, and apart from them R; sorting is an order that tells nothing."""
        cells = read_cells(release["a"], self.n_public + N_SECRET, self.n_rows, may_delete=True)
        write_cells(sorted_cells(cells), folder / "b.csv")
        write_digits(read_digits(release["r"], N_SECRET, self.n_rows), truth_folder / "r.csv")

    def check_guess(self, data: Files, published: Files, guess: Files) -> None:
        """Raise one InputError with every fault of F."""
        read_digits(guess["f"], N_SECRET, self.n_rows)

    def judge(self, data: Files, published: Files, truth: Files, guess: Files) -> GuessScore:
        """Return the share of secret cells that are right, and what luck finds."""
        secret, guessed = (read_digits(path, N_SECRET, self.n_rows) for path in (truth["r"], guess["f"]))
        n_right = int((secret == guessed).sum())
        interval = list(wilson_interval(n_right, secret.size))
        details = {"match": n_right / secret.size, "baseline": 0.1, "interval": interval}
        return GuessScore(n_right / secret.size, details)

    def rank(self, entries: Sequence[TeamEntry]) -> list[Standing]:
        """Order the teams by 1 − the mean of use and safety, and equal ones by safety."""
        lines = []
        for entry in entries:
            found = self.terms.attack_rule.found_by_others(entry)
            value = (entry.release.utility + found) / 2
            lines.append(Standing(0, entry.team, value, entry.release.utility, found))
        return place_teams(lines, tie=lambda line: line.safety or 0.0)

    def anonymize(self, name: str, data: Files, folder: Path, *, seed: int) -> None:
        """Write A, R and a seed of R as a built-in team makes them."""
        play = chosen_part("anonymizer", name, players.ANONYMIZERS)
        # Below 10²⁰, as the contest's example; NumPy's whole numbers end before.
        high, low = generator(seed, "secret").integers(0, 10**10, 2).tolist()
        number = high * 10**10 + low
        secret = secret_table(self.n_rows, N_SECRET, number)
        original = np.hstack([self._read_public(data), secret]) + np.uint8(ZERO)
        write_cells(play(original, self.n_public, seed), folder / "a.csv")
        write_digits(secret, folder / "r.csv")
        (folder / "seed.txt").write_text(f"{number}\n", encoding="ascii")

    def attack(self, name: str, data: Files, knowledge: Files, published: Files, folder: Path, *, seed: int) -> None:
        """Write F as a built-in attack guesses it."""
        play = chosen_part("attack", name, players.ATTACKS)
        cells = read_cells(published["b"], self.n_public + N_SECRET, self.n_rows, may_delete=True)
        write_digits(play(self._read_public(data), cells, seed), folder / "f.csv")

    def _read_public(self, data: Files) -> Digits:
        return read_once(data, self._read_p)

    def _read_p(self, data: Files) -> Digits:
        return read_digits(data["p"], self.n_public, self.n_rows)
