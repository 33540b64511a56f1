"""Submissions of PWSCUP 2017 and 2018 mutated at random: a verdict every time, and one that names its rules.

Valid submissions of a few rows are the start, so that mutants get past the form of the file to the rules behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.attacks.judge import truth_of
from tokumei.contest.edition import Edition, Rule, files_in
from tokumei.contest.editions.pwscup2017 import files as pwscup2017
from tokumei.contest.editions.pwscup2017 import files as rules_2017
from tokumei.contest.editions.pwscup2017.edition import Pwscup2017
from tokumei.contest.editions.pwscup2018 import files as pwscup2018
from tokumei.contest.editions.pwscup2018 import files as rules_2018
from tokumei.contest.editions.pwscup2018.edition import Pwscup2018
from tokumei.core.errors import InputError
from tokumei.measures.generalized_histories import measure_generalized_error

pytestmark = pytest.mark.slow

N_ROWS = 30
# What to do, two places, and a piece of text for those that need one.
Change = tuple[str, int, int, str]
PIECES = st.sampled_from(
    [
        *"P,0/:.*DEL\r\n\"';[]{}\0\t ",
        "\r\n",
        "DEL",
        "*",
        "{A1;B2}",
        "[1;9]",
        "101",
        "2011/2/30",
        "仮",
        "\ufeff",
        "\u2028",
        "é",
        "1e9",
        "99999999",
        "",
    ]
)


def mutated(content: bytes, changes: Sequence[Change]) -> bytes:
    """Change bytes, cells and lines at places drawn at random."""
    for kind, one, two, piece in changes:
        if not content:
            return content
        lines = content.splitlines(keepends=True)
        first, second = one % len(lines), two % len(lines)
        if kind == "flip":
            place = one % len(content)
            content = content[:place] + bytes([content[place] ^ (1 << two % 8)]) + content[place + 1 :]
        elif kind == "insert":
            place = one % (len(content) + 1)
            content = content[:place] + piece.encode() + content[place:]
        elif kind == "cut":
            content = content[: one % (len(content) + 1)] + content[two % (len(content) + 1) :]
        elif kind == "swap":
            lines[first], lines[second] = lines[second], lines[first]
            content = b"".join(lines)
        elif kind == "double":
            content = b"".join([*lines[:first], lines[first], *lines[first:]])
        elif kind == "drop":
            content = b"".join([*lines[:first], *lines[first + 1 :]])
        else:
            cells = lines[first].split(b",")
            cells[two % len(cells)] = piece.encode()
            lines[first] = b",".join(cells)
            content = b"".join(lines)
    return content


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["flip", "insert", "cut", "swap", "double", "drop", "cell", "cell"]),
        st.integers(0, 5_000),
        st.integers(0, 5_000),
        PIECES,
    ),
    min_size=1,
    max_size=3,
)


@dataclass(frozen=True)
class Submission:
    """A valid submission, the check it passes, and what can be done with whatever passes."""

    path: Path
    valid: bytes
    rules: Sequence[Rule]
    check: Callable[[], None]
    use: Callable[[], object]

    def assert_gets_a_verdict(self, changes: Sequence[Change]) -> None:
        self.path.write_bytes(mutated(self.valid, changes))
        try:
            self.check()
        except InputError as error:
            names = {rule.name for rule in self.rules}
            assert all(fault.rule in names for fault in error.faults), str(error)
        else:
            self.use()


def play(edition: Edition, anonymizer: str, folder: Path) -> tuple[dict[str, Path], dict[str, Path], Path, Path]:
    """Play a small contest up to a guess: the data, what is published, the release and the guess."""
    terms = edition.terms
    edition.make_data(folder, seed=1)
    history = folder / "T.csv"
    lines = history.read_bytes().splitlines(keepends=True)
    history.write_bytes(b"".join(lines[:: len(lines) // N_ROWS]))
    data = files_in(folder, terms.data_files)
    edition.anonymize(anonymizer, data, folder, seed=2)
    release = files_in(folder, terms.release_files)
    edition.publish(data, release, folder, folder, seed=3)
    published = files_in(folder, terms.published_files)
    edition.draw_knowledge(data, folder, seed=4)
    level = {role.name: folder / role.file_name for role in list(terms.knowledge_files.values())[-1]}
    edition.attack(edition.attacks()[0], data, level, published, folder, seed=5)
    return data, published, release[terms.release_files[0].name], folder / "Fh.csv"


@pytest.fixture(scope="module")
def in_2017(tmp_path_factory: pytest.TempPathFactory) -> tuple[Submission, Submission]:
    data, published, release, guess = play(
        Pwscup2017(n_customers=6), "perturb-and-delete", tmp_path_factory.mktemp("2017")
    )
    originals, seen = rules_2017.Originals.read(data), pwscup2017.read_published(published["S"])
    return (
        Submission(
            path=release,
            valid=release.read_bytes(),
            rules=rules_2017.RELEASE_RULES,
            check=lambda: rules_2017.check_release(originals, release),
            use=lambda: truth_of(originals.history, pwscup2017.read_release(release)),
        ),
        Submission(
            path=guess,
            valid=guess.read_bytes(),
            rules=rules_2017.GUESS_RULES,
            check=lambda: rules_2017.check_guess(originals, seen, guess),
            use=lambda: pwscup2017.read_truth(guess),
        ),
    )


@pytest.fixture(scope="module")
def in_2018(tmp_path_factory: pytest.TempPathFactory) -> tuple[Submission, Submission]:
    data, published, release, guess = play(Pwscup2018(n_customers=6), "generalize-2", tmp_path_factory.mktemp("2018"))
    history, seen = pwscup2018.read_history(data["T"]), pwscup2018.read_published(published["A_published"])
    return (
        Submission(
            path=release,
            valid=release.read_bytes(),
            rules=rules_2018.RELEASE_RULES,
            check=lambda: rules_2018.check_release(history, release),
            use=lambda: measure_generalized_error(history, pwscup2018.read_release(release)),
        ),
        Submission(
            path=guess,
            valid=guess.read_bytes(),
            rules=rules_2018.GUESS_RULES,
            check=lambda: rules_2018.check_guess(history, seen, guess),
            use=lambda: pwscup2018.read_guess(guess),
        ),
    )


@settings(max_examples=cases(1_300))
@given(changes=CHANGES)
def test_mutated_release_of_2017_is_refused_by_a_rule_or_tells_who_is_who(
    in_2017: tuple[Submission, Submission], changes: list[Change]
) -> None:
    in_2017[0].assert_gets_a_verdict(changes)


@pytest.mark.thorough
@settings(max_examples=cases(1_250))
@given(changes=CHANGES)
def test_mutated_guess_of_2017_is_refused_by_a_rule_or_can_be_read(
    in_2017: tuple[Submission, Submission], changes: list[Change]
) -> None:
    in_2017[1].assert_gets_a_verdict(changes)


@pytest.mark.thorough
@settings(max_examples=cases(1_250))
@given(changes=CHANGES)
def test_mutated_release_of_2018_is_refused_by_a_rule_or_can_be_scored(
    in_2018: tuple[Submission, Submission], changes: list[Change]
) -> None:
    in_2018[0].assert_gets_a_verdict(changes)


@settings(max_examples=cases(1_250))
@given(changes=CHANGES)
def test_mutated_guess_of_2018_is_refused_by_a_rule_or_can_be_read(
    in_2018: tuple[Submission, Submission], changes: list[Change]
) -> None:
    in_2018[1].assert_gets_a_verdict(changes)
