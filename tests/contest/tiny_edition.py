"""The smallest whole edition: rows of a name and a number, released with other numbers in another order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tokumei.contest.edition import (
    ContestTerms,
    Edition,
    FileRole,
    Files,
    GuessScore,
    ReleaseScore,
    Rule,
    Standing,
    TeamEntry,
)
from tokumei.core.errors import FaultList
from tokumei.core.seeds import generator


@dataclass(frozen=True)
class Tiny(Edition):
    """A release is one number for each row; a guess says which row each published number came from."""

    n_rows: int = 6
    n_releases: int = 3
    n_guesses: int = 2

    @property
    def terms(self) -> ContestTerms:
        return ContestTerms(
            title="Tiny",
            title_ja="小さな匿名化",
            summary="Numbers are anonymized.",
            summary_ja="数を匿名化します。",
            data_files=[FileRole("D", "a name and a number a row", "名前と数")],
            release_files=[FileRole("R", "a number a row", "行ごとの数")],
            published_files=[FileRole("P", "the numbers, shuffled", "並べ替えた数")],
            truth_files=[FileRole("F", "the row of each number", "各数の行番号")],
            guess_files=[FileRole("G", "the guessed row of each number", "推定した行番号")],
            knowledge_files={
                "half": [FileRole("K50", "half of the rows", "半分の行")],
                "all": [FileRole("K100", "all rows", "すべての行")],
            },
            release_rules=[
                Rule("rows", "As many rows as in D.", "D と同じ行数。"),
                Rule("number", "A row is a whole number.", "各行は整数。"),
            ],
            guess_rules=[Rule("row", "A row is a row number of D.", "各行は D の行番号。")],
            n_releases_allowed=self.n_releases,
            n_guesses_allowed=self.n_guesses,
        )

    def make_data(self, folder: Path, *, seed: int, source: Path | None = None) -> None:
        if source is not None:
            (folder / "D.csv").write_bytes(source.read_bytes())
            return
        numbers = generator(seed, "numbers").integers(0, 100, self.n_rows)
        _write(folder / "D.csv", [f"n{row},{number}" for row, number in enumerate(numbers)])

    def draw_knowledge(self, data: Files, folder: Path, *, seed: int) -> None:
        rows = _read(data["D"])
        known = set(generator(seed, "known").permutation(len(rows))[: len(rows) // 2].tolist())
        _write(folder / "K50.csv", [row if place in known else "," for place, row in enumerate(rows)])
        _write(folder / "K100.csv", rows)

    def check(self, data: Files, release: Files) -> None:
        faults = FaultList(str(release["R"]))
        rows = _read(release["R"])
        if len(rows) != len(_read(data["D"])):
            faults.add("as many rows as in D", value=len(rows), rule="rows")
        for line, row in enumerate(rows, 1):
            if not (row.isascii() and row.isdecimal()):
                faults.add("a whole number", line=line, value=row, rule="number")
        faults.raise_if_any()

    def score(self, data: Files, knowledge: Files, release: Files) -> ReleaseScore:
        pairs = zip(_numbers(data["D"]), _read(release["R"]), strict=True)
        moved = [abs(number - int(row)) / 100 for number, row in pairs]
        assert set(knowledge) == {"K50", "K100"}
        return ReleaseScore({"moved": sum(moved)}, sum(moved) / len(moved))

    def publish(self, data: Files, release: Files, folder: Path, truth_folder: Path, *, seed: int) -> None:
        rows = _read(release["R"])
        order = generator(seed, "order").permutation(len(rows)).tolist()
        _write(folder / "P.csv", [rows[place] for place in order])
        _write(truth_folder / "F.csv", [str(place) for place in order])

    def check_guess(self, data: Files, published: Files, guess: Files) -> None:
        faults = FaultList(str(guess["G"]))
        rows, n_rows = _read(guess["G"]), len(_read(data["D"]))
        if len(rows) != len(_read(published["P"])):
            faults.add("as many rows as in P", value=len(rows), rule="row")
        for line, row in enumerate(rows, 1):
            if not (row.isascii() and row.isdecimal() and int(row) < n_rows):
                faults.add("a row of D", line=line, value=row, rule="row")
        faults.raise_if_any()

    def judge(self, data: Files, published: Files, truth: Files, guess: Files) -> GuessScore:
        pairs = list(zip(_read(truth["F"]), _read(guess["G"]), strict=True))
        n_right = sum(true == guessed for true, guessed in pairs)
        return GuessScore(n_right / len(pairs), {"right": n_right})

    def rank(self, entries: Sequence[TeamEntry]) -> list[Standing]:
        lines = []
        for entry in entries:
            found = max((attempt.score.success for attempt in entry.attempts), default=0.0)
            lines.append(((entry.release.utility + found) / 2, entry.team, entry.release.utility, found))
        return [Standing(place, team, value, u, s) for place, (value, team, u, s) in enumerate(sorted(lines), 1)]

    def anonymizers(self) -> Sequence[str]:
        return ["as-is", "tens"]

    def anonymize(self, name: str, data: Files, folder: Path, *, seed: int) -> None:
        size = {"as-is": 1, "tens": 10}[name]
        _write(folder / "R.csv", [str(number // size * size) for number in _numbers(data["D"])])

    def attacks(self) -> Sequence[str]:
        return ["in-order", "nearest"]

    def attack(self, name: str, data: Files, knowledge: Files, published: Files, folder: Path, *, seed: int) -> None:
        seen = [int(row) for row in _read(published["P"])]
        if name == "in-order":
            _write(folder / "G.csv", [str(place) for place in range(len(seen))])
            return
        (known,) = knowledge.values()
        rows = [row.split(",")[1] for row in _read(known)]
        numbers = {place: int(number) for place, number in enumerate(rows) if number}
        nearest = [min(numbers, key=lambda place: (abs(numbers[place] - number), place)) for number in seen]
        _write(folder / "G.csv", [str(place) for place in nearest])


def _read(path: Path) -> list[str]:
    return path.read_text().splitlines()


def _numbers(path: Path) -> list[int]:
    return [int(row.split(",")[1]) for row in _read(path)]


def _write(path: Path, rows: Sequence[str]) -> None:
    path.write_text("".join(f"{row}\n" for row in rows))
