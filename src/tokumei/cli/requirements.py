"""What a release must promise, as options of the commands that search and audit."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tokumei.core.errors import InputError

WHOSE = "WHOSE shares count where rows are left out: original, release or both (default)."
KOption = Annotated[int | None, typer.Option("--k", min=1, help="Fewest rows in a class.")]
PresetOption = Annotated[
    str | None,
    typer.Option("--preset", help="A known standard: cheo-trusted-recipient, cheo-public-release or cheo-breach."),
]
LDiversityOption = Annotated[
    list[str] | None,
    typer.Option("--l-diversity", metavar="COLUMN=L[:KIND]", help="KIND: distinct, entropy or recursive:C."),
]
TClosenessOption = Annotated[
    list[str] | None,
    typer.Option(
        "--t-closeness",
        metavar="COLUMN=T[:…]",
        help=f"After T :KIND or :KIND:WHOSE. KIND: equal, ordered or hierarchical. {WHOSE}",
    ),
]
AlphaOption = Annotated[
    list[str] | None, typer.Option("--alpha-k", metavar="COLUMN=ALPHA", help="(α,k)-anonymity, with the k of --k.")
]
BetaOption = Annotated[
    list[str] | None,
    typer.Option(
        "--beta-likeness",
        metavar="COLUMN=BETA[:…]",
        help=f"After BETA :KIND or :KIND:WHOSE. KIND: basic or enhanced. {WHOSE}",
    ),
]
DisclosureOption = Annotated[
    list[str] | None,
    typer.Option(
        "--delta-disclosure",
        metavar="COLUMN=DELTA[:…]",
        help=f"δ-disclosure privacy, in bits; after DELTA :WHOSE. {WHOSE}",
    ),
]
KMapOption = Annotated[int | None, typer.Option("--k-map", min=1, help="Fewest people of --population a record fits.")]
PresenceOption = Annotated[
    str | None, typer.Option("--delta-presence", metavar="[MIN:]MAX", help="Share of each class of --population.")
]
PopulationOption = Annotated[
    str | None, typer.Option("--population", metavar="FILE", help="Everybody, for --k-map and --delta-presence.")
]
MissingOption = Annotated[
    bool, typer.Option("--missing-is-a-value", help="Let a missing sensitive value count as one more value.")
]


def requirement_options(
    k: int | None,
    preset: str | None,
    l_diversity: list[str] | None,
    t_closeness: list[str] | None,
    alpha_k: list[str] | None = None,
    beta_likeness: list[str] | None = None,
    k_map: int | None = None,
    delta_presence: str | None = None,
    missing_is_a_value: bool = False,
    delta_disclosure: list[str] | None = None,
) -> dict[str, Any]:
    """Return the requirements as the jobs take them."""
    return {
        "k": k,
        "preset": preset,
        "l_diversity": _columns(l_diversity, "--l-diversity"),
        "t_closeness": _columns(t_closeness, "--t-closeness"),
        "alpha_k": _columns(alpha_k, "--alpha-k"),
        "beta_likeness": _columns(beta_likeness, "--beta-likeness"),
        "k_map": k_map,
        "delta_presence": delta_presence,
        "missing_is_a_value": missing_is_a_value,
        "delta_disclosure": _columns(delta_disclosure, "--delta-disclosure"),
    }


def _columns(texts: list[str] | None, option: str) -> dict[str, list[str]]:
    """Read options of the form COLUMN=NUMBER or COLUMN=NUMBER:KIND; a column may have several."""
    found: dict[str, list[str]] = {}
    for text in texts or []:
        column, mark, rest = text.rpartition("=")
        column = column.strip().strip('"')
        if not mark or not column:
            raise InputError.of("COLUMN=NUMBER", option=option, value=text)
        found.setdefault(column, []).append(rest)
    return found
