"""Which of a team's releases counts: its latest, its best, or the one it chose.

The best is the one that the edition would rank first, were each release a team of its own that nobody has attacked; of
equally good ones the latest. Where a team may choose and has not, its latest counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tokumei.contest.edition import BEST, CHOSEN, ReleaseScore, Standing, TeamEntry

Rank = Callable[[Sequence[TeamEntry]], list[Standing]]


def which_counts(rule: str, scores: Sequence[ReleaseScore], rank: Rank, chosen: int | None = None) -> int:
    """Return the index of a team's release that counts; releases come in order of submission.

    chosen: the place of the one that the team chose.
    """
    latest = len(scores) - 1
    if rule == CHOSEN and chosen is not None:
        return chosen
    if rule != BEST or not latest:
        return latest
    # The latest has the first name, since some editions tell equals apart by their names.
    lines = rank([TeamEntry(f"release-{latest - place:05d}", score) for place, score in enumerate(scores)])
    first = min(line.place for line in lines)
    return max(latest - int(line.team.removeprefix("release-")) for line in lines if line.place == first)
