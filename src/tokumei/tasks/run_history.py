"""The steps of a job on a history: anonymize in each way, measure and attack each, choose the one that hides most."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.data.files.formats import read_frame
from tokumei.data.files.histories import read_history
from tokumei.data.history import History
from tokumei.tasks.anonymize_history import anonymize_history
from tokumei.tasks.attack_history import attack_history
from tokumei.tasks.history_release import HistoryRelease
from tokumei.tasks.job_file import PIPELINE, Job
from tokumei.tasks.measure_history import measure_history
from tokumei.tasks.preparing import prepare
from tokumei.tasks.ways import choose, put, use_found, without_times

# The rows in the order of the original lead back to it, so they are kept apart; what is handed over is shuffled.
RELEASED = ("secret/release.csv", "published.csv", "secret/pseudonyms.csv")
Step = tuple[str, Callable[[], dict[str, Any]], Sequence[Path]]


class HistoryWork:
    """The steps of one job on a history."""

    def __init__(self, job: Job, out: Path, seed: int) -> None:
        self.job, self.out, self.seed = job, out, seed
        self.release = cache(self._release)
        # What the steps so far gave, by their names.
        self.results: dict[str, Any] = {}

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
        return anonymize_history(self.history, method=name, seed=self.seed, **options)

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

    def gather(self) -> dict[str, Any]:
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
            "suppressed": 1 - best["released"] / max(1, best["rows"]),
            "prepared": self.job.prepared,
        }

    def _files(self, number: int) -> tuple[Path, Path, Path]:
        folder = self.out / "secret" / f"method-{number}-{self.job.methods[number - 1][0]}"
        return folder / "release.csv", folder / "published.csv", folder / "pseudonyms.csv"

    def _anonymize(self, number: int) -> dict[str, Any]:
        made = self.release(number)
        out, published, truth = self._files(number)
        out.parent.mkdir(parents=True, exist_ok=True)
        made.write(out, published, truth)
        facts = {key: value for key, value in made.to_dict().items() if key != "seed"}
        return {**without_times(facts), "number": number}

    def _measure(self, number: int) -> dict[str, Any]:
        measures = None if self.job.measures is None else list(self.job.measures)
        return use_found(measure_history(self.history, self.release(number), measures))

    def _attack(self, number: int, threat: Any, attack: str) -> dict[str, Any]:
        known = self.history.known(threat.share, seed=1)
        found = attack_history(known, self.release(number), attack).to_dict()
        told = {"threat": threat.name, "attack": attack, "known": threat.share}
        return {**told, "scores": found.get("success", {})}
