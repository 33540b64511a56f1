"""The attacker of tables: who knows somebody's quasi-identifiers and looks at the records that fit."""

from __future__ import annotations

from collections import Counter

from tests.definitions.cases import Row, Value

# What each label of a column stands for; the missing value is None.
Meanings = dict[str, dict[Value, set[Value]]]


def fitting(person: Row, released: list[Row], columns: list[str], meanings: Meanings) -> list[Row]:
    return [row for row in released if all(person[name] in meanings[name][row[name]] for name in columns)]


def record_linkage_certain(people: list[Row], released: list[Row], columns: list[str], meanings: Meanings) -> float:
    """The share of people whom one record fits, which is then theirs (row n is person n's)."""
    alone = [len(fitting(one, released, columns, meanings)) == 1 for one in people]
    return sum(alone) / len(people)


def homogeneity_certain(
    people: list[Row], released: list[Row], columns: list[str], meanings: Meanings, sensitive: str
) -> float:
    """The share of people of whom all fitting records tell the same value, and it is theirs."""
    told = [{row[sensitive] for row in fitting(one, released, columns, meanings)} for one in people]
    return sum(values == {one[sensitive]} for one, values in zip(people, told, strict=True)) / len(people)


def homogeneity_expected(
    people: list[Row], released: list[Row], columns: list[str], meanings: Meanings, sensitive: str
) -> float:
    """The expected share of people whose value is that of most fitting records, one drawn where several are."""
    chances = []
    for one in people:
        counts = Counter(row[sensitive] for row in fitting(one, released, columns, meanings))
        most = [value for value, n in counts.items() if n == max(counts.values())]
        chances.append((one[sensitive] in most) / len(most))
    return sum(chances) / len(people)


def background_at_worst(
    people: list[Row], released: list[Row], columns: list[str], meanings: Meanings, sensitive: str, n_excluded: int
) -> float:
    """The share of people of whom one value is left if those ruled out are chosen to do most harm."""
    told = [{row[sensitive] for row in fitting(one, released, columns, meanings)} for one in people]
    return sum(
        one[sensitive] in values and len(values) <= n_excluded + 1 for one, values in zip(people, told, strict=True)
    ) / len(people)


def intersection_candidates(
    person: Row, last: list[Row], earlier: list[Row], columns: list[str], meanings: Meanings, sensitive: list[str]
) -> int:
    """The fitting records of the last release whose sensitive values, together, a fitting earlier record has."""
    before = fitting(person, earlier, columns, meanings)
    return sum(
        any(all(row[name] == one[name] for name in sensitive) for one in before)
        for row in fitting(person, last, columns, meanings)
    )


def chances_to_be_in(people: list[Row], released: list[Row], columns: list[str], meanings: Meanings) -> list[float]:
    """The chance of each of a population to be in: a record is as likely any of those that it fits."""
    n_fitting = [len([one for one in people if fitting(one, [row], columns, meanings)]) for row in released]
    return [
        min(
            1.0,
            sum(1 / n for row, n in zip(released, n_fitting, strict=True) if fitting(one, [row], columns, meanings)),
        )
        for one in people
    ]
