"""What is promised of baskets: kᵐ-anonymity (Terrovitis, Mamoulis and Kalnis 2008), LKC-privacy (Mohammed, Fung, Hung
and Lee 2009), (h,k,p)-coherence (Xu, Wang, Fu and Yu 2008)."""

from __future__ import annotations

from itertools import combinations


def fewest_sharing(baskets: list[set[str]], m: int) -> int:
    """The customers who share the rarest combination of up to m items; 0 where nothing was bought."""
    known = {combo for one in baskets for size in range(1, m + 1) for combo in combinations(sorted(one), size)}
    return min((sum(set(combo) <= one for one in baskets) for combo in known), default=0)


def exposure(baskets: list[set[str]], n_known: int, secret: set[str]) -> tuple[int, float]:
    """The fewest who share up to so many known items, none at all being known too, and the largest confidence."""
    fewest, confidences = [len(baskets)] if baskets else [0], [0.0]
    public = sorted(set().union(*baskets) - secret)
    for size in range(n_known + 1):
        for combo in combinations(public, size):
            buyers = [one for one in baskets if set(combo) <= one]
            if buyers:
                fewest.append(len(buyers))
                confidences += [sum(item in one for one in buyers) / len(buyers) for item in secret]
    return min(fewest), max(confidences)
