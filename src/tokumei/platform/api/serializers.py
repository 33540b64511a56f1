"""Turning what the services give into what the API gives; nothing here looks further than the viewer may."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import get_language

from tokumei.contest.edition import ContestTerms, FileRole
from tokumei.core.errors import Fault
from tokumei.core.text import Json
from tokumei.platform.accounts.models import User
from tokumei.platform.api import schemas
from tokumei.platform.contests.models import Contest, Participation, Submission
from tokumei.platform.contests.services import joining, scoreboard, showing, submitting
from tokumei.platform.contests.services.rulebook import terms_of
from tokumei.platform.contests.services.visibility import is_organizer
from tokumei.platform.contests.words import said_by
from tokumei.platform.teams.models import Team


def give_team(team: Team) -> schemas.TeamName:
    """Name a team."""
    return schemas.TeamName(slug=team.slug, display_name=team.display_name)


def give_contest_line(contest: Contest, viewer: User) -> schemas.ContestLine:
    """Serialize a contest for a list."""
    return schemas.ContestLine(**_line(contest, viewer, joining.participation_of(contest, viewer)))


def give_contest(contest: Contest, viewer: User) -> schemas.ContestOut:
    """Serialize a contest with its rules in the reader's language."""
    own = joining.participation_of(contest, viewer)
    names = tuple(name for name in schemas.Limits.model_fields)
    return schemas.ContestOut(
        **_line(contest, viewer, own),
        edition=contest.edition,
        heads=contest.heads,
        key=contest.key if contest.shows_results or is_organizer(contest, viewer) else "",
        rules=give_rules(terms_of(contest)),
        limits=schemas.Limits(**{name: getattr(contest, name) for name in names}),
        attempts=None if own is None else give_attempts(submitting.release_attempts(own)),
        teams=[give_team(one.team) for one in joining.participants(contest)],
        trouble=contest.trouble_in_words if is_organizer(contest, viewer) else "",
    )


def give_rules(terms: ContestTerms) -> schemas.Rules:
    """Serialize an edition's rules in the reader's language."""
    return schemas.Rules(
        language=(get_language() or "en")[:2],
        title=said_by(terms, "title"),
        summary=said_by(terms, "summary"),
        data_files=_roles(terms.data_files),
        own_files=_roles(terms.own_files),
        release_files=_roles(terms.release_files),
        published_files=_roles(terms.published_files),
        guess_files=_roles(terms.guess_files),
        knowledge_files={level: _roles(roles) for level, roles in terms.knowledge_files.items()},
        release_rules=[schemas.Said(name=one.name, says=said_by(one, "says")) for one in terms.release_rules],
        guess_rules=[schemas.Said(name=one.name, says=said_by(one, "says")) for one in terms.guess_rules],
        measures=[schemas.Said(name=one.name, says=said_by(one, "says")) for one in terms.measures],
    )


def give_attempts(attempts: submitting.Attempts) -> schemas.AttemptsOut:
    """Serialize the attempts left."""
    return schemas.AttemptsOut(
        today_allowed=attempts.today_allowed,
        today_used=attempts.today_used,
        in_all_allowed=attempts.in_all_allowed,
        in_all_used=attempts.in_all_used,
        n_left=attempts.n_left,
    )


def give_file(download: showing.Download) -> schemas.FileOut:
    """Serialize a download by its name."""
    return schemas.FileOut(
        kind=download.kind,  # type: ignore[arg-type]
        name=download.path.name,
        role=download.role.name,
        holds=said_by(download.role, "holds"),
        team=download.team,
        level=download.level,
        n_bytes=download.path.stat().st_size,
    )


def give_submission(submission: Submission, viewer: User) -> schemas.SubmissionOut:
    """Serialize a submission for somebody who may see it."""
    shown = showing.show(submission, viewer)
    return schemas.SubmissionOut(
        key=submission.key,
        contest=submission.contest.slug,
        team=submission.team.slug,
        kind=submission.kind,
        target=None if submission.target is None else submission.target.slug,
        knowledge=submission.knowledge,
        by=submission.by.username,
        at=submission.at,
        finished_at=submission.finished_at,
        state=submission.state,
        says=submission.get_state_display(),
        is_final=submission.is_final,
        reason=submission.reason_in_words,
        files=submission.files,
        progress=finite(shown.progress),
        score=finite(shown.score),
        is_score_hidden=shown.is_score_hidden,
        faults=[schemas.FaultOut(**Fault.from_json(fault).as_dict()) for fault in submission.faults],
        n_faults=submission.n_faults,
    )


def give_scoreboard(contest: Contest, viewer: User) -> schemas.ScoreboardOut:
    """Serialize the scoreboard as far as the viewer may see it."""
    board = scoreboard.standings(contest, viewer)
    matrix = scoreboard.attack_matrix(contest, viewer)
    return schemas.ScoreboardOut(
        is_hidden=board.seen.is_hidden,
        frozen_at=board.seen.until,
        has_attacks=board.seen.has_attacks,
        digits=board.seen.digits,
        lines=[
            schemas.StandingOut(
                **finite(line.as_dict())
                | {"team": schemas.TeamName(slug=line.team, display_name=board.names.get(line.team, line.team))}
            )
            for line in board.lines
        ],
        attacks=[
            schemas.AttackOut(attacker=attacker, target=target, success=finite(success))
            for (attacker, target), success in sorted(matrix.items())
        ],
    )


def finite(value: object) -> Any:
    """Replace infinities and NaN, which JSON does not know."""
    if isinstance(value, Mapping):
        return {str(name): finite(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _line(contest: Contest, viewer: User, own: Participation | None) -> Json:
    return {
        "slug": contest.slug,
        "title": contest.title,
        "phase": contest.phase_at(),
        "is_public": contest.is_public,
        "opens_at": contest.opens_at,
        "attacks_open_at": contest.attacks_open_at,
        "closes_at": contest.closes_at,
        "team": None if own is None else give_team(own.team),
        "is_organizer": is_organizer(contest, viewer),
    }


def _roles(roles: Sequence[FileRole]) -> list[schemas.FileRoleOut]:
    return [
        schemas.FileRoleOut(name=role.name, file_name=role.file_name, holds=said_by(role, "holds")) for role in roles
    ]
