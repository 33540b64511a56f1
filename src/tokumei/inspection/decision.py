"""Whether to release: the rule, the reasons that weigh most, and the conditions.

*Do not release* if a requirement or a bound does not hold, or if an attack gains more over blind guessing than it may,
with the whole of its 95 % interval. *Release* if nothing of that is so and nothing is open: what may be gained is
stated, attacks that link, that learn a value and that single out were measured and lie below it with the whole of their
intervals, nobody is found with certainty, and the people who answer for the release stated what only they know. In all
other cases *release under conditions*: those that are listed. What was not measured never counts as safe.

How much an attack may gain is for people to say. Where nobody did, the strongest attack is a condition: its figure
stands there, and who must accept it. Only what passes the largest risk for which there are precedents refuses: one in
eleven where anybody may receive the release, one in five under a contract or in an enclave (`PRECEDENTS`). Where
classes count rows and people have several, k promises people nothing: *do not release* until somebody names the column
that tells whose a row is, or states what else it tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tokumei.attacks.registry import SINGLED_OUT, attack_title
from tokumei.core.text import Json, JsonView
from tokumei.data.context import day_of
from tokumei.inspection.evidence import (
    OF_DESCRIPTIONS,
    Evidence,
    Figure,
    describes_nobody,
    figure_of,
    is_inferring,
    is_linking,
    is_singling_out,
    out_of_100,
    scores_that_decide,
    strongest_score,
)

RELEASE, CONDITIONS, REFUSE = "Release.", "Release under these conditions.", "Do not release."
# The same in a word, for whoever reads no more; of a release that may go out but says hardly anything, that.
SAFE, NOT_YET, UNSAFE, USELESS = "safe", "not yet", "unsafe", "useless"
# Of a release that loses more of the detail, nobody learns much.
MOST_LOST = 0.8
MOST_REASONS = 3
# Without these nobody can say for whom the release is safe.
NEEDED = ("recipient", "purpose", "environment", "retention", "harm", "review_on")
BAD_HARMS = ("high", "severe")
# The smallest group that custodians of health data release, by where it is used: eleven in public, five elsewhere (El
# Emam 2013, chapter "Cell size precedents"). Nobody who states no environment is taken at less than anybody.
PRECEDENTS = {"public": 11, "contract": 5, "enclave": 5}
# What an attack does to people, in a sentence.
_FINDS = {
    "linking": "{who} finds the record of {found} of 100 people ({attack}); blind guessing finds that of {blind}.",
    "inferring": "{who} learns {column} of {found} of 100 people ({attack}); blind guessing is right for {blind}.",
    "other": "{who} is right about {found} of 100 {things} ({attack}); blind guessing is about {blind}.",
}
# What a score is a share of, where that is not people.
THINGS = {"found": "customers' months", "row": "customers", "pseudonym": "pseudonyms", SINGLED_OUT: "ends of ranges"}
# What an attack gains, where that is too much: by what was stated, or by any precedent.
TOO_MUCH = "{attack} by {who} gains {gain} of 100 over blind guessing; at most {most} may be gained."
PASSED = (
    "{attack} by {who} gains {gain} of 100 over blind guessing; without a stated limit one in {least} is the most. "
    "Groups of {least} (k = {least}) or a stated limit (most_gain) may change that."
)
# Where somebody has to accept what the strongest attack finds.
ACCEPT = (
    "No limit was set for attacks: {reviewer} has to decide whether {found} of 100 {things} found is acceptable (by "
    "blind guessing {blind})."
)
NOBODY = (
    "No limit was set for attacks, and nobody is named who decides whether {found} of 100 {things} found is acceptable "
    "(by blind guessing {blind})."
)
NOT_LIMITED = "No limit was set for what an attack may find."


@dataclass(frozen=True)
class Said:
    """A sentence with a {name} for each of its values, and how much it weighs among others of its kind."""

    said: str
    values: JsonView = field(default_factory=dict)
    weight: float = 0.0
    # Where it is mended, by the part of a job: "roles", "requirements", "context", or "limit" for one of the last two.
    mend: str | None = None

    def as_dict(self) -> Json:
        """Return the sentence for JSON."""
        return {"said": self.said, "values": dict(self.values), "mend": self.mend}


@dataclass(frozen=True)
class Decision:
    """What is to be done, the reasons that weigh most, all conditions, and the strongest attack."""

    outcome: str
    reasons: Sequence[Said]
    conditions: Sequence[Said]
    strongest: JsonView | None
    is_useless: bool = False

    @property
    def verdict(self) -> str:
        """The decision in a word."""
        if self.outcome == REFUSE:
            return UNSAFE
        if self.is_useless:
            return USELESS
        return SAFE if self.outcome == RELEASE else NOT_YET

    def as_dict(self) -> Json:
        """Return the decision for JSON."""
        return {
            "outcome": self.outcome,
            "verdict": self.verdict,
            "reasons": [one.as_dict() for one in self.reasons],
            "conditions": [one.as_dict() for one in self.conditions],
            "strongest": self.strongest,
        }


def decide(case: Evidence, *, has_sensitive: bool) -> Decision:
    """Decide by the rule above."""
    against = sorted(_against(case), key=lambda one: -one.weight)
    to_accept = [] if against else _to_accept(case)
    conditions = sorted([*to_accept, *_open(case, has_sensitive=has_sensitive)], key=lambda one: -one.weight)
    outcome = REFUSE if against else CONDITIONS if conditions else RELEASE
    reasons = [*against, *conditions, *([] if against else _in_favor(case))][:MOST_REASONS]
    return Decision(outcome, reasons, conditions, _strongest(case), _loses_too_much(case))


def _loses_too_much(case: Evidence) -> bool:
    return case.loss is not None and case.loss > MOST_LOST


def _against(case: Evidence) -> Iterator[Said]:
    """Yield what forbids a release, what is counted first."""
    for one in case.requirements:
        if not one["holds"]:
            yield Said(
                "{requirement} does not hold: {value}.",
                {"requirement": one["requirement"], "value": _number(one["value"])},
                3,
                "requirements",
            )
    for one in case.bounds:
        if not one["holds"]:
            is_least = one["least"] is not None and one["value"] < one["least"]
            said = (
                "{of} is {value}; at least {end} was asked."
                if is_least
                else "{of} is {value}; at most {end} was asked."
            )
            end = one["least"] if is_least else one["most"]
            yield Said(said, {"of": one["of"], "value": _number(one["value"]), "end": _number(end)}, 3, "requirements")
    if case.several_rows_by is not None and case.context.several_rows is None:
        said = (
            "People seem to have several rows each ({column} tells whose a row is), and classes count rows: how many "
            "people look alike was not counted."
        )
        yield Said(said, {"column": case.several_rows_by}, 2.9, "roles")
    limit, is_stated = _limit(case), case.context.most_gain is not None
    found: dict[str, Said] = {}
    for attack, name, figure in _figures(case):
        if figure.low is not None and figure.blind is not None and figure.low > figure.blind + limit:
            gain = figure.value - figure.blind
            end = {"most": out_of_100(limit)} if is_stated else {"least": round(1 / limit)}
            values = {**_shown(attack, name, figure), "gain": out_of_100(gain), **end}
            too_much = Said(
                TOO_MUCH if is_stated else PASSED, values, 1 + gain, "requirements" if is_stated else "limit"
            )
            key = f"{attack['threat']}: {attack_title(attack['attack'], attack.get('sensitive'))}"
            # Of several scores of one attack that which finds most.
            found[key] = max(too_much, found.get(key, too_much), key=lambda each: each.weight)
    yield from found.values()


def _open(case: Evidence, *, has_sensitive: bool) -> Iterator[Said]:
    """Yield what has to be settled before a release, what was measured first."""
    limit = _limit(case)
    for attack, name, figure in _figures(case):
        values = _shown(attack, name, figure)
        if figure.low is None or figure.high is None or figure.blind is None:
            yield Said("{attack}, by {who}, states no interval or no chance: judge it yourself.", values, 5, "context")
        elif figure.low <= figure.blind + limit < figure.high:
            said = "{who} may be right for {low} to {high} of 100 {things} ({attack}), blind guessing is for {blind}: "
            yield Said(f"{said}too few to tell.", values, 6, "requirements")
        if name == "certain" and figure.value > 0 and (figure.low or 0.0) <= limit:
            yield Said(
                "{found} of 100 people are found with certainty ({attack}, by {who}).", values, 7, "requirements"
            )
    if case.kept_anyway:
        said = "Released as it is although it may lead to people: {columns}."
        yield Said(said, {"columns": ", ".join(case.kept_anyway)}, 6.5, "roles")
    if case.n_unchanged and case.n_unchanged == case.n_released:
        said = "All {n} rows keep their quasi-identifiers unchanged."
        yield Said(said, {"n": f"{case.n_unchanged:,}"}, 6.8, "requirements")
    if _loses_too_much(case):
        said = "{loss} of 100 of the detail is lost: hardly any use is left."
        yield Said(said, {"loss": out_of_100(case.loss)}, 3.2, "requirements")
    for one, said in (
        (is_linking, "No attack that links a record to a person was measured."),
        (is_singling_out, "Whether labels single people out was not measured."),
        *([(is_inferring, "No attack that learns a value of a person was measured.")] if has_sensitive else []),
    ):
        if not any(one(each) and (scores_that_decide(each) or describes_nobody(each)) for each in case.attacks):
            yield Said(said, {}, 4, "requirements")
    if case.earlier is not None and not any(one["attack"] == "intersection" for one in case.attacks):
        yield Said("What this release and the one before give away together was not measured.", {}, 4)
    if not case.bounds and not case.requirements:
        yield Said("Nobody stated a requirement or a bound that the release must hold.", {}, 3.5, "requirements")
    missing = [name for name in NEEDED if getattr(case.context, name) is None]
    missing += [] if case.reviewer else ["reviewer"]
    if missing:
        yield Said("Not stated: {fields}.", {"fields": missing}, 2, "context")
    if case.context.environment == "public" and case.context.harm in BAD_HARMS:
        yield Said(
            "The harm is {harm}, and anybody may receive the release.", {"harm": case.context.harm}, 2.5, "context"
        )
    review = day_of(case.context.review_on)
    if review is not None and review < case.today:
        yield Said("The day of the review, {day}, is past.", {"day": case.context.review_on}, 8, "context")


def _to_accept(case: Evidence) -> Iterator[Said]:
    """Yield the figure that somebody must accept where nobody stated how much an attack may gain."""
    if case.context.most_gain is not None:
        return
    strongest = _strongest(case)
    if strongest is None or not strongest["is_beyond_chance"]:
        yield Said(NOT_LIMITED, {}, 3, "context")
        return
    shown = {name: strongest["values"][name] for name in ("found", "blind", "things")}
    values, said = ({"reviewer": case.reviewer, **shown}, ACCEPT) if case.reviewer else (shown, NOBODY)
    yield Said(said, values, 9, "context")


def _limit(case: Evidence) -> float:
    """Return how much an attack may gain as a share: what was stated, else the largest for which there is precedent."""
    stated = case.context.most_gain
    return 1 / PRECEDENTS[case.context.environment or "public"] if stated is None else stated


def _in_favor(case: Evidence) -> Iterator[Said]:
    strongest = _strongest(case)
    if strongest is not None and case.context.most_gain is not None:
        yield Said(
            "No attack gains more than the {most} of 100 that it may.", {"most": out_of_100(case.context.most_gain)}
        )
    n = len(case.bounds) + len(case.requirements)
    yield Said("All {n} requirements and bounds hold, recounted on the released rows.", {"n": n})
    if case.is_drawn:
        yield Said("No row is a person's: all were drawn from a model.", {})
    else:
        yield Said("The smallest class has {k}; {n} are alone.", {"k": case.k, "n": case.n_alone})


def _figures(case: Evidence) -> Iterator[tuple[JsonView, str, Figure]]:
    for attack in case.attacks:
        for name, score in scores_that_decide(attack).items():
            yield attack, name, figure_of(attack, name, score, case.context.most_gain)


def _strongest(case: Evidence) -> Json | None:
    """Return the attack that finds most beyond blind guessing, in people out of a hundred."""
    tried = [one for one in case.attacks if scores_that_decide(one) and not is_singling_out(one)]
    found = [(one, *strongest_score(one)) for one in tried]
    figures = [(one, name, figure_of(one, name, score, case.context.most_gain)) for one, name, score in found]
    if not figures:
        return None
    attack, name, figure = max(figures, key=lambda one: one[2].value - (one[2].blind or 0.0))
    said = f"The strongest attack: {_FINDS[_kind(attack)]} With 95 % confidence it is {{low}} to {{high}} of 100."
    return {
        "said": said,
        "values": _shown(attack, name, figure),
        "unit": figure.unit,
        "gain": figure.value - (figure.blind or 0.0),
        # Whether the whole interval lies above what blind guessing finds.
        "is_beyond_chance": (figure.value if figure.low is None else figure.low) > (figure.blind or 0.0),
    }


def _kind(attack: JsonView) -> str:
    if is_inferring(attack) and attack.get("sensitive") is not None:
        return "inferring"
    # Of a history shares are of months and pseudonyms, not of people.
    return "linking" if is_linking(attack) and isinstance(attack["known"], list) else "other"


def _shown(attack: JsonView, name: str, figure: Figure) -> Json:
    return {
        "attack": attack["attack"],
        "column": attack.get("sensitive"),
        "who": attack["threat"],
        "knows": attack["known"],
        "score": name,
        "things": "descriptions" if attack["attack"] == OF_DESCRIPTIONS else THINGS.get(name, "people"),
        "found": out_of_100(figure.value),
        "blind": out_of_100(figure.blind),
        "low": out_of_100(figure.low),
        "high": out_of_100(figure.high),
    }


def _number(value: Any) -> str:
    return f"{float(value):.4g}"
