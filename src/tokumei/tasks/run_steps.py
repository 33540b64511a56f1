"""The steps of a job on a table or a history, each kept when it is finished.

On a table: audit, anonymize in each way, choose, audit again, attack, measure. On a history: anonymize in each way,
measure and attack each, choose the one that hides most. A finished step is kept with all that it depends on, and done
again only if that changed.
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.attacks.attribution.judging import ALL_KNOWN
from tokumei.attacks.history.attribution import attribute_release
from tokumei.attacks.registry import ALL, DISCLOSURE_ATTACKS
from tokumei.attacks.threat_model import KnownMethod
from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.score import Score
from tokumei.core.text import Json, JsonView, Text, to_json
from tokumei.data.files.disk import file_hash, write_text
from tokumei.data.files.formats import PARQUET, format_of, read_frame, scan_frame
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.files.strict import read_rows
from tokumei.data.history import History, read_history
from tokumei.data.release import Recipe
from tokumei.data.table import Table
from tokumei.inspection.repeated_people import repeated_people
from tokumei.methods.registry import HISTORY_ANONYMIZERS, TABLE_ANONYMIZERS
from tokumei.methods.synthetic.account import account_of
from tokumei.tasks.anonymize_history import anonymize_history
from tokumei.tasks.anonymize_table import anonymize_table
from tokumei.tasks.attack_history import attack_history
from tokumei.tasks.attack_table import ANYBODY, attack_release, attack_table, linking_column
from tokumei.tasks.attribute_history import ATTRIBUTION, UNKNOWN_SOURCES
from tokumei.tasks.audit_drawn_history import NO_PSEUDONYMS, drawn_history
from tokumei.tasks.audit_table import audit_table, in_roles_of
from tokumei.tasks.histories import HistoryRelease, characters_known
from tokumei.tasks.job_file import PIPELINE, Job, check_columns, table_of
from tokumei.tasks.measure_history import measure_history
from tokumei.tasks.measure_table import TableUse, copies, drawn_rows, measure_table, profile
from tokumei.tasks.preparing import prepare
from tokumei.tasks.request import OF_POPULATION
from tokumei.tasks.table_threat_model import method_of_recipe

FOLDER = "steps"
LINKED = "linked-rows"
# Raised whenever a number that steps keep comes to mean another thing, so that none from before is taken for it.
RESULTS = 3


@dataclass
class StepStore:
    """Steps of one folder: a JSON file each, with the key that it was done under and the hashes of what it wrote."""

    folder: Path
    done: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)

    def run(
        self,
        name: str,
        depends_on: Mapping[str, object],
        work: Callable[[], Json],
        files: Sequence[Path] = (),
    ) -> Json:
        """Run a step, or return its earlier result if nothing it depends on changed and its files are as written."""
        decided = json.dumps([RESULTS, depends_on], sort_keys=True, default=str)
        key = hashlib.sha256(decided.encode()).hexdigest()
        path = self.folder / FOLDER / f"{name}.json"
        kept = _read(path)
        if kept is not None and kept.get("key") == key and kept.get("files") == _hashes(files):
            self.found.append(name)
            result: Json = kept["result"]
            return result
        # As it will be read again, so that a first run and a second one give the same.
        result = json.loads(json.dumps(_finite(work()), default=str))
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps({"key": key, "files": _hashes(files), "result": result}, ensure_ascii=False) + "\n")
        self.done.append(name)
        return result


def _finite(value: object) -> Any:
    """Write what JSON has no number for as nothing."""
    if isinstance(value, Mapping):
        return {str(key): _finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _hashes(files: Sequence[Path]) -> dict[str, str | None]:
    return {one.name: file_hash(one) if one.exists() else None for one in files}


def _read(path: Path) -> Json | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        # A step that was being written when the machine stopped is done again.
        return None
    return found if isinstance(found, dict) else None


def without_times(value: object) -> Any:
    """Take out how long things took, which differs from run to run."""
    if isinstance(value, Mapping):
        return {key: without_times(part) for key, part in value.items() if key != "seconds"}
    return [without_times(part) for part in value] if isinstance(value, (list, tuple)) else value


def use_found(found: Any) -> Json:
    """Return what a dossier keeps of a measured use, with the reasons for measures left out."""
    return {**without_times(found.to_dict()), "reasons": to_json(found.left_out)}


def choose(ways: Sequence[Mapping[str, object]], by: str) -> JsonView:
    """Return the way with the least of a number; if all ways failed, the first one's reason is raised."""
    worked = [one for one in ways if "error" not in one]
    if not worked:
        raise CannotAnonymize("; ".join(f"{one['method']}: {one['error']}" for one in ways))
    return min(worked, key=lambda one: float("inf") if one.get(by) is None else one[by])


def put(source: Path, target: Path) -> None:
    """Copy a file to its place at once or not at all."""
    draft = target.with_name(f".{target.name}.draft")
    shutil.copyfile(source, draft)
    draft.replace(target)


# The rows in the order of the original lead back to it, so they are kept apart; what is handed over is shuffled.
RELEASED = ("secret/release.csv", "published.csv", "secret/pseudonyms.csv")
Step = tuple[str, Callable[[], Json], Sequence[Path]]


# Beside what it finds stands whose purchases are known.
STRONGEST = "linkage"
OF_RANGES = Text("the release has ranges in place of values")


class HistoryWork:
    """The steps of one job on a history."""

    def __init__(self, job: Job, out: Path, seed: int) -> None:
        self.job, self.out, self.seed = job, out, seed
        self.release = cache(self._release)
        # What the steps so far gave, by their names.
        self.results: Json = {}

    def check(self) -> None:
        """Read the file, which says what is wrong with it."""
        _ = self.history

    @cached_property
    def history(self) -> History:
        """The original."""
        if not self.job.preparations:
            return read_history(str(self.job.file), self.job.reading)
        reading = self.job.reading
        frame = prepare(read_frame(self.job.file, reading), self.job.preparations, self.job.file.name)
        options: dict[str, Any] = {"date_format": reading.date_format, "carry": reading.carry, **reading.columns}
        return History(frame, self.job.file.name, **options)

    @property
    def released(self) -> pl.DataFrame:
        """What is handed over, as it was written."""
        return read_frame(self.out / "published.csv")

    def _release(self, number: int) -> HistoryRelease:
        name, options = self.job.methods[number - 1]
        if name == PIPELINE:
            return anonymize_history(self.history, pipeline=options, seed=self.seed)
        # Noise that a promise rests on must follow from nothing that is kept.
        part = HISTORY_ANONYMIZERS.get(name)
        spends = getattr(part, "spends_budget", False) and not options.get("reproducible")
        return anonymize_history(self.history, method=name, seed=None if spends else self.seed, **options)

    def steps(self) -> list[Step]:
        """Return the steps in order, each with the files it writes."""
        listed: list[Step] = []
        for number, (name, _) in enumerate(self.job.methods, start=1):
            way = f"{number}-{name}"
            listed.append((f"method-{way}", partial(self._anonymize, number), self._files(number)))
            listed.append((f"use-{way}", partial(self._measure, number), ()))
            listed += [
                (f"attack-{way}-{at}-{attack}", partial(self._attack, number, threat, attack), ())
                for at, threat in enumerate(self.job.threats, start=1)
                for attack in threat.attacks
            ]
        return listed

    def gather(self) -> Json:
        """Choose the way by which fewest customers are found and, of equals, the least use is lost; put it in place."""
        ways, results = [], self.results
        for name, one in results.items():
            if name.startswith("method-"):
                way = name.removeprefix("method-")
                use = results[f"use-{way}"]
                attacks = [found for key, found in results.items() if key.startswith(f"attack-{way}-")]
                shares = [a["scores"]["found"]["value"] for a in attacks if "found" in a["scores"]]
                found = max(shares, default=None)
                losses = [s["value"] for s in use["scores"].values() if s["worst"] == 1 and s["best"] == 0]
                loss = max(losses, default=None)
                # Of what nobody attacked nothing is known, so that it is taken last.
                both = (1.0 if found is None else found) + (loss or 0) * 1e-6
                ways.append({**one, "use": use, "attacks": attacks, "found": found, "loss": loss, "order": both})
        best = choose(ways, "order")
        number = best["number"]
        for source, target in zip(self._files(number), RELEASED, strict=True):
            if source.exists():
                put(source, self.out / target)
        listed = [{key: one.get(key) for key in ("method", "number", "found", "loss")} for one in ways]
        told = {key: best[key] for key in ("loss", "use", "attacks", "rows", "released", "customers", "pseudonyms")}
        return {
            "chosen": best["method"],
            "methods": listed,
            **told,
            "suppressed": max(0.0, 1 - best["released"] / max(1, best["rows"])),
            "drawn": drawn_history(best),
            "account": account_of(best),
            "prepared": self.job.prepared,
        }

    def _files(self, number: int) -> tuple[Path, Path, Path]:
        folder = self.out / "secret" / f"method-{number}-{self.job.methods[number - 1][0]}"
        return folder / "release.csv", folder / "published.csv", folder / "pseudonyms.csv"

    def _anonymize(self, number: int) -> Json:
        made = self.release(number)
        out, published, truth = self._files(number)
        out.parent.mkdir(parents=True, exist_ok=True)
        made.write(out, published, truth)
        facts = {key: value for key, value in made.to_dict().items() if key != "seed"}
        return {**without_times(facts), "number": number}

    def _measure(self, number: int) -> Json:
        measures = None if self.job.measures is None else list(self.job.measures)
        # A release that spent a budget is not made again when a job goes on.
        release = self._files(number)[0] if self._is_drawn(number) else self.release(number)
        return use_found(measure_history(self.history, release, measures))

    def _is_drawn(self, number: int) -> bool:
        """Whether a method draws rows of nobody, whose pseudonyms lead nowhere."""
        name, _ = self.job.methods[number - 1]
        return name != PIPELINE and getattr(HISTORY_ANONYMIZERS.get(name), "draws_all_rows", False)

    def _attack(self, number: int, threat: Any, attack: str) -> Json:
        told: Json = {"threat": threat.name, "attack": attack, "known": threat.share}
        if self._is_drawn(number):
            return {**told, "scores": {}, "left_out": {attack: to_json(NO_PSEUDONYMS)}}
        characters = characters_known(self.job.file, self.job.reading)
        known = self.history.known(threat.share, seed=1, item_characters=characters)
        release = self.release(number)
        done = attack_history(known, release, attack)
        scores = dict(done.to_dict().get("success", {}))
        if attack == STRONGEST:
            # Whose pseudonym it is, is one thing; whose purchases these are is what people fear.
            given = self._attributed(release, known, done.guesses)
            if isinstance(given, Score):
                scores["attributed"] = given.as_dict()
            else:
                told["left_out"] = {ATTRIBUTION: to_json(given)}
        return {**told, "scores": scores}

    def _attributed(self, release: HistoryRelease, known: History, guesses: pl.DataFrame) -> Score | Text:
        """Return the share of the unknown purchases that are given to their buyers, or why it cannot be told."""
        if release.is_generalized:
            return OF_RANGES
        if release.release.rows is None:
            return UNKNOWN_SOURCES
        given, _ = attribute_release(self.history, release.history, release.release.rows, known, guesses)
        return given.rows if given.rows.inputs["rows"] else ALL_KNOWN


# Attacks that need the release alone, and are tried on every one.
ALONE = ("downcoding",)


def _draws(method: str) -> bool:
    """Whether a method draws rows of nobody, which are measured as rows of people are."""
    return getattr(TABLE_ANONYMIZERS.get(method), "draws_all_columns", False)


class TableWork:
    """The steps of one job on a table; data is read when a step needs it."""

    def __init__(self, job: Job, out: Path, seed: int) -> None:
        self.job, self.out, self.seed = job, out, seed
        self.suffix = PARQUET if format_of(job.file) == PARQUET else ".csv"
        self.release = out / f"release{self.suffix}"
        self.rows = out / "secret" / "rows.txt"
        # What the steps so far gave, by their names.
        self.results: Json = {}

    def check(self) -> None:
        """Refuse a job whose columns are not in its file, or whose keys cannot be used."""
        check_columns(self.job, scan_frame(self.job.file, self.job.reading).collect_schema().names())

    def _check_attacks(self) -> None:
        """Refuse attacks that must know whose a row is, where a method draws rows of nobody."""
        if not any(_draws(name) for name, _ in self.job.methods):
            return
        for threat in self.job.threats:
            for attack in threat.attacks:
                if attack != ALL and getattr(DISCLOSURE_ATTACKS.get(attack), "asks_whose", True):
                    expected = "an attack on rows of nobody: singling-out, linkability or inference"
                    raise InputError.of(expected, file=self.job.file, option=f"threat {threat.name}", value=attack)

    @cached_property
    def table(self) -> Table:
        """The original, without its identifiers and what has no role."""
        return table_of(self.job, self.original)[0]

    @cached_property
    def original(self) -> pl.DataFrame:
        """The file as it was read."""
        return read_frame(self.job.file, self.job.reading)

    @cached_property
    def released(self) -> pl.DataFrame:
        """The release that was chosen, as it was written."""
        # Not guessed: the name of an only column may hold what separates columns elsewhere.
        return read_frame(self.release, AS_IT_IS if self.suffix == PARQUET else Reading(delimiter=","))

    @cached_property
    def row_numbers(self) -> pl.Series | None:
        """The row of the original of each released row; None where no row is a person's."""
        return read_rows(self.rows) - 1 if self.rows.exists() else None

    def steps(self) -> list[Step]:
        """Return the steps in order, each with the files it writes."""
        self._check_attacks()
        before: list[Step] = [("before", self._audit_before, ())]
        ways: list[Step] = [
            (
                f"method-{number}-{name}",
                partial(self._anonymize, number, name, options),
                self._files(number, name),
            )
            for number, (name, options) in enumerate(self.job.methods, start=1)
        ]
        after: list[Step] = [("choice", self._choose, (self.release, self.rows)), ("after", self._audit_after, ())]
        attacks: list[Step] = [
            (f"attack-{number}-{attack}", partial(self._attack, threat, attack), ())
            for number, threat in enumerate(self.job.threats, start=1)
            for attack in threat.attacks
        ]
        named = {attack for threat in self.job.threats for attack in threat.attacks}
        named |= set(ALONE) if ALL in named else set()
        # What labels give away is measured for every release, whatever threats the job names.
        attacks += [
            (f"attack-{ANYBODY}-{one}", partial(self._attack_alone, one), ()) for one in ALONE if one not in named
        ]
        attacks.append((f"attack-{ANYBODY}-{LINKED}", self._attack_linked, ()))
        if self.job.earlier is not None:
            attacks += [("earlier", self._compare_earlier, ()), ("attack-earlier", self._attack_both, ())]
        return [*before, *ways, *after, *attacks, ("use", self._measure, ()), ("profile", self._profile, ())]

    def gather(self) -> Json:
        """Put the results of all steps together as a dossier has them."""
        results = self.results
        chosen = results["choice"]
        return {
            "chosen": chosen["method"],
            **{name: chosen.get(name) for name in ("k", "loss", "loss_name", "levels", "ranges", "gives_away")},
            "suppressed": chosen["suppressed"] / max(1, chosen["rows"]),
            "may_suppress": chosen.get("may_suppress"),
            "methods": [one for name, one in results.items() if name.startswith("method-")],
            "before": results["before"],
            "after": results["after"],
            "attacks": [tried for name, one in results.items() if name.startswith("attack-") for tried in one["tried"]],
            "use": results["use"],
            "profile": results["profile"],
            "roles": dict(self.job.roles),
            "prepared": self.job.prepared,
            **({"earlier": results["earlier"]} if "earlier" in results else {}),
            "kept_anyway": chosen.get("kept_anyway", []),
            **self._of_drawn_rows(chosen),
            "account": account_of(chosen),
        }

    def _of_drawn_rows(self, chosen: JsonView) -> Json:
        drawn = drawn_rows(chosen)
        if drawn is None:
            return {}
        released = in_roles_of(self.table, self.released, None, str(self.release.name))
        return {"drawn": drawn, "copies": copies(self.table, released)}

    def _files(self, number: int, name: str) -> tuple[Path, Path, Path]:
        folder = self.out / "secret" / f"method-{number}-{name}"
        return folder / f"release{self.suffix}", folder / "recipe.json", folder / "rows.txt"

    def _audit_before(self) -> Json:
        found = dict(without_times(audit_table(self.table).to_dict()))
        several = None if self.table.unit is not None else repeated_people(self.original)
        return found if several is None else {**found, "several_rows": to_json(several.words)}

    def _audit_after(self) -> Json:
        released = in_roles_of(self.table, self.released, self.row_numbers, str(self.release.name))
        trees = self.table.hierarchies or {}
        known = {name: trees[name] for name in self.table.sensitive if name in trees}
        audited = audit_table(released, self.job.promised(), original=self.table, hierarchies=known or None)
        found = dict(without_times(audited.to_dict()))
        # Counted with the release, when the population was in its labels.
        beside = {one.replace("_", "-") for one in OF_POPULATION}
        promises = self.results["choice"]["promises"].items()
        found["requirements"] += [
            {"requirement": name, "holds": True, "value": score["value"]}
            for name, score in promises
            if name.partition(" ")[0] in beside or _draws(self.results["choice"]["method"])
        ]
        return found

    def _anonymize(self, number: int, name: str, options: Mapping[str, object]) -> Json:
        release, recipe, rows = self._files(number, name)
        release.parent.mkdir(parents=True, exist_ok=True)
        try:
            done = anonymize_table(self.table, self.job.request(name, options, self.seed))
        except CannotAnonymize as error:
            return {"method": name, "number": number, "error": str(error)}
        if self.job.preparations:
            options = {**done.recipe.options, "prepared": [one.as_dict() for one in self.job.preparations]}
            done = replace(done, recipe=replace(done.recipe, options=options))
        done.write(release, recipe, rows)
        facts = {key: value for key, value in done.to_dict().items() if key != "seed"}
        return {**without_times(facts), "method": name, "number": number}

    def _choose(self) -> Json:
        """Put the release with the least loss in place; those of the others stay among the secrets."""
        ways = [one for name, one in self.results.items() if name.startswith("method-")]
        best = choose(ways, "loss")
        release, recipe, rows = self._files(best["number"], best["method"])
        put(release, self.release)
        put(recipe, self.out / "secret" / "recipe.json")
        self.rows.unlink(missing_ok=True)
        if rows.exists():
            put(rows, self.rows)
        return {**best, "released": self.released.height, "rows": self.table.n_rows}

    def _attack(self, threat: Any, attack: str) -> Json:
        found = attack_table(
            self.table,
            self.released,
            attack,
            threat=threat.preset or None,
            known=threat.knows,
            known_share=threat.share,
            rows=self.row_numbers,
            made_up=self.row_numbers is None,
            hierarchies=self.table.hierarchies,
            method=self._method(),
            seed=1,
        )
        return {"tried": found.as_records(threat.name)}

    def _attack_linked(self) -> Json:
        """Attack by a few known rows of each person, where a released column links the rows of a person."""
        link = linking_column(self.released, self.table.quasi_identifiers)
        if self.row_numbers is None or link is None:
            return {"tried": []}
        hidden = {link, *self.table.sensitive}
        known = [name for name in self.released.columns if name not in hidden]
        how: dict[str, Any] = {"rows": self.row_numbers, "hierarchies": self.table.hierarchies, "seed": 1}
        found = attack_table(self.table, self.released, LINKED, known=known, column=link, **how)
        return {"tried": found.as_records("who knows three rows of each person")}

    def _compare_earlier(self) -> Json:
        from tokumei.tasks.compare_earlier import Earlier, compare_earlier

        return compare_earlier(Earlier(self.job.earlier or Path()), self.original, self.released)

    def _attack_both(self) -> Json:
        """Attack people who are in this release and the one before, by both together."""
        from tokumei.tasks.compare_earlier import Earlier, attack_both

        before = Earlier(self.job.earlier or Path())
        return {"tried": attack_both(before, self.original, self.released, self.row_numbers, self.job)}

    def _attack_alone(self, attack: str) -> Json:
        """Attack what is public of the release; judged by the original where each row is a person's."""
        public: Json = {"hierarchies": self.table.hierarchies, "method": self._method(), "seed": 1}
        if self.row_numbers is not None:
            found = attack_table(self.table, self.released, attack, rows=self.row_numbers, **public)
        else:
            known = [name for name in self.table.quasi_identifiers if name in self.released.columns]
            released = Table(self.released, known, name=str(self.release.name), numeric=self.table.numeric)
            found = attack_release(released, attack, **public)
        return {"tried": found.as_records(ANYBODY)}

    def _method(self) -> KnownMethod:
        return method_of_recipe(Recipe.load(self.out / "secret" / "recipe.json"))

    def _measure(self) -> Json:
        is_drawn = _draws(self.results["choice"]["method"])
        if self.row_numbers is None and not is_drawn:
            return use_found(TableUse({}, {"all": Text("no row of the release is a person's")}, 0.0))
        found = measure_table(
            self.table,
            self.released,
            None if self.job.measures is None else list(self.job.measures),
            rows=self.row_numbers,
            hierarchies=self.table.hierarchies,
            may_be_made_up=is_drawn,
        )
        return use_found(found)

    def _profile(self) -> Json:
        rows = self.row_numbers
        size, weights = self.job.population_size, self.job.weights
        return profile(self.table, self.released, rows, population_size=size, weights=weights)
