"""The pages of teams, with their forms and addresses."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tokumei.platform.access import UserRequest, access, next_page, redirect_saying
from tokumei.platform.accounts.forms import DisplayNameField
from tokumei.platform.teams import services
from tokumei.platform.teams.models import Team
from tokumei.platform.typed_text import check_short_name, same_name_key


class RenameForm(forms.Form):
    """Asks for what a team is called."""

    display_name = DisplayNameField(
        label=gettext_lazy("Team name"), help_text=gettext_lazy("How others see the team, in any script.")
    )
    team: Team | None = None

    def clean_display_name(self) -> str:
        """Refuse a name that another team has, or one that looks the same."""
        name: str = self.cleaned_data["display_name"]
        others = Team.objects.exclude(pk=self.team.pk) if self.team else Team.objects
        if others.filter(display_key=same_name_key(name)).exists():
            raise ValidationError(gettext_lazy("A team has this name already."))
        return name


class TeamForm(RenameForm):
    """Asks for the names of a new team."""

    slug = forms.CharField(
        label=gettext_lazy("Short name"),
        max_length=40,
        validators=[check_short_name],
        help_text=gettext_lazy("Letters a–z, digits, hyphens and underscores. Files go by it; it cannot be changed."),
        widget=forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false"}),
    )

    def clean_slug(self) -> str:
        """Refuse a name that is taken in whatever case."""
        slug: str = self.cleaned_data["slug"]
        if slug.lower() in {"new", "join"}:
            # They are addresses of pages.
            raise ValidationError(gettext_lazy("This name cannot be used."))
        if Team.objects.filter(slug__iexact=slug).exists():
            raise ValidationError(gettext_lazy("A team has this name already."))
        return slug


@access("user")
def mine(request: UserRequest) -> HttpResponse:
    """List the teams one is in."""
    return render(request, "teams/mine.html", {"memberships": services.teams_of(request.user)})


@access("user", methods="GET POST")
def create(request: UserRequest) -> HttpResponse:
    """Make a team."""
    form = TeamForm(request.POST or None)
    if form.is_valid():
        given = form.cleaned_data
        team = services.create_team(request.user, slug=given["slug"], display_name=given["display_name"])
        messages.success(request, _("The team is made. Invite others to it now."))
        return redirect(next_page(request)) if _goes_on(request) else redirect("teams:team", team=team.slug)
    return render(request, "teams/new.html", {"form": form, "next": next_page(request) if _goes_on(request) else ""})


@access("member", of=services.find_team)
def show(request: UserRequest, team: Team) -> HttpResponse:
    """Show a team to its members."""
    return _page(request, team)


@access("captain", of=services.find_team, methods="GET POST")
def rename(request: UserRequest, team: Team) -> HttpResponse:
    """Change what the team is called."""
    form = RenameForm(request.POST or None, initial={"display_name": team.display_name})
    form.team = team
    if form.is_valid():
        services.rename_team(team, display_name=form.cleaned_data["display_name"])
        return redirect_saying(request, _("Saved."), "teams:team", team=team.slug)
    return render(request, "teams/rename.html", {"form": form, "team": team})


@access("captain", of=services.find_team, methods="POST")
def invite(request: UserRequest, team: Team) -> HttpResponse:
    """Make a link and show it, this once."""
    _invitation, token = services.invite(team, request.user)
    return _page(request, team, link=request.build_absolute_uri(reverse("teams:join", kwargs={"token": token})))


@access("captain", of=services.find_team, methods="POST")
def revoke(request: UserRequest, team: Team, invitation: int) -> HttpResponse:
    """Make a link void."""
    services.revoke(team, invitation)
    return redirect_saying(request, _("The invitation is revoked."), "teams:team", team=team.slug)


@access("user", methods="GET POST")
def join(request: UserRequest, token: str) -> HttpResponse:
    """Come into a team by a link."""
    if request.method == "POST":
        team = services.accept(request.user, token)
        return redirect_saying(request, _("You are in the team now."), "teams:team", team=team.slug)
    return render(request, "teams/join.html", {"invitation": services.invitation_of(token)})


@access("member", of=services.find_team, methods="POST")
def leave(request: UserRequest, team: Team) -> HttpResponse:
    """Leave the team."""
    services.leave(team, request.user)
    return redirect_saying(request, _("You left the team."), "teams:mine")


@access("captain", of=services.find_team, methods="POST")
def remove(request: UserRequest, team: Team, member: int) -> HttpResponse:
    """Take somebody out of the team."""
    services.remove_member(team, member)
    return redirect_saying(request, _("The member is removed."), "teams:team", team=team.slug)


@access("captain", of=services.find_team, methods="POST")
def make_captain(request: UserRequest, team: Team, member: int) -> HttpResponse:
    """Hand the captaincy over."""
    services.make_captain(team, member)
    return redirect_saying(request, _("The team has a new captain."), "teams:team", team=team.slug)


def _goes_on(request: UserRequest) -> bool:
    """Whether somebody came from a page that wants a team, and goes back to it."""
    return bool(request.POST.get("next") or request.GET.get("next"))


def _page(request: UserRequest, team: Team, link: str = "") -> HttpResponse:
    memberships = team.memberships.select_related("user")
    own = next(membership for membership in memberships if membership.user_id == request.user.pk)
    shown = {
        "team": team,
        "memberships": memberships,
        "own": own,
        "invitations": services.open_invitations(team) if own.is_captain else [],
        "link": link,
    }
    return render(request, "teams/team.html", shown)


app_name = "teams"
urlpatterns = [
    path("", mine, name="mine"),
    path("new", create, name="new"),
    path("join/<str:token>", join, name="join"),
    path("<str:team>", show, name="team"),
    path("<str:team>/rename", rename, name="rename"),
    path("<str:team>/invite", invite, name="invite"),
    path("<str:team>/invitations/<int:invitation>/revoke", revoke, name="revoke"),
    path("<str:team>/leave", leave, name="leave"),
    path("<str:team>/members/<int:member>/remove", remove, name="remove"),
    path("<str:team>/members/<int:member>/make-captain", make_captain, name="make_captain"),
]
