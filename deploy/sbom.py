"""Write what a release is made of as CycloneDX: `python deploy/sbom.py locks/run.txt dist/tokumei.cdx.json`."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def bill_of(lock: str, project: dict[str, Any]) -> dict[str, Any]:
    """Give the bill of materials: each pinned package with its version and the hashes that are accepted for it."""
    pins = list(PIN.finditer(lock))
    ends = [pin.start() for pin in pins[1:]] + [len(lock)]
    components = [
        _component(pin[1], pin[2])
        | {"properties": [{"name": "sha256", "value": value} for value in HASH.findall(text)]}
        for pin, text in ((pin, lock[pin.start() : end]) for pin, end in zip(pins, ends, strict=True))
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": _component(project["name"], version(project["name"])) | {"type": "application"}},
        "components": components,
    }


def _component(name: str, version: str) -> dict[str, Any]:
    purl = f"pkg:pypi/{name.lower().replace('_', '-')}@{version}"
    return {"type": "library", "name": name, "version": version, "purl": purl, "bom-ref": purl}


def main(lock: Path, out: Path) -> None:
    """Write the bill of a lock."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(bill_of(lock.read_text(), project), indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
