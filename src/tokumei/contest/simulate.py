"""A simulated season: the built-in anonymizers as teams, met by every built-in attack, through the real phases.

A team is an anonymizer; where there are more teams than anonymizers, the anonymizers play again with other seeds. The
attacks are played by the house, one attacker for each built-in attack, at every level of knowledge, on every release.
So no team is spared the attack that it would have played itself, and no attacker needs to know which attack is best.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tokumei.contest.edition import Edition, files_in
from tokumei.contest.folder import PUBLIC, Contest
from tokumei.contest.phases import attack, close, judge, prepare, publish, submit
from tokumei.contest.results_page import attack_matrix_svg, results_page, utility_and_safety_svg
from tokumei.core.errors import InputError, UnknownPart
from tokumei.core.progress import step
from tokumei.data.files.atomic import write_text

HOUSE = "house-"
PAGE, STANDINGS, ATTACKS = "results.html", "standings.svg", "attacks.svg"


def simulate(
    edition: Edition,
    folder: Path | str,
    *,
    n_teams: int,
    seed: int,
    source: Path | None = None,
) -> Contest:
    """Play a whole contest in a folder, from preparing it to closing it, and write a page of its results."""
    if n_teams < 1:
        raise InputError.of("at least 1 team", option="teams", value=n_teams)
    contest = prepare(edition, folder, seed=seed, source=source)
    teams = team_names(edition, n_teams)
    with step("anonymizing", n_teams) as bar:
        for team, name in teams.items():
            with played_release(contest, name, team) as release:
                submit(contest, team, release)
            bar.advance()
    publish(contest)
    pairs = [(target, name) for target in teams for name in edition.attacks()]
    with step("attacking", len(pairs)) as bar:
        for target, name in pairs:
            for level in contest.terms.knowledge_files:
                with played_guess(contest, name, f"{HOUSE}{name}", target, level) as guess:
                    attack(contest, f"{HOUSE}{name}", target, guess, knowledge=level)
            bar.advance()
    judge(contest)
    close(contest)
    write_results(contest, f"A simulated season of {n_teams} teams, each a built-in anonymizer (seed {seed}).")
    return contest


def team_names(edition: Edition, n_teams: int) -> dict[str, str]:
    """Name the teams after the anonymizers that they play."""
    anonymizers = list(edition.anonymizers())
    teams = {}
    for number in range(n_teams):
        name, turn = anonymizers[number % len(anonymizers)], number // len(anonymizers)
        teams[f"{name}-{turn + 1}" if turn else name] = name
    return teams


@contextmanager
def played_release(contest: Contest, name: str, team: str) -> Iterator[Path]:
    """Create a folder with the release that a built-in anonymizer makes for a team."""
    season = contest.season()
    season.check_may_submit(team)
    _check_known(name, contest.edition.anonymizers(), "anonymizer")
    with tempfile.TemporaryDirectory() as folder:
        seed = contest.key.seed("play", "release", team, season.n_releases(team))
        contest.edition.anonymize(name, contest.data_files(season), Path(folder), seed=seed)
        yield Path(folder)


@contextmanager
def played_guess(contest: Contest, name: str, attacker: str, target: str, level: str) -> Iterator[Path]:
    """Create a folder with the guess that a built-in attack makes from public files only."""
    season = contest.season()
    season.check_may_attack(attacker, target, level)
    _check_known(name, contest.edition.attacks(), "attack")
    known = files_in(contest.path(PUBLIC, "knowledge"), contest.terms.knowledge_files[level])
    data, published = contest.data_files(season), contest.published_files(season, target)
    with tempfile.TemporaryDirectory() as folder:
        seed = contest.key.seed("play", "guess", attacker, target, level, season.n_guesses_by(attacker))
        contest.edition.attack(name, data, known, published, Path(folder), seed=seed)
        yield Path(folder)


def write_results(contest: Contest, introduction: str) -> None:
    """Write the page of results and its figures beside the log."""
    season = contest.season()
    entries = season.entries()
    standings = contest.edition.rank(entries)
    results_page(contest.terms, entries, standings, introduction=introduction).write(contest.path(PAGE))
    write_text(contest.path(STANDINGS), utility_and_safety_svg(entries, standings))
    write_text(contest.path(ATTACKS), attack_matrix_svg(entries, standings, contest.terms.attack_rule))


def _check_known(name: str, known: Sequence[str], kind: str) -> None:
    if name not in known:
        raise UnknownPart(kind, name, known)
