"""What the slides on attackers by background knowledge print, for the studies that hold data against them."""

from __future__ import annotations

from tokumei_studies.study import StudyLine

PAPER = "Ito, Kikuchi and Nakagawa, attackers by background knowledge (PWS 2017)"
# Attackers 0 to 9.
MEASURED = (0.0025, 0.0965, 0.0807, 0.7974, 0.9788, 0.1851, 0.8945, 0.9400, 0.9750, 0.9994)
PREDICTED = (0.0025, 0.0730, 0.0030, 8.324, 4.544, 0.0076, 21.17, 0.868, 2415.0, 1319.0)
# Digits behind the point that the slides print of each.
PREDICTED_DIGITS = (4, 4, 4, 3, 3, 4, 2, 3, 0, 0)

ROUNDED = "Half a unit of the last digit that the slides print: rounding alone."
FOUR_DIFFERS = (
    "Attacker 4 is stated to know how many rows a purchase has and all of its items. A basket may have an item in "
    "several rows: 1,567 baskets have 1,518 sets of items, and 1,522 pairs of a set and a number of rows. By both, as "
    "stated, .9812 are found; what is printed follows from the set of items alone. Attacker 9, who knows the day as "
    "well, is found alike in both ways."
)
EIGHT_DIFFERS = (
    "The definition, which was used here and for all other attackers, gives .9972, and .9750 cannot follow from it: "
    "a fortieth of the rows would have to be lost to other customers, and only 208 of 38,087 rows agree with one of "
    "another customer in day, number of rows and item. What is printed is Σ Pr(x) / |R_x|, the chance to pick the "
    "right row rather than the right customer: 37,133 / 38,087 = .97495."
)


def measured_line(what: str, number: int, computed: float) -> StudyLine:
    """Hold a measured risk against the printed one of an attacker."""
    is_eight = number == 8
    why = EIGHT_DIFFERS if is_eight else ROUNDED
    what = f"{what} {number}, measured"
    return StudyLine.near(what, MEASURED[number], computed, within=0.00005, why=why, is_same_method=not is_eight)
