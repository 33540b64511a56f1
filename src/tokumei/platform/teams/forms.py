"""The forms of this app."""

from __future__ import annotations

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from tokumei.platform.accounts.forms import DisplayNameField
from tokumei.platform.names import check_short_name, same_name_key
from tokumei.platform.teams.models import Team


class RenameForm(forms.Form):
    """Asks for what a team is called."""

    display_name = DisplayNameField(label=_("Team name"), help_text=_("How others see the team, in any script."))
    team: Team | None = None

    def clean_display_name(self) -> str:
        """Refuse a name that another team has, or one that looks the same."""
        name: str = self.cleaned_data["display_name"]
        others = Team.objects.exclude(pk=self.team.pk) if self.team else Team.objects
        if others.filter(display_key=same_name_key(name)).exists():
            raise ValidationError(_("A team has this name already."))
        return name


class TeamForm(RenameForm):
    """Asks for the names of a new team."""

    slug = forms.CharField(
        label=_("Short name"),
        max_length=40,
        validators=[check_short_name],
        help_text=_("Letters a–z, digits, hyphens and underscores. Files go by it; it cannot be changed."),
        widget=forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false"}),
    )

    def clean_slug(self) -> str:
        """Refuse a name that is taken in whatever case."""
        slug: str = self.cleaned_data["slug"]
        if slug.lower() in {"new", "join"}:
            # They are addresses of pages.
            raise ValidationError(_("This name cannot be used."))
        if Team.objects.filter(slug__iexact=slug).exists():
            raise ValidationError(_("A team has this name already."))
        return slug
