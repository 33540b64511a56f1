"""The United States: HIPAA's two methods (45 CFR 164.514), NIST SP 800-188 and SP 800-226."""

from __future__ import annotations

import re
from collections.abc import Iterator

import polars as pl

from tokumei.attacks.registry import MET, NOT_MET
from tokumei.data.context import OF_USE
from tokumei.inspection.evidence import Clause, Evidence, Figure, Framework, Verdict, counted, listed, not_measured
from tokumei.inspection.patterns import plain

ARTICLE = "164.514(b)(2)(i)"
# Initial digits whose areas hold 20,000 people or fewer, by the census of 2000: the list of the department's guidance
# on de-identification (2012), which asks to follow newer counts of the census where there are any.
SMALL_ZIP3 = frozenset("036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893".split())  # noqa: SIM905
OLDEST = 89
# Each of the eighteen with the kinds of columns that hold it.
_BY_KIND = (
    ("(A)", "names", ("person-name", "user-name", "free-text")),
    ("(D)", "telephone numbers", ("phone",)),
    ("(E)", "fax numbers", ("phone",)),
    ("(F)", "electronic mail addresses", ("email", "mixed")),
    ("(G)", "social security numbers", ("insurance", "my-number")),
    ("(H)", "medical record numbers", ("code",)),
    ("(I)", "health plan beneficiary numbers", ("insurance",)),
    ("(J)", "account numbers", ("account", "card")),
    ("(K)", "certificate and license numbers", ("licence", "passport")),
    ("(L)", "vehicle identifiers and serial numbers, with license plates", ("plate",)),
    ("(M)", "device identifiers and serial numbers", ("mac-address", "code")),
    ("(N)", "web addresses", ("url", "mixed")),
    ("(O)", "IP addresses", ("ip-address",)),
    ("(R)", "any other unique identifying number, characteristic or code", ("code", "unique-text")),
)
NONE_LEFT = "none may be released"
SOURCE = (
    "45 CFR 164.514(b) in our words, read as amended in August 2002; it also covers relatives, employers and household."
)


def safe_harbor(case: Evidence) -> Framework:
    """Count the columns that hold each of the eighteen identifiers, and ask for what only you can know."""
    filled = {
        letter: case.without(ARTICLE + letter, what, NONE_LEFT, case.of_kinds(*kinds))
        for letter, what, kinds in _BY_KIND
    }
    filled |= {"(B)": _places(case), "(C)": _dates(case)}
    for letter, what, kind in (
        ("(P)", "biometric identifiers, with finger and voice prints", "biometric"),
        ("(Q)", "full-face photographs and comparable images", "photo"),
    ):
        filled[letter] = case.without(ARTICLE + letter, what, NONE_LEFT, case.of_body(kind))
    asks = "that you know nothing by which the release could identify somebody"
    knowledge = case.stated("164.514(b)(2)(ii)", "Actual knowledge", asks, "actual_knowledge")
    clauses = [*(filled[letter] for letter in sorted(filled)), knowledge]
    return Framework("hipaa-safe-harbor", "United States: HIPAA Safe Harbor", SOURCE, clauses)


def _values(case: Evidence, name: str) -> list[str]:
    return [plain(value) for value in case.released[name].cast(pl.String).drop_nulls().to_list()]


def _places(case: Evidence) -> Clause:
    """Count rows with a place smaller than a state; three digits of a postal code may stay where many live."""
    title, asks = "places smaller than a state", "none but areas of more than 20,000 people"
    rows = {name: case.released[name].drop_nulls().len() for name in case.of_kinds("address", "region", "coordinates")}
    for name in case.of_kinds("postal-code"):
        digits = [re.sub(r"[^0-9]", "", value) for value in _values(case, name)]
        rows[name] = sum(len(one) > 3 or one in SMALL_ZIP3 for one in digits)
    return _rows_with(case, f"{ARTICLE}(B)", title, asks, rows)


def _rows_with(case: Evidence, number: str, title: str, asks: str, rows: dict[str, int]) -> Clause:
    told = {name: n for name, n in rows.items() if n}
    if not told:
        return case.none_of(number, title, asks, "values", "no row has such a value", {}, may_repeat=True)
    columns = listed([f"{name} ({n:,})" for name, n in told.items()])
    said = "rows with such a value: {columns}"
    return counted(number, title, asks, sum(told.values()), "values", said, {"columns": columns})


def _dates(case: Evidence) -> Clause:
    """Count dates finer than a year, and what tells an age over 89: an age, a year of birth or a range of them."""
    title = "dates but for the year, and ages over 89"
    asks = "none finer than a year, and none that tells an age over 89 but as 90 or older"
    fine = r"\*|[0-9]{3,4}s?|[0-9]{4} ?[-–] ?[0-9]{4}|[\[(][0-9]{4}, ?[0-9]{4}[\])]"
    rows = {name: sum(not re.fullmatch(fine, value) for value in _values(case, name)) for name in case.of_kinds("date")}
    last = case.today.year - OLDEST - 1
    for name in case.of_kinds("birth-date"):
        values = _values(case, name)
        rows[name] = sum(not re.fullmatch(fine, one) or _tells_birth_by(one, last) for one in values)
    for name in case.of_kinds("age"):
        rows[name] = sum(_tells_age_over(value) for value in _values(case, name))
    return _rows_with(case, f"{ARTICLE}(C)", title, asks, rows)


def _tells_birth_by(value: str, year: int) -> bool:
    """Whether a year of birth, or the first of a range of years, is that year or one before.

    A decade such as 1930s begins with its first year. "before 1937" says no more than an age of 90 or older.
    """
    if re.search(r"(<|≤|before|以前)", value):
        return False
    years = [int(one) for one in re.findall(r"(?<![0-9])[0-9]{4}(?![0-9])", value.replace("s", " "))]
    return bool(years) and min(years) <= year


def _tells_age_over(value: str) -> bool:
    """Whether an age, or the end of a range of ages, is over 89; 90 or older is allowed."""
    is_open = bool(re.search(r"(\+|以上|over|>|≥)", value))
    return any(int(one) > OLDEST + is_open for one in re.findall(r"[0-9]+", value)[-1:])


def expert(case: Evidence) -> Framework:
    """Fill an expert's determination by what was measured, against the thresholds that the expert put in the job."""
    article = "164.514(b)(1)"
    clauses = [
        case.stated(article, "The expert", "who determined it, with which experience", "expert"),
        case.stated(article, "The anticipated recipient", "who receives it", "recipient"),
        case.stated(article, "Reasonably available information", "what the recipient may hold beside it", "capacity"),
        case.risk(article, "Distinguishability", "the highest risk of a class", "prosecutor-risk", "chance"),
        case.risk(article, "Distinguishability", "the average risk of all", "prosecutor-risk-mean", "chance"),
        case.strongest(article, "The methods and the result", "the strongest attack against chance"),
        case.stated(article, "How long it holds", "the day on which it is judged anew", "review_on"),
        case.stated(article, "Who answers for it", "who decides on the release", "reviewer"),
    ]
    return Framework("hipaa-expert", "United States: HIPAA Expert Determination", SOURCE, clauses)


def nist_188(case: Evidence) -> Framework:
    """Fill what SP 800-188 asks of the governance of a release."""
    clauses = [
        case.stated("review board", "Disclosure review board", "which board judged it, and when", "review_board"),
        case.stated("goal", "Goals and intended use", "what the release is for", "purpose"),
        case.stated("model", "Data-sharing model", "public, under a contract, or in an enclave", "environment"),
        case.strongest("testing", "Re-identification study", "the strongest attack that was run"),
        case.stated("review", "Review over time", "the day on which it is judged anew", "review_on"),
    ]
    source = (
        "NIST SP 800-188 (September 2023) in our words, of which the abstract was read. Not checked against its text."
    )
    return Framework("nist-800-188", "NIST SP 800-188, de-identifying government datasets", source, clauses)


def nist_226(case: Evidence) -> Framework:
    """Fill what SP 800-226 asks of a release that promises differential privacy."""
    return Framework(
        "nist-800-226",
        "NIST SP 800-226, evaluating differential privacy",
        "NIST SP 800-226 (March 2025), of which the abstract was read. Not checked against its own text.",
        list(_of_privacy(case)),
    )


def _of_privacy(case: Evidence) -> Iterator[Clause]:
    asks = "how much likelier an outcome may become by one person"
    if case.epsilon is None:
        why = "the release promises no differential privacy"
        yield not_measured("ε, δ", "Privacy parameters", asks, why)
        return
    figure = Figure(case.epsilon, "ε, natural logarithm")
    said, values = (
        "ε = {epsilon}, δ = {delta}, spent in all",
        {"epsilon": f"{case.epsilon:g}", "delta": f"{case.delta:g}"},
    )
    yield Clause("ε, δ", "Privacy parameters", asks, Verdict.MEASURED, said, values, figure)
    unit = counted(
        "unit", "Unit of privacy", "who is protected: a row, a person or a household", 1, "units", "{unit}",
        {"unit": case.unit}, most=None,
    )  # fmt: skip
    yield unit
    yield _composition(case)
    yield _found_by_runs(case)
    yield from _use(case)
    yield case.stated("trust", "Trust model", "who sees the original data", "dp_trust")
    title = "Hazards"
    yield not_measured("hazards", title, "side channels", "timing and memory of the program were not measured")
    yield not_measured("hazards", title, "columns and values chosen by looking", "a program cannot see who chose them")
    yield case.stated("hazards", title, "keeping of the original and the noise", "access_control")


def _composition(case: Evidence) -> Clause:
    """Say what all releases of these people spent together, by their account."""
    number, title, asks = "composition", "Composition", "what all releases of the same people tell together"
    told = case.account
    if not told:
        why = "no account was kept (budget): what other releases of these people spent is not known"
        return not_measured(number, title, asks, why)
    said = "ε = {spent} of {budget} is spent at δ = {delta} (releases: {n}); one at ε = {left} would still fit"
    named = {"spent": "spent_epsilon", "budget": "budget_epsilon", "delta": "budget_delta", "left": "left_epsilon"}
    values = {"n": told["releases"], **{name: f"{told[key]:.4g}" for name, key in named.items()}}
    figure = Figure(told["spent_epsilon"], "ε, natural logarithm", bound=told["budget_epsilon"])
    # The account may be kept by ρ, of which ε is rounded.
    is_met = figure.value <= told["budget_epsilon"] * (1 + 1e-9)
    return Clause(number, title, asks, Verdict.MEASURED, said, values, figure, MET if is_met else NOT_MET)


def _found_by_runs(case: Evidence) -> Clause:
    """Hold what shadow runs found of one person against what was promised."""
    number, title, asks = "μ", "Does the promise hold?", "whether what is found of one person exceeds the promise"
    runs = case.audit.get("shadow_runs")
    if not runs:
        return not_measured(number, title, asks, "no shadow runs were made (shadow_runs=1000)")
    said = "{n} runs with and without one person find μ = {empirical}; 95 % interval {low} to {high}"
    values = {"n": runs["n_runs"], **{name: f"{runs[name]:.3f}" for name in ("empirical", "low", "high")}}
    figure = Figure(runs["empirical"], "μ", runs["low"], runs["high"], bound=runs["promised"])
    return Clause(number, title, asks, Verdict.MEASURED, said, values, figure, MET if runs["is_kept"] else NOT_MET)


USES = {
    "pair-error": "of counts by two columns {lost} of 100 are wrong; 95 % interval {low} to {high}",
    "triple-error": "of counts by three columns {lost} of 100 are wrong; 95 % interval {low} to {high}",
    "model-loss": "a model learned from the release is wrong about {lost} of 100 more; 95 % interval {low} to {high}",
}


def _use(case: Evidence) -> Iterator[Clause]:
    """Tell how far answers from the release are from the truth, with their intervals."""
    asks = "how far answers from the release are from those of the people"
    measured = case.audit.get("use") or {}
    for name, said in USES.items():
        if name in measured:
            value, (low, high) = measured[name]["value"], measured[name]["interval"]
            values = {key: f"{100 * one:.3g}" for key, one in (("lost", value), ("low", low), ("high", high))}
            figure = Figure(value, "share lost", low, high)
            yield Clause(OF_USE, "Utility", asks, Verdict.MEASURED, said, values, figure)
    if not measured:
        yield not_measured(OF_USE, "Utility", asks, "use was not judged by people outside")
