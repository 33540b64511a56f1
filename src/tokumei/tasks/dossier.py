"""The dossier of a job: hashes of what went in and came out, versions, who decides until when, and all numbers."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tokumei.core.chain import canonical
from tokumei.data.files.atomic import write_text
from tokumei.data.files.keys import PrivateKey
from tokumei.report.dossier_pages import table_document
from tokumei.report.history_dossier import history_document
from tokumei.tasks.legal import legal_pages
from tokumei.tasks.step_store import file_hash

DOSSIER = "dossier.json"
LANGUAGES = {"en": "report", "ja": "report.ja"}
PAGES = tuple(f"{name}{suffix}" for name in LANGUAGES.values() for suffix in (".html", ".md"))
# What is handed over, and what is kept apart. A seed has no hash here: one that is short could be found by trying.
HANDED_OVER = ("release.csv", "release.parquet", "published.csv", "job.toml")
KEPT_APART = ("secret/recipe.json", "secret/rows.txt", "secret/release.csv", "secret/pseudonyms.csv")


def write_dossier(done: Any, key: PrivateKey | None = None) -> Path:
    """Write the dossier beside the release, signed where there is a key; the seed is not in it."""
    out, job = done.out, done.job
    found = {
        "job": job.name,
        "kind": job.kind,
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "reviewer": job.reviewer,
        "expires": job.expires,
        "versions": {"tokumei": version("tokumei"), "polars": version("polars"), "python": platform.python_version()},
        "folder": os.path.relpath(job.folder.resolve(), out.resolve()),
        "input": {"file": os.path.relpath(job.file.resolve(), out.resolve()), "sha256": file_hash(job.file)},
        "files": {name: file_hash(out / name) for name in HANDED_OVER if (out / name).exists()},
        "kept_apart": {name: file_hash(out / name) for name in KEPT_APART if (out / name).exists()},
        "seed": "kept apart in secret/seed.json",
        "holds": done.holds,
        "bounds": list(done.bounds),
        "results": done.results,
    }
    found["legal"] = legal_pages(done.released, done.results, done.bounds, out / "secret", kind=job.kind)
    write = table_document if job.kind == "table" else history_document
    for language, name in LANGUAGES.items():
        document = write(found, language=language)
        document.write(out / f"{name}.html")
        document.write(out / f"{name}.md")
    found["pages"] = {name: file_hash(out / name) for name in PAGES if (out / name).exists()}
    if key is not None:
        found = json.loads(json.dumps(found, default=str))
        found["signature"] = {"key": key.public, "value": key.sign(signed_bytes(found))}
    path: Path = out / DOSSIER
    write_text(path, json.dumps(found, ensure_ascii=False, indent=1, default=str) + "\n")
    return path


def signed_bytes(dossier: Mapping[str, Any]) -> bytes:
    """Return the bytes that a signature covers: everything but the signature, in one spelling."""
    return canonical({name: value for name, value in dossier.items() if name != "signature"}).encode()
