"""The attack that decoded every right line of a guess from scores, played again: it learns nothing."""

from __future__ import annotations

import itertools

import pytest
from django.test import Client
from tests.platform.sites import (
    Site,
    captain,
    enter_team,
    evaluated,
    guess,
    make_contest,
    make_person,
    participation,
    release,
)
from tests.platform.test_phases import end_anonymizing, end_attacks

from tokumei.core.errors import NotAllowed
from tokumei.platform.contests.models import Contest, Phase
from tokumei.platform.contests.services import joining, scoreboard, showing, submitting
from tokumei.platform.contests.services.visibility import N_BANDS, bound_of, in_band
from tokumei.platform.teams import services as teams


@pytest.fixture
def attacks(site: Site) -> Contest:
    """A contest whose attacks are open: red and blue released, gray did not."""
    contest = make_contest("red", "blue", "gray", guesses_a_day=50)
    evaluated(release(contest, "red"))
    evaluated(release(contest, "blue", "10 20 30 40 50 61"))
    contest = end_anonymizing(contest)
    assert contest.phase == Phase.ATTACK
    return contest


def told(contest: Contest, name: str, target: str, rows: str) -> object:
    """What a team is told of a guess while the contest runs."""
    made = evaluated(guess(contest, name, target, rows))
    return showing.show(made, captain(name)).score


def test_throw_away_accounts_cannot_join_once_attacks_are_open(attacks: Contest) -> None:
    for number in range(5):
        with pytest.raises(NotAllowed, match="Attacks have begun"):
            enter_team(attacks, f"throwaway{number}")
    assert joining.participants(attacks).count() == 3


def test_team_without_a_counting_release_cannot_attack(attacks: Contest) -> None:
    with pytest.raises(NotAllowed, match="own release counts"):
        guess(attacks, "gray", "red")


def test_guesses_that_differ_in_one_line_are_told_nothing_until_the_end(attacks: Contest) -> None:
    rows = list("012345")
    answers = [told(attacks, "red", "blue", " ".join(rows))]
    for one, other in itertools.combinations(range(4), 2):
        swapped = list(rows)
        swapped[one], swapped[other] = swapped[other], swapped[one]
        answers.append(told(attacks, "red", "blue", " ".join(swapped)))
    assert answers == [None] * len(answers)
    before = scoreboard.standings(attacks, captain("red"))
    assert scoreboard.attack_matrix(attacks, captain("red")) == {}
    # Nor do places or safety on the board move with guesses.
    told(attacks, "red", "blue", "5 4 3 2 1 0")
    assert scoreboard.standings(attacks, captain("red")).lines == before.lines
    closed = end_attacks(attacks)
    assert ("red", "blue") in scoreboard.attack_matrix(closed, captain("red"))


def test_shown_guesses_tell_a_band_and_the_rules_bound_what_that_tells(attacks: Contest) -> None:
    Contest.objects.filter(pk=attacks.pk).update(shows_guess_scores=True)
    attacks.refresh_from_db()
    tried = list(itertools.permutations("012345"))[:12]
    answers = [told(attacks, "red", "blue", " ".join(rows)) for rows in tried[: attacks.guesses_on_one]]
    for answer in answers:
        assert isinstance(answer, dict)
        assert answer["success"] in {0, 0.25, 0.5, 0.75}
        assert (answer["details"], answer["is_proof"]) == ({}, False)
    for value in scoreboard.attack_matrix(attacks, captain("blue")).values():
        assert value in {0, 0.25, 0.5, 0.75}
    bound = bound_of(attacks, n_levels=2, n_teams=3)
    # Worked by hand: two bits for each of the guesses of two other teams at two levels.
    assert bound.n_guesses == attacks.guesses_on_one * 2 * 2
    assert bound.bits == 2 * bound.n_guesses
    page = Client().get(f"/contests/{attacks.slug}/rules").content.decode()
    assert f"at most {bound.bits:.0f} bits" in page


def test_bands_are_four_and_each_success_lies_in_one() -> None:
    assert [in_band(value) for value in (0, 0.2499, 0.25, 0.5, 0.999, 1)] == [0, 0, 0.25, 0.5, 0.75, 0.75]
    assert N_BANDS == 4


def test_hidden_guesses_tell_no_bits(attacks: Contest) -> None:
    assert bound_of(attacks, n_levels=2, n_teams=3).bits == 0


def test_member_who_leaves_with_the_truth_cannot_use_it_in_another_team(site: Site) -> None:
    contest = make_contest("red", "blue")
    spy = make_person("spy")
    red = participation(contest, "red").team
    # Rosters freeze at joining.
    _invitation, token = teams.invite(red, captain("red"))
    with pytest.raises(NotAllowed, match="not over"):
        teams.accept(spy, token)
    # Whoever was on the roster when the team joined is barred from other teams, also after leaving.
    leaver = make_person("leaver")
    green = teams.create_team(make_person("green-captain"), slug="green", display_name="Green")
    _invitation, token = teams.invite(green, captain("green"))
    teams.accept(leaver, token)
    joining.join(contest, green, captain("green"))
    teams.leave(green, leaver)
    gray = teams.create_team(leaver, slug="gray", display_name="Gray")
    with pytest.raises(NotAllowed, match="is or was"):
        joining.join(contest, gray, leaver)
    evaluated(release(contest, "red"))
    evaluated(release(contest, "green", "10 20 30 40 50 61"))
    contest = end_anonymizing(contest)
    with pytest.raises(NotAllowed, match="were in that team"):
        submitting.submit_guess(participation(contest, "red"), leaver, green, "all", {})


def test_organizer_and_admin_cannot_take_part(site: Site) -> None:
    contest = make_contest()
    for number, user in enumerate((contest.organizer, make_person("root", is_superuser=True))):
        team = teams.create_team(user, slug=f"team{number}", display_name=f"Team {number}")
        with pytest.raises(NotAllowed, match="organizer"):
            joining.join(contest, team, user)


def test_public_contest_wants_a_confirmed_address(site: Site) -> None:
    contest = make_contest()
    user = make_person("fresh", verified_at=None)
    team = teams.create_team(user, slug="fresh-team", display_name="Fresh")
    with pytest.raises(NotAllowed, match="Confirm"):
        joining.join(contest, team, user)
