"""PWSCUP 2019: traces of two groups of people; in one nobody should find the people, in the other not the places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

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
    chosen_part,
)
from tokumei.contest.editions.pwscup2019 import players
from tokumei.contest.editions.pwscup2019.attacks import ATTACKS
from tokumei.contest.editions.pwscup2019.files import (
    CELL,
    N_CELLS,
    PSEUDONYM,
    SLOTS_A_DAY,
    USER,
    Ints,
    Released,
    Traces,
    identity_safety,
    read_guess,
    read_public,
    read_released,
    read_traces,
    trace_safety,
    utility,
    write_lines,
    write_public,
    write_traces,
)
from tokumei.contest.measures import BASELINE
from tokumei.contest.season import place_teams
from tokumei.core.errors import FaultList, InputError
from tokumei.core.seeds import generator

# The set that is judged by who is found, and the one judged by where they were.
IDP, TRP = SETS = ("IDP", "TRP")
FORM = Rule(
    "file-form",
    "The file is text with its header; lines hold what the header names.",
    "ファイルはヘッダー付きのテキストとし、各行にはヘッダーどおりの値を書く。",
)
SAME_ROWS = Rule(
    "same-rows",
    "There is a line for each user and time of the original, in its order.",
    "行数と行の順序は元のトレースと同じとする。",
)
RELEASE_RULES = (
    FORM,
    SAME_ROWS,
    Rule(
        "cell",
        "A line is a cell from 1 to 1024, several with one blank between them, or *; a star stands alone.",
        "各行は 1〜1024 の領域ID、空白1つで区切った複数の領域ID、または単独の * とする。",
    ),
    Rule(
        "useful", "The use of each of both sets is at least the limit.", "2つのデータの有用性は、ともに下限以上とする。"
    ),
)
GUESS_RULES = (
    FORM,
    SAME_ROWS,
    Rule("known", "A user or a cell is one that exists.", "ユーザーや領域は存在するものに限る。"),
)
MEASURES: Sequence[Measure] = (
    Measure(
        "utility",
        "1 less the mean distance to what is told, 2 km and more being 1: 1 if every cell stayed, 0 if all are lost.",
        "1 から、公開された場所までの距離（2km 以上は 1）の平均を引いた値。1 はすべて元のまま、0 はすべて失われた"
        "状態。",
    ),
    Measure(
        "identity",
        "Share of pseudonyms whose user was named: 0 if none, 1 if all.",
        "ユーザーを言い当てた仮名の割合。0 は皆無、1 はすべて。",
        title="users found",
        title_ja="特定したユーザー",
    ),
    Measure(
        "trace",
        "Weighted share of places found, near ones in part, hospitals ten times: 0 if none, 1 if all.",
        "言い当てた場所の割合（近ければ部分点、病院は10倍の重み）。0 は皆無、1 はすべて。",
        title="places found",
        title_ja="特定した場所",
    ),
    Measure(
        "total",
        "Mean of what the best attackers found of users and of places: lower is better.",
        "最良の攻撃者が特定したユーザーと場所の平均。小さいほどよい。",
    ),
    BASELINE,
)


@dataclass(frozen=True)
class Pwscup2019(Edition):
    """Release the traces of two groups of people: in one nobody should find the people, in the other not their places.

    Every team has traces of its own. Attackers get an earlier trace of each user and the released later ones under
    pseudonyms.
    """

    # A1 to A5 of the contest; its I1 to I3 with T1 to T3, and ours.
    ANONYMIZERS = players.ANONYMIZERS
    ATTACKS = ATTACKS

    n_users: int = field(default=2000, metadata={"help": "Users in each of a team's two sets."})
    n_slots: int = field(
        default=40, metadata={"help": "Half hours in each half of the time: 40 first, 400 in the end."}
    )
    least_use: float = field(default=0.7, metadata={"help": "The use that a release must have."})

    def __post_init__(self) -> None:
        if self.n_users < 2:
            raise InputError.of("at least 2 users", option="n_users", value=self.n_users)
        if self.n_slots < SLOTS_A_DAY or self.n_slots % SLOTS_A_DAY:
            raise InputError.of(f"whole days of {SLOTS_A_DAY} half hours", option="n_slots", value=self.n_slots)
        if not 0 <= self.least_use <= 1:
            raise InputError.of("a share from 0 to 1", option="least_use", value=self.least_use)

    @property
    def terms(self) -> ContestTerms:
        """What the edition says of itself."""
        return ContestTerms(
            title="PWSCUP 2019",
            title_ja="PWSCUP 2019（位置情報トレースの匿名化）",
            summary=f"Each team has two sets of {self.n_users:,} users of its own, IDP and TRP: where each was in "
            f"{self.n_slots:,} half hours before and as many after, on a map of 32 × 32 cells. It releases the later "
            f"traces of both, with use of at least {self.least_use:g}. They are published under pseudonyms beside the "
            "earlier traces. Attackers name the user of each pseudonym of IDP, and the cell of each user and time of "
            "TRP. Teams rank by the mean of what the best attackers found, lower is better. What the contest left open "
            "is decided so: a team hands in both sets; a guess answers both; a star stands alone; surplus lines are "
            "refused; a release that is of too little use is refused, where it scored 0. The contest's own generator "
            "of traces is not public, so that these are made up in another way.",
            summary_ja=f"各チームは自分だけの2つのデータ IDP と TRP（各{self.n_users:,}ユーザー）を持つ。32 × 32 の"
            f"領域の地図で、前半{self.n_slots:,}コマと後半{self.n_slots:,}コマの30分ごとの居場所である。後半のトレースを加工し、"
            f"有用性 {self.least_use:g} 以上で提出する。加工データは仮名で、前半のトレースとともに公開される。攻撃者は "
            "IDP の各仮名のユーザーと、TRP の各ユーザー・各時刻の領域を推定し、最良の攻撃者が特定した割合の平均の小さい"
            "順とする。原文に曖昧さのある点は次のとおり定める：チームは両方のデータを提出し、推定も両方に答える。"
            "* は単独で書く。余分な行は差し戻す。有用性が足りない加工データは 0 点とせず差し戻す。元のトレース生成器は"
            "公開されていないため、別の方法で作ったトレースを使う。",
            data_files=(),
            own_files=tuple(
                FileRole(f"{half}_{name}", f"the {said} traces of {name}", f"{name} の{said_ja}のトレース")
                for name in SETS
                for half, said, said_ja in (("org", "later", "後半"), ("ref", "earlier", "前半"))
            ),
            release_files=tuple(
                FileRole(f"ano_{name}", f"the cells of org_{name}", f"org_{name} の加工後の領域") for name in SETS
            ),
            published_files=(
                *(FileRole(f"pub_{name}", f"ano_{name} by pseudonyms", f"仮名順の ano_{name}") for name in SETS),
                *(
                    FileRole(f"ref_{name}", f"the earlier traces of {name}", f"{name} の前半のトレース")
                    for name in SETS
                ),
            ),
            truth_files=(
                FileRole("ptable", "the user of each pseudonym of IDP", "IDP の各仮名のユーザー"),
                FileRole("org", "the later traces of TRP", "TRP の後半のトレース"),
            ),
            guess_files=(
                FileRole("etable", "a user for each pseudonym of IDP", "IDP の各仮名のユーザーの推定"),
                FileRole("etraces", "a cell for each user and time of TRP", "TRP の各ユーザー・各時刻の領域の推定"),
            ),
            knowledge_files={"": ()},
            release_rules=RELEASE_RULES,
            guess_rules=GUESS_RULES,
            measures=MEASURES,
        )

    def make_data(self, folder: Path, *, seed: int, source: Path | None = None) -> None:
        """Nothing is for everybody: each team's traces are made up for it."""
        if source is not None:
            raise InputError.of("no source: traces are made up for each team", file=source)

    def draw_own(self, data: Files, folder: Path, *, seed: int) -> None:
        """Write the earlier and the later traces of both sets."""
        for place, name in enumerate(SETS):
            number = int(generator(seed, "traces", str(place)).integers(2**62))
            for half, traces in zip(
                ("ref", "org"), players.make_traces(self.n_users, self.n_slots, number), strict=True
            ):
                write_traces(folder / f"{half}_{name}.csv", traces)

    def check(self, data: Files, release: Files) -> None:
        """Raise one InputError with every fault of both sets."""
        for name, found in self._uses(data, release):
            if found < self.least_use:
                faults = FaultList(str(release[f"ano_{name}"]))
                known = {"least": f"{self.least_use:g}"}
                faults.add("a use of at least {least}", value=f"{found:.4f}", rule="useful", parameters=known)
                faults.raise_if_any()

    def score(self, data: Files, knowledge: Files, release: Files) -> ReleaseScore:
        """Return the use of both sets; only attacks of other teams tell how safe they are."""
        found = dict(self._uses(data, release))
        return ReleaseScore({"utility": found}, 1 - sum(found.values()) / len(found))

    def _uses(self, data: Files, release: Files) -> Iterator[tuple[str, float]]:
        for name in SETS:
            yield name, utility(self._read(data[f"org_{name}"]), self._read_release(release[f"ano_{name}"]))

    def publish(self, data: Files, release: Files, folder: Path, truth_folder: Path, *, seed: int) -> None:
        """Write both sets by pseudonyms beside the earlier traces, and apart from them who and where they were."""
        for name in SETS:
            original = self._read(data[f"org_{name}"])
            users = players.shuffled_users(self.n_users, _stream(seed, name))
            released = self._read_release(release[f"ano_{name}"]).by_user(users)
            write_public(folder / f"pub_{name}.csv", released, original.first_time)
            write_traces(folder / f"ref_{name}.csv", self._read(data[f"ref_{name}"]))
            if name == IDP:
                names = range(self.n_users + 1, 2 * self.n_users + 1)
                write_lines(truth_folder / "ptable.csv", [PSEUDONYM, USER], names, (users + 1).tolist())
            else:
                write_traces(truth_folder / "org.csv", original)

    def check_guess(self, data: Files, published: Files, guess: Files) -> None:
        """Raise one InputError with every fault of the guess."""
        self._read_guess(guess)

    def judge(self, data: Files, published: Files, truth: Files, guess: Files) -> GuessScore:
        """Return the mean of the share of users and of the share of places that were found."""
        named, cells = self._read_guess(guess)
        users = read_ptable(truth["ptable"])
        identity = 1 - identity_safety(users, named)
        trace = 1 - trace_safety(self._read(truth["org"]), cells)
        details = {"identity": identity, "trace": trace, "baseline": 1 / self.n_users}
        return GuessScore((identity + trace) / 2, details)

    def rank(self, entries: Sequence[TeamEntry]) -> list[Standing]:
        """Order the teams by the mean of what the best attackers found of users and of places."""
        lines = []
        for entry in entries:
            others = [one.score.details for one in entry.attempts if one.attacker != entry.team]
            found = {name: max((float(one[name]) for one in others), default=0.0) for name in ("identity", "trace")}
            value = sum(found.values()) / 2
            lines.append(Standing(0, entry.team, value, entry.release.utility, value, found))
        return place_teams(lines)

    def anonymize(self, name: str, data: Files, folder: Path, *, seed: int) -> None:
        """Write both sets as a built-in anonymizer makes them."""
        play = chosen_part("anonymizer", name, players.ANONYMIZERS)
        for one in SETS:
            released = play(self._read(data[f"org_{one}"]), _stream(seed, one))
            write_lines(folder / f"ano_{one}.csv", [CELL], released.words)

    def attack(self, name: str, data: Files, knowledge: Files, published: Files, folder: Path, *, seed: int) -> None:
        """Write both guesses as a built-in attack makes them."""
        play = chosen_part("attack", name, ATTACKS)
        for one in SETS:
            released = read_public(published[f"pub_{one}"], self.n_users, self.n_slots)
            reference, stream = self._read(published[f"ref_{one}"]), _stream(seed, one)
            users, cells = play(released, reference, stream, is_once=one == TRP)
            if one == IDP:
                write_lines(folder / "etable.csv", [USER], (users + 1).tolist())
            else:
                write_lines(folder / "etraces.csv", [CELL], (cells().ravel() + 1).tolist())

    def _read(self, path: Path) -> Traces:
        return read_traces(path, self.n_users, self.n_slots)

    def _read_release(self, path: Path) -> Released:
        return read_released(path, self.n_users, self.n_slots)

    def _read_guess(self, guess: Files) -> tuple[Ints, Ints]:
        named = read_guess(guess["etable"], USER, self.n_users, self.n_users)
        return named, read_guess(guess["etraces"], CELL, self.n_users * self.n_slots, N_CELLS)


def read_ptable(path: Path) -> Ints:
    """Read the user of each pseudonym, counted from 0."""
    lines = path.read_text(encoding="ascii").split()[1:]
    return np.array([int(line.split(",")[1]) - 1 for line in lines])


def _stream(seed: int, name: str) -> players.Stream:
    return players.Stream(generator(seed, name).integers(0, 2**32, 4, dtype=np.uint32))
