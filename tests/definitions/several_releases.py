"""Several releases of the same people: m-invariance (Xiao and Tao 2007), MultiR k-anonymity (Nergiz, Clifton and Nergiz
2007), and who is left after intersecting classes (Ganta, Kasiviswanathan and Smith 2008)."""

from __future__ import annotations

from collections import Counter

from tests.definitions.cases import Row, Value

# Each release has rows with the person's number under "id".
Release = list[Row]
Key = tuple[Value, ...]


def class_of(row: Row, columns: list[str]) -> Key:
    return tuple(row[name] for name in columns)


def rows_of(person: Value, release: Release) -> list[Row]:
    return [row for row in release if row["id"] == person]


def everybody(releases: list[Release]) -> set[Value]:
    return {row["id"] for release in releases for row in release}


def values_in_class(row: Row, release: Release, columns: list[str], sensitive: str) -> list[Value]:
    return [one[sensitive] for one in release if class_of(one, columns) == class_of(row, columns)]


def m_invariance(releases: list[Release], columns: list[str], sensitive: str) -> int:
    """The largest m: every class has m rows or more, all of different values, and a person's values never change."""
    classes = [values_in_class(row, release, columns, sensitive) for release in releases for row in release]
    signatures = [
        {frozenset(values_in_class(row, one, columns, sensitive)) for one in releases for row in rows_of(person, one)}
        for person in everybody(releases)
    ]
    repeats = any(len(set(values)) < len(values) for values in classes)
    changes = any(len(found) > 1 for found in signatures)
    return 0 if repeats or changes else min(map(len, classes), default=0)


def multi_r(releases: list[Release], columns: list[str]) -> int:
    """The fewest people who have the same rows, each as often, in every table."""
    what = {
        person: tuple(
            frozenset(Counter(class_of(row, columns) for row in rows_of(person, one)).items()) for one in releases
        )
        for person in everybody(releases)
    }
    return min((list(what.values()).count(rows) for rows in what.values()), default=0)


def alike(person: Value, releases: list[Release], columns: list[str]) -> list[Value]:
    """Those who have the person's class in every release that the person is in."""
    own = [(release, class_of(row, columns)) for release in releases for row in rows_of(person, release)]
    return [
        other
        for other in everybody(releases)
        if all(key in [class_of(row, columns) for row in rows_of(other, release)] for release, key in own)
    ]


def sequential_k(releases: list[Release], columns: list[str]) -> int:
    return min((len(alike(person, releases, columns)) for person in everybody(releases)), default=0)


def fewest_remaining(releases: list[Release], columns: list[str], sensitive: str) -> int | None:
    """The fewest values in all classes of a person whose value stayed the same; None if there is nobody."""
    left = []
    for person in everybody(releases):
        own = [(row, release) for release in releases for row in rows_of(person, release)]
        if len({row[sensitive] for row, _ in own}) == 1:
            left.append(set.intersection(*(set(values_in_class(*one, columns, sensitive)) for one in own)))
    return min(map(len, left), default=None)
