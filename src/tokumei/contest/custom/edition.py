"""A contest of one's own: the edition that a TOML file tells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from tokumei.attacks.attribution.judging import keeps_places
from tokumei.contest.custom import attribution
from tokumei.contest.custom.kinds import ATTRIBUTION, HISTORY, ROW, TABLE
from tokumei.contest.custom.microdata import OwnMicrodata
from tokumei.contest.custom.purchases import OwnPurchases, as_history
from tokumei.contest.custom.rules import (
    Strategy,
    check_original,
    check_release,
    kept_mask,
    kept_rows,
    read_known,
    read_original,
    read_release,
    release_rules,
    write_form,
)
from tokumei.contest.custom.settings import Named, Settings, settings_of
from tokumei.contest.edition import (
    AttackRule,
    ContestTerms,
    Edition,
    FileRole,
    Files,
    GuessScore,
    Measure,
    ReleaseScore,
    Standing,
    TeamEntry,
    read_once,
)
from tokumei.contest.measures import INTERVAL, attack_measure, loss_measure
from tokumei.contest.season import place_teams
from tokumei.core.errors import InputError, UnknownPart
from tokumei.core.progress import step
from tokumei.core.registry import part_name
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.core.text import Text, counted
from tokumei.data.files.toml import Where
from tokumei.data.history import History

# Whether metrics and attacks work on the data is tried on so many rows before a contest starts.
N_TRIED = 300
TRIAL_SEED = 0
# Built-in attacks that draw must give the organizer and the team the same digits.
SCORE_SEED = 0

STRATEGIES: Mapping[str, Strategy] = {HISTORY: OwnPurchases(), TABLE: OwnMicrodata()}
DATA = (FileRole("T", "the original data", "元データ"),)
RELEASE = (FileRole("A", "the release, row by row as T", "加工データ（行の順序は T と同じ）"),)
PUBLISHED = (FileRole("S", "the rows that were kept, shuffled", "公開される加工データ（残った行を並べ替えたもの）"),)
TRUTH = (FileRole("F", "the truth", "正解"),)
GUESS = (FileRole("Fh", "a guess of the truth", "正解の推定"),)


@dataclass(frozen=True)
class CustomEdition(Edition):
    """The rules and scores of a contest of one's own; `text` is its TOML file, `folder` where its data are looked for.

    The utility U is the weighted mean, or the greatest, of the metrics' losses: each runs from 0 at its best end to 1
    at its worst; one without a worst end counts as it is. The safety S is the greatest success of an attack, built-in
    or of a team, averaged over the levels of knowledge. Teams are ranked by the formula, lower is better.
    """

    settings: Settings
    text: str = field(repr=False)
    folder: Path = field(default=Path(), repr=False)

    @property
    def strategy(self) -> Strategy:
        """How contests with this kind of data are held."""
        return STRATEGIES[self.settings.kind]

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels of knowledge in per cent; one without a name where attackers know all."""
        return tuple(str(percent) for percent in self.settings.percents) or ("",)

    @property
    def attack_rule(self) -> AttackRule:
        """How guesses of other teams count."""
        return AttackRule(self.levels)

    @property
    def terms(self) -> ContestTerms:
        """What the edition says of itself."""
        settings = self.settings
        knowledge = {
            level: (FileRole(f"T{level}", f"{level} % of the rows of T", f"T の {level}% の行"),) if level else ()
            for level in self.levels
        }
        what, what_ja = self.strategy.what, self.strategy.what_ja
        summary = settings.summary or (
            f"Teams anonymize {what}; others try to find who or what is behind the published rows. Teams are ranked by "
            f"{settings.formula.text}, lower is better: U is the loss of use, S {self._safety_says}."
        )
        summary_ja = settings.summary_ja or (
            f"参加者は{what_ja}を加工し、互いに加工データの再識別を試みる。"
            f"順位は {settings.formula.text} の小さい順とする。U は有用性の損失、S は{self._safety_says_ja}。"
        )
        return ContestTerms(
            title=settings.title,
            title_ja=settings.title_ja,
            summary=summary,
            summary_ja=summary_ja,
            data_files=DATA,
            release_files=RELEASE,
            published_files=PUBLISHED,
            truth_files=TRUTH,
            guess_files=GUESS,
            knowledge_files=knowledge,
            release_rules=release_rules(settings, self.strategy),
            guess_rules=self.strategy.guess_rules(),
            measures=self._measures(),
            n_releases_allowed=settings.n_releases,
            n_guesses_allowed=settings.n_guesses,
            attack_rule=self.attack_rule,
        )

    @property
    def _safety_says(self) -> str:
        whose = f", {ATTRIBUTION} {attribution.COUNTED}" if self.settings.formula.uses(ATTRIBUTION) else ""
        return (
            f"what the built-in attacks or the guesses find ({self._found.title}), whichever is more; of guesses, "
            f"{self.attack_rule.says}{whose}"
        )

    @property
    def _safety_says_ja(self) -> str:
        whose = f"、{ATTRIBUTION} は{attribution.COUNTED_JA}" if self.settings.formula.uses(ATTRIBUTION) else ""
        found = f"組み込みの攻撃と推定の成功率（{self._found.title_ja}）の大きい方"
        return f"{found}で、推定は{self.attack_rule.says_ja}{whose}"

    @property
    def _found(self) -> Measure:
        """What the contest counts as found."""
        return next(one for one in self.strategy.guess_measures if one.name == self.settings.success)

    def _measures(self) -> Sequence[Measure]:
        settings = self.settings
        losses = [loss_measure(one.label, part_name(one.part), one.part.__doc__) for one in settings.metrics]
        attacks = [attack_measure(one.label, part_name(one.part), one.part.__doc__) for one in settings.attacks]
        formula = settings.formula.text
        total = Measure(
            "total",
            f"{formula}: lower is better. U is the loss of use, S {self._safety_says}. Each is 0 for "
            "nothing and 1 for all.",
            f"{formula}。小さいほどよい。U は有用性の損失、S は{self._safety_says_ja}。それぞれ 0 は皆無、1 はすべて。",
        )
        whose = (attribution.ATTRIBUTED, INTERVAL) if settings.attribution else ()
        return (*losses, *attacks, *whose, total, *self.strategy.guess_measures)

    def make_data(self, folder: Path, *, seed: int, source: Path | None = None) -> None:
        """Write T from the source given here, else from the one the file names, else made up; then try all parts."""
        settings = self.settings
        if source is None and settings.data.source is not None:
            source = self.folder / settings.data.source
        frame = self.strategy.make_frame(settings, source, seed)
        needed = self.strategy.needed_columns(settings, frame)
        check_original(needed, frame, "made-up data" if source is None else str(source))
        if settings.formula.uses(ATTRIBUTION) and frame.height > attribution.MOST_ROWS:
            expected = Text("at most {n:,} rows, or no attribution in the formula", n=attribution.MOST_ROWS)
            raise InputError.of(expected, file=source, value=counted(frame.height, "row"))
        path = folder / "T.csv"
        write_form(frame, path)
        try:
            # What is written must be read again by all, and every metric and attack must work on it.
            self._try_parts(self._read_t({"T": path}).head(N_TRIED))
        except InputError:
            path.unlink()
            raise

    def _try_parts(self, original: pl.DataFrame) -> None:
        release = self._play(self.anonymizers()[0], original, TRIAL_SEED)
        self._measure(original, release)
        known = self._known_rows(original).head(max(1, original.height // 2))
        published, true = self._published(original, release, np.arange(original.height))
        for attack in self.settings.attacks:
            self._success(attack, known, published, true, original)

    def draw_knowledge(self, data: Files, folder: Path, *, seed: int) -> None:
        """Write some rows of T for each level, each row with the same chance and each level drawn for itself."""
        known = self._known_rows(self._read_original(data))
        for percent in self.settings.percents:
            order = generator(seed, "knowledge", percent).permutation(known.height)
            rows = np.sort(order[: max(1, round(percent / 100 * known.height))])
            write_form(known[rows], folder / f"T{percent}.csv")

    def _known_rows(self, original: pl.DataFrame) -> pl.DataFrame:
        """Return what attackers may know of all rows, numbered from 1."""
        seen = self.strategy.known_frame(self.settings, original)
        numbers = pl.int_range(1, original.height + 1, eager=True).alias(ROW)
        return seen.select(numbers, pl.all())

    def _read_original(self, data: Files) -> pl.DataFrame:
        return read_once(data, self._read_t)

    def _read_t(self, data: Files) -> pl.DataFrame:
        return read_original(data["T"], lambda columns: self.strategy.original_types(self.settings, columns))

    def _read_release(self, original: pl.DataFrame, path: Path) -> pl.DataFrame:
        return read_release(path, self.strategy.release_types(self.settings, original))

    def _read_submitted(self, original: pl.DataFrame, path: Path) -> tuple[pl.DataFrame, pl.Series | None]:
        """Read A, and which row of T each of its purchases is, from 0, if A says it."""
        types = self.strategy.release_types(self.settings, original)
        released = read_release(path, types, more=ROW if self.settings.attribution else None)
        sources = released[ROW] - 1 if ROW in released.columns else None
        return released.select(list(types)), sources

    def check(self, data: Files, release: Files) -> None:
        """Raise one InputError with every fault of A."""
        check_release(self.settings, self.strategy, self._read_original(data), release["A"])

    def score(self, data: Files, knowledge: Files, release: Files) -> ReleaseScore:
        """Measure the losses and try the attacks of the contest."""
        original = self._read_original(data)
        released, sources = self._read_submitted(original, release["A"])
        losses = {label: _loss(score) for label, score in self._measure(original, released).items()}
        utility = self._utility(losses)
        found = self._attack_all(original, released, knowledge)
        safety = max(math.fsum(levels.values()) / len(levels) for levels in found.values())
        details: dict[str, object] = {"utility": losses, "safety": found}
        flags: tuple[str, ...] = ()
        if self.settings.attribution:
            before, after = as_history(original, "T"), as_history(released, "A")
            with step("attributing"):
                known = self._known_histories(original, knowledge)
                scores = attribution.attribute(before, after, sources, known)
            details[ATTRIBUTION] = attribution.in_details(scores)
            flags = attribution.suspicions(before, after, sources)
        details["total"] = self._total(losses, utility, safety, details)
        return ReleaseScore(details, utility, safety, flags)

    def _known_histories(self, original: pl.DataFrame, knowledge: Files) -> dict[str, History]:
        """Return what is known of T at each level below all, other rows missing in every column."""
        shown, numbers = self.strategy.known_frame(self.settings, original), pl.int_range(1, original.height + 1)
        known = {}
        for level in (one for one in self.levels if one != "100"):
            rows = self._read_knowledge(original, knowledge[f"T{level}"])[ROW]
            is_known = numbers.is_in(rows.implode())
            known[level] = as_history(shown.with_columns(pl.when(is_known).then(pl.all())), "known")
        return known

    def _measure(self, original: pl.DataFrame, released: pl.DataFrame) -> dict[str, Score]:
        with step("measuring"):
            return self.strategy.measure(self.settings, original, released)

    def _utility(self, losses: Mapping[str, float]) -> float:
        if self.settings.combine == "max":
            return max(losses.values())
        weights = {metric.label: metric.weight for metric in self.settings.metrics}
        return math.fsum(weights[label] * loss for label, loss in losses.items()) / math.fsum(weights.values())

    def _total(
        self, losses: Mapping[str, float], utility: float, safety: float, details: Mapping[str, object]
    ) -> float:
        named = {label.replace("-", "_"): loss for label, loss in losses.items()}
        if self.settings.attribution:
            mean = attribution.mean_of(details)
            # A release that leaves it open is not to gain by that.
            named[ATTRIBUTION] = 1.0 if mean is None else mean
        return self.settings.formula.value({"U": utility, "S": safety, **named})

    def _attack_all(
        self, original: pl.DataFrame, released: pl.DataFrame, knowledge: Files
    ) -> dict[str, dict[str, float]]:
        """Return the success of each attack at each level; rows are seen sorted, so that the digits are repeatable."""
        order = released.with_row_index(ROW).sort(*released.columns, ROW)[ROW].to_numpy()
        published, true = self._published(original, released, order)
        found: dict[str, dict[str, float]] = {attack.label: {} for attack in self.settings.attacks}
        with step("attacking", len(self.settings.attacks) * len(self.levels)) as bar:
            for level in self.levels:
                known = self._read_knowledge(original, knowledge.get(f"T{level}") if level else None)
                for attack in self.settings.attacks:
                    found[attack.label][level or "100"] = self._success(
                        attack, known, published, true, original
                    ).success
                    bar.advance()
        return found

    def _read_knowledge(self, original: pl.DataFrame, path: Path | None) -> pl.DataFrame:
        if path is None:
            return self._known_rows(original)
        return read_known(path, self.strategy.original_types(self.settings, original.columns))

    def _published(
        self, original: pl.DataFrame, released: pl.DataFrame, order: np.ndarray
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the kept rows in an order, and the truth: pseudonyms, or the rows of T counted from 1."""
        is_kept = pl.Series(np.isin(order, kept_rows(released).to_numpy()))
        rows = pl.Series(ROW, order, dtype=pl.Int64).filter(is_kept)
        return released[rows], self.strategy.truth(original, released, rows)

    def _success(
        self, attack: Named, known: pl.DataFrame, published: pl.DataFrame, true: pl.DataFrame, original: pl.DataFrame
    ) -> GuessScore:
        guesses = self.strategy.guess(self.settings, attack.part, known, published, SCORE_SEED)
        return self.strategy.judge(self.settings, guesses, true, original, published)

    def publish(self, data: Files, release: Files, folder: Path, truth_folder: Path, *, seed: int) -> None:
        """Write the kept rows in an order drawn anew, and apart from them the truth."""
        original = self._read_original(data)
        released, _ = self._read_submitted(original, release["A"])
        order = generator(seed, "publish").permutation(released.height)
        published, true = self._published(original, released, order)
        write_form(published, folder / "S.csv")
        self.strategy.write_guess(true, original, truth_folder / "F.csv")

    def check_guess(self, data: Files, published: Files, guess: Files) -> None:
        """Raise one InputError with every fault of Fh."""
        original = self._read_original(data)
        seen = self._read_release(original, published["S"])
        self.strategy.check_guess(original, seen, guess["Fh"])

    def judge(self, data: Files, published: Files, truth: Files, guess: Files) -> GuessScore:
        """Hold a guess against the truth."""
        original = self._read_original(data)
        guesses, true = (self.strategy.read_guess(original, path) for path in (guess["Fh"], truth["F"]))
        seen = self._read_release(original, published["S"])
        return self.strategy.judge(self.settings, guesses, true, original, seen)

    def rank(self, entries: Sequence[TeamEntry]) -> list[Standing]:
        """Order the teams by the formula, lower is better; equals share a place."""
        lines = []
        for entry in entries:
            found = self.attack_rule.found((one.knowledge, one.score.success) for one in entry.attempts)
            safety = max(entry.release.safety or 0.0, found)
            losses = {label: float(loss) for label, loss in entry.release.details["utility"].items()}
            value, reason = None, ""
            try:
                value = self._total(losses, entry.release.utility, safety, entry.release.details)
            except InputError as error:
                reason = str(error)
            mean = attribution.mean_of(entry.release.details) if self.settings.attribution else None
            numbers = losses if mean is None else losses | {attribution.ATTRIBUTED.name: mean}
            lines.append(Standing(0, entry.team, value, entry.release.utility, safety, numbers, reason))
        return place_teams(lines)

    def anonymizers(self) -> Sequence[str]:
        """Name what `anonymize` can do, simplest first."""
        return list(self.strategy.anonymizers())

    def anonymize(self, name: str, data: Files, folder: Path, *, seed: int) -> None:
        """Write A; what the contest's checks forbid to change stays as it is."""
        original = self._read_original(data)
        released = self._play(name, original, seed)
        if self.settings.attribution and not keeps_places(as_history(original, "T"), as_history(released, "A")):
            # They change values and move no purchase.
            is_kept = kept_mask(released)
            released = released.with_columns(pl.when(is_kept).then(pl.int_range(1, pl.len() + 1)).alias(ROW))
        write_form(released, folder / "A.csv", is_deleted=~kept_mask(released))

    def _play(self, name: str, original: pl.DataFrame, seed: int) -> pl.DataFrame:
        known = self.strategy.anonymizers()
        if name not in known:
            raise UnknownPart("anonymizer of the contest", name, known)
        return known[name](self.settings, original, seed)

    def attacks(self) -> Sequence[str]:
        """Name the attacks of the contest, in the order of its file."""
        return [attack.label for attack in self.settings.attacks]

    def attack(self, name: str, data: Files, knowledge: Files, published: Files, folder: Path, *, seed: int) -> None:
        """Write Fh, from the file of knowledge of one level, or from T where attackers know all."""
        known_attacks = {attack.label: attack for attack in self.settings.attacks}
        if name not in known_attacks:
            raise UnknownPart("attack of the contest", name, known_attacks)
        original = self._read_original(data)
        seen = self._read_release(original, published["S"])
        known = self._read_knowledge(original, next(iter(knowledge.values()), None))
        guesses = self.strategy.guess(self.settings, known_attacks[name].part, known, seen, seed)
        self.strategy.write_guess(guesses, original, folder / "Fh.csv")


def custom_edition_of(where: Where, found: Mapping[str, object], folder: Path) -> CustomEdition:
    """Make a contest of one's own of what its TOML file says; every slip in it is an InputError."""
    return CustomEdition(settings_of(where, found), where.text, folder)


def _loss(score: Score) -> float:
    """Put a score on the scale from 0, its best end, to 1, its worst; one without a worst end counts as it is."""
    gap = abs(score.value - score.best)
    span = abs(score.worst - score.best)
    return gap / span if math.isfinite(span) else gap
