"""What a release must promise, as options of the commands that search and audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tokumei.core.errors import InputError

if TYPE_CHECKING:
    from tokumei.counting.class_counts import ClassCounts
    from tokumei.hierarchy.hierarchy import Hierarchy
    from tokumei.measure.requirement import Requirement

WHOSE = "WHOSE shares count where rows are left out: original, release or both (default)."
KOption = Annotated[int | None, typer.Option("--k", min=1, help="Fewest rows in a class.")]
PresetOption = Annotated[
    str | None, typer.Option("--preset", help="A known standard: cheo-trusted-recipient or cheo-public-release.")
]
LDiversityOption = Annotated[
    list[str] | None,
    typer.Option("--l-diversity", metavar="COLUMN=L[:KIND]", help="KIND: distinct, entropy or recursive:C."),
]
TClosenessOption = Annotated[
    list[str] | None,
    typer.Option(
        "--t-closeness", metavar="COLUMN=T[:KIND[:WHOSE]]", help=f"KIND: equal, ordered or hierarchical. {WHOSE}"
    ),
]
AlphaOption = Annotated[
    list[str] | None, typer.Option("--alpha-k", metavar="COLUMN=ALPHA", help="(α,k)-anonymity, with the k of --k.")
]
BetaOption = Annotated[
    list[str] | None,
    typer.Option("--beta-likeness", metavar="COLUMN=BETA[:KIND[:WHOSE]]", help=f"KIND: basic or enhanced. {WHOSE}"),
]
DisclosureOption = Annotated[
    list[str] | None,
    typer.Option("--delta-disclosure", metavar="COLUMN=DELTA[:WHOSE]", help=f"δ-disclosure privacy, in bits. {WHOSE}"),
]
KMapOption = Annotated[int | None, typer.Option("--k-map", min=1, help="Fewest people of --population a record fits.")]
PresenceOption = Annotated[
    str | None, typer.Option("--delta-presence", metavar="[MIN:]MAX", help="Share of each class of --population.")
]
PopulationOption = Annotated[
    str | None, typer.Option("--population", metavar="FILE", help="Everybody, for --k-map and --delta-presence.")
]


@dataclass(frozen=True)
class Asked:
    """The requirements as typed."""

    k: int | None = None
    preset: str | None = None
    l_diversity: list[str] | None = None
    t_closeness: list[str] | None = None
    alpha_k: list[str] | None = None
    beta_likeness: list[str] | None = None
    k_map: int | None = None
    delta_presence: str | None = None
    delta_disclosure: list[str] | None = None

    @property
    def needs_population(self) -> bool:
        """Whether everybody has to be counted too."""
        return self.k_map is not None or self.delta_presence is not None

    def requirements(
        self, hierarchies: Mapping[str, Hierarchy], population: ClassCounts | None = None
    ) -> list[Requirement]:
        """Make the requirements; `hierarchies` may hold those of sensitive columns."""
        from tokumei.measure.presets import preset
        from tokumei.measure.requirement import SAFETY

        made: list[Requirement] = []
        if self.preset is not None:
            made.extend(preset(self.preset).requirements())
        if self.k is not None:
            made.append(SAFETY.make("k-anonymity", k=self.k))
        for column, number, kind in _columns(self.l_diversity, "--l-diversity"):
            name, _, c = (kind or "distinct").partition(":")
            ratio = {"c": _number(c, "--l-diversity")} if name == "recursive" else {}
            made.append(SAFETY.make("l-diversity", sensitive=column, l=number, kind=name, **ratio))
        for column, number, kind in _columns(self.t_closeness, "--t-closeness"):
            distance, against = _kind(kind, "equal")
            options: dict[str, Any] = {"sensitive": column, "t": number, "distance": distance, "against": against}
            made.append(SAFETY.make("t-closeness", **options, hierarchy=hierarchies.get(column)))
        for column, number, _ in _columns(self.alpha_k, "--alpha-k"):
            made.append(SAFETY.make("alpha-k", sensitive=column, alpha=number, k=self.k or 1))
        for column, number, kind in _columns(self.beta_likeness, "--beta-likeness"):
            name, against = _kind(kind, "basic")
            made.append(SAFETY.make("beta-likeness", sensitive=column, beta=number, kind=name, against=against))
        for column, number, against in _columns(self.delta_disclosure, "--delta-disclosure"):
            options = {"sensitive": column, "delta": number, "against": against or "both"}
            made.append(SAFETY.make("delta-disclosure", **options))
        return made + self._of_population(population)

    def sensitive_columns(self) -> list[str]:
        """Give the columns that the requirements name, without making them."""
        named = [
            *_columns(self.l_diversity, "--l-diversity"),
            *_columns(self.t_closeness, "--t-closeness"),
            *_columns(self.alpha_k, "--alpha-k"),
            *_columns(self.beta_likeness, "--beta-likeness"),
            *_columns(self.delta_disclosure, "--delta-disclosure"),
        ]
        return list(dict.fromkeys(column for column, _, _ in named))

    def _of_population(self, population: ClassCounts | None) -> list[Requirement]:
        from tokumei.measure.requirement import SAFETY

        if not self.needs_population:
            return []
        if population is None:
            raise InputError.of("--population FILE, which --k-map and --delta-presence need")
        made: list[Requirement] = []
        if self.k_map is not None:
            made.append(SAFETY.make("k-map", population=population, k=self.k_map))
        if self.delta_presence is not None:
            low, mark, high = self.delta_presence.rpartition(":")
            ends = {"delta_max": _number(high, "--delta-presence")}
            ends |= {"delta_min": _number(low, "--delta-presence")} if mark else {}
            made.append(SAFETY.make("delta-presence", population=population, **ends))
        return made


def _columns(texts: list[str] | None, option: str) -> list[tuple[str, float, str]]:
    """Read options of the form COLUMN=NUMBER or COLUMN=NUMBER:KIND."""
    found = []
    for text in texts or []:
        column, mark, rest = text.rpartition("=")
        if not mark or not column:
            raise InputError.of("COLUMN=NUMBER", option=option, value=text)
        number, _, kind = rest.partition(":")
        found.append((column, _number(number, option), kind))
    return found


def _kind(text: str, usual: str) -> tuple[str, str]:
    """Read KIND or KIND:WHOSE."""
    kind, _, against = text.partition(":")
    return kind or usual, against or "both"


def _number(text: str, option: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError.of("a number", option=option, value=text) from None
