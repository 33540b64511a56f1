"""The figures of a contest, each drawn once for what it shows and kept until that changes."""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from tokumei.contest.edition import AttackRule
from tokumei.contest.season import safety_lost
from tokumei.core.text import Json
from tokumei.data.files.disk import write_text
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.drawing import Drawer
from tokumei.platform.contests.models import Contest
from tokumei.platform.contests.services import scoreboard, teamwork
from tokumei.platform.contests.services.rulebook import terms_of
from tokumei.platform.contests.services.visibility import seen_by
from tokumei.platform.contests.words import said_by

Rows = list[Json]

# A figure is described in words up to so many of its rows.
MOST_DESCRIBED = 8
# Seconds; a figure that changed since is of no more use, and much sooner where one was drawn after it.
KEPT_FOR = 24 * 3600.0
KEPT_BESIDE = 300.0
# Seconds that a figure may be behind the scores: browsers keep it as long, and a machine draws it no more often, since
# that takes a processor for a moment.
BEHIND = 30
_drawer, _drawing = Drawer(), threading.Lock()
atexit.register(_drawer.end)


@dataclass(frozen=True)
class ScoreFacts:
    """What somebody may see of a contest's scores."""

    board: scoreboard.Scoreboard
    attacks: Mapping[tuple[str, str], float]
    attacks_on: list[scoreboard.AttackSeen]
    history: list[teamwork.HistoryPoint]
    # How guesses count, in the reader's language when it is read.
    rule: AttackRule

    def name(self, team: str) -> str:
        """Call a team by its name."""
        return self.board.names.get(team, team)


def facts_of(contest: Contest, viewer: User | None) -> ScoreFacts:
    """Gather what somebody may see, once for all who see the same until something changes."""
    seen = seen_by(contest, viewer)

    def gather() -> ScoreFacts:
        return ScoreFacts(
            scoreboard.standings(contest, viewer),
            scoreboard.attack_matrix(contest, viewer),
            scoreboard.attacks_on(contest, viewer),
            teamwork.history(contest, viewer),
            terms_of(contest).attack_rule,
        )

    return scoreboard.kept("facts", contest, seen, gather)


def _standings(facts: ScoreFacts) -> Rows:
    return [
        {
            "team": facts.name(line.team),
            "utility": float(line.utility),
            "safety": safety_lost(line, facts.attacks),
            "is_ranked": line.value is not None,
        }
        for line in facts.board.lines
    ]


def _attacks(facts: ScoreFacts) -> Rows:
    return [
        {"attacker": facts.name(attacker), "target": facts.name(target), "success": float(success)}
        for (attacker, target), success in sorted(facts.attacks.items())
    ]


def _history(facts: ScoreFacts) -> Rows:
    return [{"team": facts.name(point.team), "at": _clock(point), "best": point.value} for point in facts.history]


def _clock(point: teamwork.HistoryPoint) -> str:
    """Format a time by the clock of the schedule, which is the server's."""
    return timezone.localtime(point.at).replace(tzinfo=None, microsecond=0).isoformat()


def _tell_standings(row: dict[str, object]) -> str:
    words = _("%(team)s: use lost %(utility).3f, safety lost %(safety).3f")
    return words % row


def _tell_attack(row: dict[str, object]) -> str:
    return _("%(attacker)s found %(success).3f of %(target)s") % row


def _tell_history(row: dict[str, object]) -> str:
    return _("%(team)s: %(best).3f since %(at)s") % row if row["best"] is not None else _("%(team)s: not ranked") % row


@dataclass(frozen=True)
class ScoreFigure:
    """A figure: its title, what it says, its rows, how one of them is told in words, and what draws them."""

    title: str | Promise
    says: str | Promise
    rows: Callable[[ScoreFacts], Rows]
    tell: Callable[[Json], str]
    drawn_by: str
    titles: Mapping[str, str | Promise]


FIGURES: Mapping[str, ScoreFigure] = {
    "standings": ScoreFigure(
        gettext_lazy("Use and safety lost, by team"),
        gettext_lazy("The nearer to the lower left corner, the better; grey teams are not ranked."),
        *(_standings, _tell_standings),
        "standings_figure",
        {"x_title": gettext_lazy("use lost"), "y_title": gettext_lazy("safety lost")},
    ),
    "attacks": ScoreFigure(
        gettext_lazy("Who found whom"),
        gettext_lazy("What each attacker found in each release, counted as on the board: 0 is nobody, 1 is everybody."),
        *(_attacks, _tell_attack),
        "attack_figure",
        {
            "attacker_title": gettext_lazy("attacker"),
            "target_title": gettext_lazy("release of"),
            "success_title": gettext_lazy("found"),
        },
    ),
    "history": ScoreFigure(
        gettext_lazy("The scores so far"),
        gettext_lazy("The score that teams are ranked by, lower is better, after each submission that moved it."),
        *(_history, _tell_history),
        "history_figure",
        {
            "time_title": gettext_lazy("handed in"),
            "value_title": gettext_lazy("score"),
            "team_title": gettext_lazy("team"),
        },
    ),
}


@dataclass(frozen=True)
class Shown:
    """A figure on a page: `tells` is for those who do not see it."""

    name: str
    title: str
    says: str
    tells: str


def figures_on_page(facts: ScoreFacts) -> list[Shown]:
    """List the figures that have something to show."""
    found = []
    for name, figure in FIGURES.items():
        rows = figure.rows(facts)
        if rows:
            told = [figure.tell(row) for row in rows[:MOST_DESCRIBED]]
            more = ["…"] if len(rows) > MOST_DESCRIBED else []
            tells = "; ".join([*told, *more])
            says = f"{figure.says} {_counting(facts.rule)}" if name == "attacks" else str(figure.says)
            found.append(Shown(name, str(figure.title), says, f"{figure.title}. {tells}"))
    return found


def _counting(rule: AttackRule) -> str:
    """Describe how guesses count, in the words of the rules."""
    return _("Of an attacker's guesses, %(rule)s.") % {"rule": said_by(rule, "says")}


def draw(name: str, contest: Contest, viewer: User | None) -> str | None:
    """Draw a figure of what somebody may see, or give one of a moment ago; None where there is nothing to show."""
    rows = FIGURES[name].rows(facts_of(contest, viewer))
    if not rows:
        return None
    # Drawing takes a second and looking it up takes none, so that a busy scoreboard stays quick. All processes of this
    # machine share what was drawn, and nobody gets what is drawn for others.
    drawn_for = _digest([name, get_language(), repr(seen_by(contest, viewer))])
    kept = _folder(contest) / f"{drawn_for}-{_digest(rows)}.svg"
    if not kept.is_file():
        before = max(_folder(contest).glob(f"{drawn_for}-*.svg"), key=_drawn_at, default=None)
        if before is not None:
            if time.time() < _drawn_at(before) + BEHIND:
                return before.read_text("utf-8")
            # Whoever comes while this one is drawn gets the one before; it may be removed in this very moment.
            with suppress(FileNotFoundError):
                os.utime(before)
        _draw(name, rows, kept)
    return kept.read_text("utf-8")


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _drawn_at(path: Path) -> float:
    """Return when a figure was drawn; one removed meanwhile sorts before all others."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _draw(name: str, rows: Rows, kept: Path) -> None:
    figure = FIGURES[name]
    titles = {key: str(title) for key, title in figure.titles.items()}
    with _drawing:
        # Somebody else may have asked for the same one meanwhile.
        if not kept.is_file():
            kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_text(kept, _drawer.draw(figure.drawn_by, rows, titles))
            _forget_old(kept)


def _folder(contest: Contest) -> Path:
    return Path(settings.MEDIA_ROOT) / "figures" / contest.folder_key


def _forget_old(kept: Path) -> None:
    drawn_for = kept.name.partition("-")[0]
    for path in kept.parent.glob("*.svg"):
        age = time.time() - _drawn_at(path)
        if age > KEPT_FOR or (age > KEPT_BESIDE and path.name.startswith(drawn_for) and path != kept):
            path.unlink(missing_ok=True)
