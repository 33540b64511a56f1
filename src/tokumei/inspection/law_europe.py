"""The European Union and the United Kingdom: WP216, the test of a recipient's means, and the motivated intruder.

WP216 is of 2014 and binds nobody; it is the list that most evidence still follows. The judgment C-413/23 P (4 September
2025) is on Regulation (EU) 2018/1725, which defines personal data as the GDPR does. Whether people can be identified is
asked of whoever receives the data; whether they had to be told of the recipient, of whoever gives it.
"""

from __future__ import annotations

from tokumei.attacks.registry import NO_PEOPLE, NO_RANGES, NOT_RUN
from tokumei.inspection.evidence import (
    Clause,
    Evidence,
    Framework,
    counted,
    describes_nobody,
    is_inferring,
    is_linking,
    is_singling_out,
    not_measured,
    scores_that_decide,
)

WP216 = "WP216"
TIGHT = "ranges of numbers are tight: both ends of each are values of people in the group"
CASE = "C-413/23 P"


def gdpr(case: Evidence) -> Framework:
    """Judge the three criteria by attacks that were run, then what a recipient has to identify people with."""
    test = "The recipient's means"
    clauses = [
        *_singling_out(case),
        *case.attacked(WP216, "Linkability", "no two records of one person are linked", is_linking),
        *case.attacked(WP216, "Inference", "no value of a person is deduced", is_inferring),
        case.stated(CASE, test, "for whom it is judged whether people can be identified", "recipient"),
        case.stated(CASE, test, "other data and skill that the recipient may lawfully use", "capacity"),
        case.stated(CASE, test, "terms that keep the recipient from identifying people", "contract"),
        case.stated(CASE, test, "where the recipient works with the release", "environment"),
        case.stated(CASE, "Information", "that people were told who receives it, judged by who gives it", "notice"),
        case.stated("GDPR, article 5(1)(b)", "Purpose limitation", "what the release is used for", "purpose"),
        case.stated("GDPR, article 5(1)(e)", "Storage limitation", "how long it is kept", "retention"),
    ]
    source = (
        "Opinion 05/2014 (WP216) of 10 April 2014, older than the regulation: its three criteria as others quote them. "
        "Judgment C-413/23 P of 4 September 2025, on Regulation (EU) 2018/1725, by its press release and summaries. "
        "Not checked against the law's own text."
    )
    return Framework("gdpr", "European Union: GDPR, WP216 and C-413/23 P", source, clauses)


def _singling_out(case: Evidence) -> list[Clause]:
    """Report rows that are alone, what attacks on labels found, and values of people that are written."""
    title, asks = "Singling out", "nobody's record can be told apart"
    found: list[Clause] = []
    if case.n_alone:
        values = {"n": case.n_alone, "known": ", ".join(case.known)}
        said = "{n} combinations of {known} are of one alone"
        found.append(
            counted(WP216, title, "nobody is alone by what others may know", case.n_alone, case.unit, said, values)
        )
    tried = [one for one in case.attacks if is_singling_out(one)]
    if any(scores_that_decide(one) for one in tried):
        found += case.attacked(WP216, title, asks, is_singling_out)
    elif any(describes_nobody(one) for one in tried):
        said = "the attack found no description that the release lets expect to fit one alone"
        found.append(counted(WP216, title, asks, 0, "descriptions", said, {}, most=None))
    else:
        is_estimated = any("singled-out-estimate" in one["scores"] for one in case.attacks)
        found.append(not_measured(WP216, title, asks, NO_RANGES if tried else NO_PEOPLE if is_estimated else NOT_RUN))
    written = [*([TIGHT] if case.ranges == "tight" else []), *([case.gives_away] if case.gives_away else [])]
    asks = "values of people that the method writes"
    return found + [not_measured(WP216, title, asks, said) for said in written]


def ico(case: Evidence) -> Framework:
    """Fill the test of a motivated intruder: who, by which means, at what cost, with what result, and when."""
    title = "Motivated intruder test"
    tried = "what attacks by a program found, which are no test by a person"
    clauses = [
        case.stated("who", title, "who tried, and by which means", "intruder"),
        case.stated("cost", title, "the time and money that was spent", "intruder_cost"),
        case.stated("result", title, "claims that were made, and how many were right", "intruder_result"),
        case.stated("date", title, "when it was tried", "intruder_on"),
        case.strongest("attacks", "Attacks by a program", tried),
        case.stated("motive", title, "why somebody would try", "motive"),
        case.stated("review", "Review", "when identifiability is judged anew", "review_on"),
    ]
    source = (
        "Guidance of the Information Commissioner's Office on anonymisation (28 March 2025), of which the list of "
        "contents and the summary of the chapter on effective anonymisation were read."
    )
    return Framework("ico", "United Kingdom: the ICO's motivated intruder", source, clauses)
