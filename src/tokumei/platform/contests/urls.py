"""The addresses of this app."""

from __future__ import annotations

from django.urls import path

from tokumei.platform.contests.views import board, checking, entering, organizing, reading, taking_part

app_name = "contests"
urlpatterns = [
    path("", reading.contests, name="list"),
    path("new", organizing.create, name="new"),
    path("join/<str:token>", taking_part.join_by_link, name="join_by_link"),
    path("submissions/<str:submission>", taking_part.submission, name="submission"),
    path("submissions/<str:submission>/state", taking_part.state, name="state"),
    path("submissions/<str:submission>/report", taking_part.report, name="report"),
    path("submissions/<str:submission>/files/<str:name>", taking_part.submitted, name="submitted"),
    path("checks/<str:check>", checking.show, name="check"),
    path("checks/<str:check>/state", checking.state, name="check_state"),
    path("checks/<str:check>/submit", checking.hand_in, name="hand_in_check"),
    path("<slug:contest>", reading.contest, name="contest"),
    path("<slug:contest>/rules", reading.rules, name="rules"),
    path("<slug:contest>/data", reading.data, name="data"),
    path("<slug:contest>/files/<str:kind>/<str:name>", reading.file, name="file"),
    path("<slug:contest>/files/<str:kind>/<str:team>/<str:name>", reading.file, name="team_file"),
    path("<slug:contest>/kit", reading.kit, name="kit"),
    path("<slug:contest>/export", reading.export, name="export"),
    path("<slug:contest>/scoreboard", board.scoreboard, name="scoreboard"),
    path("<slug:contest>/figures/<str:name>.svg", board.figure, name="figure"),
    path("<slug:contest>/join", taking_part.join, name="join"),
    path("<slug:contest>/team", entering.make_team, name="make_team"),
    path("<slug:contest>/team/join", entering.join_team, name="join_team"),
    path("<slug:contest>/withdraw", taking_part.withdraw, name="withdraw"),
    path("<slug:contest>/submit", taking_part.submit, name="submit"),
    path("<slug:contest>/check", checking.check_release, name="check_release"),
    path("<slug:contest>/attack", taking_part.targets, name="targets"),
    path("<slug:contest>/attack/<str:team>", taking_part.attack, name="attack"),
    path("<slug:contest>/attack/<str:team>/check", checking.check_guess, name="check_guess"),
    path("<slug:contest>/submissions", taking_part.submissions, name="submissions"),
    path("<slug:contest>/organize", organizing.organize, name="organize"),
    path("<slug:contest>/organize/schedule", organizing.schedule, name="schedule"),
    path("<slug:contest>/organize/board", organizing.board, name="board"),
    path("<slug:contest>/organize/announce", organizing.announce, name="announce"),
    path("<slug:contest>/organize/invite", organizing.invite, name="invite"),
    path("<slug:contest>/organize/invitations/<int:invitation>/revoke", organizing.revoke, name="revoke"),
    path("<slug:contest>/organize/teams/<int:participation>/withdraw", organizing.withdraw, name="withdraw_team"),
    path("<slug:contest>/organize/retry", organizing.retry, name="retry"),
    path("<slug:contest>/organize/delete", organizing.delete, name="delete"),
]
