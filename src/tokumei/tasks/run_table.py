"""The steps of a job on a table: audit, anonymize in each way, choose, audit again, attack, measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.attacks.threat_model import KnownMethod
from tokumei.core.errors import CannotAnonymize
from tokumei.core.text import Text
from tokumei.data.files.formats import PARQUET, format_of, read_frame, scan_frame
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.files.row_numbers import read_rows
from tokumei.data.table import Table
from tokumei.methods.recipes import read_recipe
from tokumei.tasks.anonymize_table import anonymize_table
from tokumei.tasks.attack_table import ANYBODY, attack_release, attack_table, method_of_recipe
from tokumei.tasks.audit_table import audit_table
from tokumei.tasks.job_file import Job
from tokumei.tasks.job_table import check_columns, table_of
from tokumei.tasks.measure_table import TableUse, measure_table
from tokumei.tasks.table_profile import profile
from tokumei.tasks.ways import choose, put, use_found, without_times

Step = tuple[str, Callable[[], dict[str, Any]], Sequence[Path]]
# Attacks that need the release alone, and are tried on every one.
ALONE = ("downcoding",)


class TableWork:
    """The steps of one job on a table; data is read when a step needs it."""

    def __init__(self, job: Job, out: Path, seed: int) -> None:
        self.job, self.out, self.seed = job, out, seed
        self.suffix = PARQUET if format_of(job.file) == PARQUET else ".csv"
        self.release = out / f"release{self.suffix}"
        self.rows = out / "secret" / "rows.txt"
        # What the steps so far gave, by their names.
        self.results: dict[str, Any] = {}

    def check(self) -> None:
        """Refuse a job whose columns are not in its file, or whose keys cannot be used."""
        check_columns(self.job, scan_frame(self.job.file, self.job.reading).collect_schema().names())

    @cached_property
    def table(self) -> Table:
        """The original, without its identifiers and what has no role."""
        return table_of(self.job)[0]

    @cached_property
    def released(self) -> pl.DataFrame:
        """The release that was chosen, as it was written."""
        # Not guessed: the name of an only column may hold what separates columns elsewhere.
        return read_frame(self.release, AS_IT_IS if self.suffix == PARQUET else Reading(delimiter=","))

    @cached_property
    def row_numbers(self) -> pl.Series | None:
        """The row of the original of each released row, counted from 1; None where no row is a person's."""
        return read_rows(self.rows) if self.rows.exists() else None

    def steps(self) -> list[Step]:
        """Return the steps in order, each with the files it writes."""
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
        # What labels give away is measured for every release, whatever threats the job names.
        attacks += [
            (f"attack-{ANYBODY}-{one}", partial(self._attack_alone, one), ()) for one in ALONE if one not in named
        ]
        return [*before, *ways, *after, *attacks, ("use", self._measure, ()), ("profile", self._profile, ())]

    def gather(self) -> dict[str, Any]:
        """Put the results of all steps together as a dossier has them."""
        results = self.results
        chosen = results["choice"]
        return {
            "chosen": chosen["method"],
            **{name: chosen.get(name) for name in ("k", "loss", "loss_name", "levels", "ranges", "gives_away")},
            "suppressed": chosen["suppressed"] / max(1, chosen["rows"]),
            "methods": [one for name, one in results.items() if name.startswith("method-")],
            "before": results["before"],
            "after": results["after"],
            "attacks": [tried for name, one in results.items() if name.startswith("attack-") for tried in one["tried"]],
            "use": results["use"],
            "profile": results["profile"],
            "roles": dict(self.job.roles),
            "prepared": self.job.prepared,
        }

    def _files(self, number: int, name: str) -> tuple[Path, Path, Path]:
        folder = self.out / "secret" / f"method-{number}-{name}"
        return folder / f"release{self.suffix}", folder / "recipe.json", folder / "rows.txt"

    def _audit_before(self) -> dict[str, Any]:
        return dict(without_times(audit_table(self.table).to_dict()))

    def _audit_after(self) -> dict[str, Any]:
        frame = self.released
        roles = {name: role for name, role in self.table.roles.items() if name in frame.columns}
        released = Table(frame, roles=roles, name=str(self.release.name))
        return dict(without_times(audit_table(released, self.job.promised(), original=self.table).to_dict()))

    def _anonymize(self, number: int, name: str, options: Mapping[str, Any]) -> dict[str, Any]:
        release, recipe, rows = self._files(number, name)
        release.parent.mkdir(parents=True, exist_ok=True)
        try:
            done = anonymize_table(self.table, self.job.request(name, options, self.seed))
        except CannotAnonymize as error:
            return {"method": name, "number": number, "error": str(error)}
        done.write(release, recipe, rows)
        facts = {key: value for key, value in done.to_dict().items() if key != "seed"}
        return {**without_times(facts), "method": name, "number": number}

    def _choose(self) -> dict[str, Any]:
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

    def _attack(self, threat: Any, attack: str) -> dict[str, Any]:
        found = attack_table(
            self.table,
            self.released,
            attack,
            known=threat.knows,
            known_share=threat.share,
            rows=self.row_numbers,
            hierarchies=self.table.hierarchies,
            method=self._method(),
            seed=1,
        )
        return {"tried": found.as_records(threat.name)}

    def _attack_alone(self, attack: str) -> dict[str, Any]:
        """Attack what is public of the release; judged by the original where each row is a person's."""
        public: dict[str, Any] = {"hierarchies": self.table.hierarchies, "method": self._method(), "seed": 1}
        if self.row_numbers is not None:
            found = attack_table(self.table, self.released, attack, rows=self.row_numbers, **public)
        else:
            known = [name for name in self.table.quasi_identifiers if name in self.released.columns]
            released = Table(self.released, known, name=str(self.release.name), numeric=self.table.numeric)
            found = attack_release(released, attack, **public)
        return {"tried": found.as_records(ANYBODY)}

    def _method(self) -> KnownMethod:
        return method_of_recipe(read_recipe(self.out / "secret" / "recipe.json"))

    def _measure(self) -> dict[str, Any]:
        if self.row_numbers is None:
            return use_found(TableUse({}, {"all": Text("no row of the release is a person's")}, 0.0))
        found = measure_table(
            self.table,
            self.released,
            None if self.job.measures is None else list(self.job.measures),
            rows=self.row_numbers,
            hierarchies=self.table.hierarchies,
        )
        return use_found(found)

    def _profile(self) -> dict[str, Any]:
        rows = None if self.row_numbers is None else self.row_numbers - 1
        return profile(self.table, self.released, rows, population_size=self.job.population_size)
