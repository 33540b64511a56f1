"""The threat model of attacks on a table, made of what a user gives: files, columns, and how a release was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import polars as pl

from tokumei.attacks.table_threats import TableThreat
from tokumei.attacks.threat_model import KnownMethod, Published, ThreatModel
from tokumei.core.errors import InputError
from tokumei.core.registry import part_name
from tokumei.data.files.formats import read_beside
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.frames import as_frame
from tokumei.data.release import Recipe
from tokumei.data.table import Table, check_column
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.methods.recipes import part_as_dict, requirement_of
from tokumei.methods.registry import TABLE_ANONYMIZERS, TableAnonymizer
from tokumei.tasks.goal import usual_suppression
from tokumei.tasks.preparing import given_hierarchies
from tokumei.tasks.row_numbers import check_pairing
from tokumei.tasks.table_release import TableRelease, hierarchies_of, numeric_of, published

if TYPE_CHECKING:
    from tokumei.attacks.public_knowledge import PublicKnowledge

# What compares with people whom a recipe does not hold.
OF_POPULATIONS = ("k-map", "delta-presence", "journalist-risk", "marketer-risk")


def threat_model_of(
    original: Table,
    release: object,
    *,
    threat: TableThreat | None = None,
    known: Sequence[str] = (),
    known_share: float = 1.0,
    numeric: Sequence[str] | None = None,
    hierarchies: object = None,
    rows: object = None,
    in_order: bool = False,
    earlier: Sequence[object] = (),
    earlier_rows: Sequence[object] = (),
    population: object = None,
    control: object = None,
    method: str | KnownMethod | TableAnonymizer | None = None,
    k: int | None = None,
    seed: int = 1,
    reading: Reading = AS_IT_IS,
    may_be_made_up: bool = False,
) -> ThreatModel:
    """Make the threat model of attacks by somebody who knows people; see `tk.attack`.

    threat: who attacks, if not somebody who knows everything; `known` and a `known_share` say what else they know.
    """
    who = TableThreat() if threat is None else threat
    wanted = [known] if isinstance(known, str) else list(known) or list(who.knows) or original.quasi_identifiers
    numbers = numeric_of(original, numeric)
    for column in [*wanted, *numbers]:
        check_column(column, original.frame.columns, "a known column", original.name)
    if earlier_rows and len(earlier_rows) != len(earlier):
        expected = f"one file for each of {len(earlier)} earlier releases"
        raise InputError.of(expected, option="earlier_rows", value=len(earlier_rows))
    each: Sequence[object] = earlier_rows or [None] * len(earlier)
    given = published(original, release, rows, in_order=in_order, reading=reading, may_be_made_up=may_be_made_up)
    scene = ThreatModel(
        original=original.with_written_moments(),
        published=_written(given),
        hierarchies=hierarchies_of(original, release, hierarchies, given.table.frame),
        known=wanted,
        numeric=numbers,
        known_share=who.share if known_share == 1 else known_share,
        numbers_off=who.numbers_off,
        codes_wrong=who.codes_wrong,
        aimed_at=who.aimed_at(original, wanted, seed),
        earlier=[
            _written(published(original, one, own, in_order=in_order, option="earlier_rows", reading=reading))
            for one, own in zip(earlier, each, strict=True)
        ],
        population=_frame(population, reading, wanted),
        control=_frame(control, reading, wanted),
        method=known_method(release, method, k),
    )
    # Whose rows are whose is checked by what is known, whatever the attacker knows of it.
    check_pairing(scene)
    return scene if threat is None else replace(scene, method=who.method_of(scene.method))


def known_method(release: object, method: str | KnownMethod | TableAnonymizer | None, k: int | None) -> KnownMethod:
    """Return what is public of how a release was made: what was told, or what a release here was made by.

    method: its name, if nobody said by which options; or the method itself, whose options are known then.
    """
    if isinstance(method, KnownMethod):
        return method if k is None else replace(method, k=k)
    name, options = (method, None) if isinstance(method, str) else ("", None)
    if method is not None and not isinstance(method, str):
        name, options = part_name(method), part_as_dict(method)["options"]
    # Who knows the method by its name alone knows what it does where nobody says more.
    usual = usual_suppression(TABLE_ANONYMIZERS.get(name)) if name else 0.0
    if not isinstance(release, TableRelease):
        return KnownMethod(name, options, k, suppression=usual)
    made = replace(method_of_recipe(release.recipe, release.hierarchies), ranged=list(release.number_columns))
    return replace(
        made,
        name=name or made.name,
        options=made.options if options is None else options,
        k=made.k if k is None else k,
    )


def method_of_recipe(recipe: Recipe, hierarchies: Mapping[str, Hierarchy] = MappingProxyType({})) -> KnownMethod:
    """Return what is no secret of how a release was made: the method, its options, and what was asked for."""
    made, asked = recipe.options, recipe.options.get("requirements", [])
    ks = [one["options"]["k"] for one in asked if one["name"] == "k-anonymity"]
    is_plain = all(one["name"] == "k-anonymity" for one in asked) and not made.get("weights")
    is_plain = is_plain and made.get("loss", "ncp") == "ncp"
    return KnownMethod(
        recipe.method if recipe.method in TABLE_ANONYMIZERS else "",
        made.get("options", {}),
        max(ks, default=None),
        ranged=made.get("numeric"),
        is_plain=is_plain,
        suppression=float(made.get("suppression", 0.0)),
        on_grid=made.get("hardened", {}).get("on_grid", ()),
        is_hardened=bool(made.get("hardened", {}).get("changes")),
        requirements=[requirement_of(one, hierarchies, None) for one in asked if one["name"] not in OF_POPULATIONS],
        loss=made.get("loss", "ncp"),
        weights=made.get("weights", {}),
        preference=made.get("preference", []),
    )


def public_of(
    release: Table,
    numeric: Sequence[str] | None,
    hierarchies: object,
    method: str | KnownMethod | TableAnonymizer | None,
    k: int | None,
) -> PublicKnowledge:
    """Return what everybody knows of a release of which nothing else is there."""
    from tokumei.attacks.public_knowledge import PublicKnowledge

    chosen = release.hierarchies if hierarchies is None else hierarchies
    public = PublicKnowledge(
        release.with_written_moments(),
        given_hierarchies(chosen, release.quasi_identifiers),
        release.numeric if numeric is None else [numeric] if isinstance(numeric, str) else list(numeric),
        known_method(release, method, k),
    )
    for column in public.numeric or []:
        check_column(column, release.frame.columns, "numeric", release.name)
    return public


def _frame(data: object, reading: Reading, columns: Sequence[str]) -> pl.DataFrame | None:
    if data is None:
        return None
    frame = read_beside(data, reading, columns) if isinstance(data, (str, Path)) else as_frame(data)
    # Moments in known columns as those of the original are written.
    return Table(frame, qi=[name for name in columns if name in frame.columns]).with_written_moments().frame


def _written(release: Published) -> Published:
    return replace(release, table=release.table.with_written_moments())
