"""Croissant 1.1 metadata of a released file, by which catalogues and machine learning find and load it.

No value of the file is in it: names and types of columns, its hash and size, and what its public dossier says of risk.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import Json, JsonView
from tokumei.data.files.formats import scan_frame
from tokumei.data.files.reading import AS_IT_IS, Reading

# The context that the specification gives: what each key stands for.
CONTEXT: Json = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    **{
        name: f"cr:{name}"
        for name in (
            *("arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field", "fileObject"),
            *("fileProperty", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5"),
            *("parentField", "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate"),
            *("separator", "source", "subField", "transform"),
        )
    },
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "name": {"@container": "@language"},
}
FORMATS = {".csv": "text/csv", ".parquet": "application/x-parquet"}
VERSION = "http://mlcommons.org/croissant/1.1"
RECORDS = "rows"
NOT_IN_NAMES = re.compile(r"[^\w.-]")


def croissant(
    release: Path | str,
    *,
    name: str,
    description: str,
    license: str | None = None,  # noqa: A002 - the word of the format.
    creator: str | None = None,
    url: str | None = None,
    published: dt.date | None = None,
    public: JsonView | None = None,
    reading: Reading = AS_IT_IS,
) -> Json:
    """Return the metadata of a release in CSV or Parquet.

    public: the public dossier of the release, `public.json`, of which the decision and the figures of attacks are told.
    """
    path = Path(release)
    if path.suffix not in FORMATS:
        raise InputError.of("a release in CSV or Parquet", file=path)
    schema = scan_frame(path, reading).collect_schema()
    content = path.read_bytes()
    stated = {
        "license": license,
        "url": url,
        "creator": creator and {"@type": "Organization", "name": creator},
        "datePublished": (published or dt.datetime.now(dt.UTC).date()).isoformat(),
        "rai:personalSensitiveInformation": public and risk_in_words(public),
    }
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": VERSION,
        "name": name,
        "description": description,
        **{key: value for key, value in stated.items() if value},
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": path.name,
                "name": path.name,
                "contentUrl": path.name,
                "contentSize": f"{len(content)} B",
                "encodingFormat": FORMATS[path.suffix],
                "sha256": hashlib.sha256(content).hexdigest(),
            }
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": RECORDS,
                "name": RECORDS,
                "field": [
                    _field(number, column, kind, path.name) for number, (column, kind) in enumerate(schema.items(), 1)
                ],
            }
        ],
    }


def _field(number: int, column: str, kind: pl.DataType, file: str) -> Json:
    return {
        "@type": "cr:Field",
        "@id": f"{RECORDS}/{number}-{NOT_IN_NAMES.sub('_', column)}",
        "name": column,
        "dataType": _type(kind),
        "source": {"fileObject": {"@id": file}, "extract": {"column": column}},
    }


def _type(kind: pl.DataType) -> str:
    if kind.is_integer():
        return "sc:Integer"
    if kind.is_numeric():
        return "sc:Float"
    plain: dict[Any, str] = {pl.Boolean: "sc:Boolean", pl.Date: "sc:Date"}
    return plain.get(kind.base_type(), "sc:DateTime" if kind.is_temporal() else "sc:Text")


def read_public(file: Path) -> JsonView:
    """Read the public dossier of a release."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InputError.of("public.json of a dossier, as 'tokumei run' writes it", file=file)
    return found


def risk_in_words(public: JsonView) -> str:
    """Say what a public dossier decided, and what each attack found, in one paragraph."""
    try:
        outcome = public["decision"]["outcome"]
        attacks = [
            (one["attack"], one["outcome"]) for one in public["results"].get("attacks", []) if one.get("outcome")
        ]
    except (KeyError, TypeError):
        raise InputError.of("public.json of a dossier, as 'tokumei run' writes it") from None
    found = [
        f"{attack} finds {figures['success']:.3f} (95 % {figures['interval'][0]:.3f} to {figures['interval'][1]:.3f})"
        for attack, figures in attacks
        if figures.get("success") is not None and figures.get("interval")
    ]
    return f"Anonymized. {outcome} Attacks tried: {'; '.join(found) or 'none'}."
