"""What the history commands do with generalized releases, those of the 2018 contest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokumei.cli.output import print_facts, print_json, showing_progress

if TYPE_CHECKING:
    from tokumei.data.release import Release

GUESS_COLUMNS = 2


def is_generalized(release: Release) -> bool:
    """Whether a release holds ranges and sets, written as text."""
    import polars as pl

    return release.frame.schema["date"] == pl.String()


def is_guess_of_2018(path: Path) -> bool:
    """Whether a file has the two columns of a guess of 2018."""
    return _n_cells(path) == GUESS_COLUMNS


def write_generalized(release: Release, out: Path, published: Path | None, truth: Path | None) -> tuple[int, int]:
    """Write A and, where asked for, A′ and who is who; give the number of rows and pseudonyms left."""
    from tokumei.contest.editions.pwscup2018.files import write_guess, write_published, write_release
    from tokumei.data.files.generalized import cells_of

    cells = cells_of(release.frame, str(out))
    write_release(cells, out)
    if published is not None:
        write_published(cells, published)
    pseudonyms = release.pseudonyms
    if truth is not None and pseudonyms is not None:
        write_guess(pseudonyms.select("pseudonym", "customer").unique().sort("pseudonym"), truth)
    kept = cells.customer.filter(~cells.is_deleted)
    return len(kept), kept.n_unique()


def measure_generalized(original: Path, release: Path, *, json: bool) -> None:
    """Print the Err of the 2018 contest: the mean loss U and that of each column."""
    from tokumei.contest.editions.pwscup2018.files import read_release
    from tokumei.data.files.histories import read_history
    from tokumei.measure.generalized_error import measure_generalized_error

    with showing_progress():
        score = measure_generalized_error(read_history(original), read_release(release))
    print_json({"scores": {score.name: score.as_dict()}}) if json else print_facts({"U": score.value, **score.inputs})


def attack_generalized(attack: str, original: Path, published: Path, out: Path, *, force: bool, json: bool) -> None:
    """Guess the customers of a generalized release from the whole original, and write the guesses to submit."""
    from tokumei.attack.generalized import GENERALIZED_ATTACKS
    from tokumei.contest.editions.pwscup2018.files import read_published, write_guess
    from tokumei.core.progress import step
    from tokumei.data.files.histories import read_history
    from tokumei.data.files.outputs import guarded

    guard = guarded({"--out": out}, inputs=[original, published], force=force)
    with showing_progress(), guard as drafts, step(f"attacking by {attack}"):
        guesses = GENERALIZED_ATTACKS[attack]().guess(read_history(original), read_published(published))
        write_guess(guesses.select("pseudonym", "customer"), drafts["--out"])
    result: dict[str, Any] = {"attack": attack, "guesses": guesses.height, "out": str(out)}
    print_json(result) if json else print_facts(result)


def judge_generalized(guess: Path, truth: Path, *, json: bool) -> None:
    """Print whether guesses prove a release unsafe."""
    from tokumei.attack.hypothesis import judge_guesses
    from tokumei.contest.editions.pwscup2018.files import read_guess

    verdict = judge_guesses(read_guess(guess), read_guess(truth))
    result: dict[str, Any] = {
        "guesses": verdict.n_guesses,
        "right": verdict.n_right,
        "needed": verdict.n_needed,
        "is_unsafe": verdict.is_unsafe,
    }
    print_json(result) if json else print_facts(result)


def _n_cells(path: Path) -> int:
    """Count the cells of the first line of a CSV file; 0 for any other file."""
    from tokumei.data.files.csv import find_delimiter, first_bytes, header_names
    from tokumei.data.files.source import check_is_file

    if ".csv" not in path.suffixes:
        return 0
    head = first_bytes(check_is_file(path))
    names = header_names(head, find_delimiter(head)) if head else []
    return 0 if "customer" in names else len(names)
