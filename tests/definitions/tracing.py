"""(k,t)-privacy (Mano, Minami and Maruyama 2013): the places where somebody may be t days after a visit, if pseudonyms
may be exchanged wherever several are at one place on one day."""

from __future__ import annotations

# Pseudonym, place, day.
Visit = tuple[str, str, int]


def may_be_after(suspects: set[str], visits: list[Visit], day: int) -> set[str]:
    """All whom the suspects met on a day, and whom those met, until nobody is new."""
    found = set(suspects)
    while True:
        places = {place for who, place, when in visits if when == day and who in found}
        met = found | {who for who, place, when in visits if when == day and place in places}
        if met == found:
            return found
        found = met


def fewest_places(visits: list[Visit], t: int) -> int:
    """The fewest places of anybody who can be followed so long; 0 if nobody can."""
    counts = []
    for who, _, start in visits:
        suspects = {who}
        for day in range(start, start + t):
            suspects = may_be_after(suspects, visits, day)
        places = set()
        for one in suspects:
            later = [when for other, _, when in visits if other == one and when >= start + t]
            if later:
                places |= {place for other, place, when in visits if other == one and when == min(later)}
        counts.append(len(places))
    return min((n for n in counts if n), default=0)
