"""The forms of this app."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.utils.translation import gettext_lazy as _

from tokumei.core.errors import TokumeiError
from tokumei.exchange.documents import read_criterion
from tokumei.exchange.offer import Offer
from tokumei.platform.accounts.forms import DisplayNameField
from tokumei.platform.accounts.models import User
from tokumei.platform.exchange.models import TEXT_LENGTH, PublishedOffer, Recipient
from tokumei.platform.exchange.services.offers import TAKEN
from tokumei.platform.messages import describe_error
from tokumei.platform.teams.models import Team
from tokumei.platform.teams.services import teams_of
from tokumei.platform.typed_text import check_text


class PlainTextField(forms.CharField):
    """A field for a text of several lines without control characters."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("max_length", TEXT_LENGTH)
        super().__init__(widget=forms.Textarea(attrs={"rows": 3}), **options)

    def clean(self, value: object) -> str:
        """Refuse characters that cannot be seen."""
        text = str(super().clean(value) or "")
        check_text(text)
        return text


class ManyFilesField(forms.FileField):
    """A field for several files."""

    class Input(forms.ClearableFileInput):
        """Lets several be chosen."""

        allow_multiple_selected = True

    widget = Input

    def clean(self, data: object, initial: object = None) -> list[object]:
        """Clean each."""
        given = data if isinstance(data, (list, tuple)) else [data]
        return [super(ManyFilesField, self).clean(each, initial) for each in given]


class RecipientForm(forms.Form):
    """Asks who a user is to providers."""

    organization = DisplayNameField(
        label=_("Organization"), help_text=_("Who asks. Providers see it, and the public when something is given.")
    )
    about = PlainTextField(label=_("About you"), required=False, help_text=_("For providers: your work, a contact."))


class AskForm(forms.Form):
    """Asks what levels are wanted for; the levels themselves are those that are shown."""

    purpose = PlainTextField(
        label=_("What for"), help_text=_("The provider reads it, and the public when something is given.")
    )
    criterion = forms.ChoiceField(label=_("By which criterion"), required=False)

    def __init__(self, *given: Any, criteria: list[tuple[str, str]], **options: Any) -> None:
        super().__init__(*given, **options)
        self.fields["criterion"] = forms.ChoiceField(
            label=_("By which criterion"), choices=criteria, widget=forms.HiddenInput
        )


class SignedForm(forms.Form):
    """Takes a document that somebody signed at home."""

    document = forms.FileField(label=_("Signed file"))


class JoinForm(forms.Form):
    """Takes values of somebody's own column, to see where they connect."""

    attribute = forms.ChoiceField(label=_("Column of the offer"))
    values = forms.CharField(
        label=_("Your values, one on each line"),
        required=False,
        max_length=900_000,
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false"}),
    )
    file = forms.FileField(
        label=_("Or a CSV file"),
        required=False,
        help_text=_("The column of the same name, or the first. Nothing of it is kept."),
    )

    def __init__(self, *given: Any, offer: Offer, **options: Any) -> None:
        super().__init__(*given, **options)
        field = self.fields["attribute"]
        if isinstance(field, forms.ChoiceField):
            field.choices = [(name, name) for name in offer.lattice.attributes]

    def clean(self) -> dict[str, object]:
        """Want one of the two."""
        cleaned = super().clean() or self.cleaned_data
        if not cleaned.get("values") and not cleaned.get("file"):
            raise ValidationError(_("Paste some values or choose a file."))
        return cleaned


class NewOfferForm(forms.Form):
    """What every new offer needs: a team and a short name."""

    team = forms.ChoiceField(label=_("Team"), help_text=_("Its members see requests and answer them."))
    slug = forms.CharField(
        label=_("Short name"),
        max_length=60,
        validators=[validate_slug],
        help_text=_("For the address of the page. It cannot be changed."),
        widget=forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false"}),
    )

    def __init__(self, *given: Any, user: User, **options: Any) -> None:
        super().__init__(*given, **options)
        self.teams = {membership.team.slug: membership.team for membership in teams_of(user)}
        field = self.fields["team"]
        if isinstance(field, forms.ChoiceField):
            field.choices = [(slug, team.display_name) for slug, team in self.teams.items()]

    def clean_slug(self) -> str:
        """Refuse a name that is taken, or the address of a page."""
        slug: str = self.cleaned_data["slug"]
        if slug in TAKEN:
            raise ValidationError(_("This name cannot be used."))
        if PublishedOffer.objects.filter(slug=slug).exists():
            raise ValidationError(_("An offer has this short name already."))
        return slug

    @property
    def chosen_team(self) -> Team:
        """The team that was chosen."""
        return self.teams[self.cleaned_data["team"]]


class PublishForm(NewOfferForm):
    """Takes the public files of a desk."""

    offer = forms.FileField(label="offer.json")
    first_release = forms.FileField(label="first-release.csv")
    log = forms.FileField(label="public.jsonl")
    head = forms.FileField(label="public.head.json")


class HostForm(NewOfferForm):
    """Takes a table that the platform is to host, and what its provider decides."""

    name = DisplayNameField(label=_("Name of the offer"))
    provider = DisplayNameField(label=_("Who offers"))
    purpose = PlainTextField(label=_("For which use"))
    terms = PlainTextField(label=_("On which terms"))
    summary = PlainTextField(
        label=_("For the people in the data"), help_text=_("What is shared about them and why, in plain words.")
    )
    table = forms.FileField(label=_("Table"), help_text=_("CSV, Parquet or Excel, with a header."))
    hierarchies = ManyFilesField(
        label=_("Hierarchies"), help_text=_("One CSV file for each column with levels, named by it: age.csv.")
    )
    criteria = forms.CharField(
        label=_("Safety criteria"),
        initial="public=10",
        max_length=300,
        help_text=_("NAME=K with commas, strictest for everybody; or cheo-public-release, cheo-trusted-recipient."),
    )
    predictor = forms.ChoiceField(
        label=_("What is published"),
        choices=[
            ("power-law", _("A formula: three numbers with noise, without the distribution")),
            ("margins", _("Margins: how many people have which value of each column")),
        ],
        help_text=_("Margins predict better and tell everybody more: see the page on what they publish."),
    )
    epsilon = forms.FloatField(
        label=_("ε of the formula's noise"), initial=1.0, min_value=0.01, max_value=10, help_text=_("Less hides more.")
    )
    person = forms.CharField(
        label=_("Column that names people"),
        required=False,
        max_length=100,
        help_text=_("So that two offers of the same people are noticed. It is kept as keyed hashes, and never shown."),
    )
    other_people = forms.BooleanField(label=_("Nobody in this table is in an offer of the team so far"), required=False)
    first_levels = forms.CharField(
        label=_("Levels of the first release"),
        required=False,
        max_length=300,
        help_text=_("As age=2,sex=0; columns that are not named tell nothing. Without, only the rows are counted."),
    )
    has_discretion = forms.BooleanField(label=_("Also take requests where k may hold, and decide then"), required=False)
    approvals_needed = forms.TypedChoiceField(
        label=_("How many others must agree to an answer"),
        coerce=int,
        choices=[(0, "0"), (1, "1"), (2, "2")],
        initial=0,
    )
    approvers = forms.MultipleChoiceField(
        label=_("Who may agree"),
        required=False,
        help_text=_("Members of your teams who said who they are to providers."),
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, *given: object, user: User, is_handed_over: bool = False, **options: object) -> None:
        super().__init__(*given, user=user, **options)
        if is_handed_over:
            del self.fields["table"], self.fields["hierarchies"]
        others = Recipient.objects.filter(user__memberships__team__in=self.teams.values()).exclude(user=user)
        self.recipients = {each.public_key: each for each in others.select_related("user").distinct()}
        field = self.fields["approvers"]
        if isinstance(field, forms.MultipleChoiceField):
            field.choices = [(key, each.user.display_name) for key, each in self.recipients.items()]

    def clean_criteria(self) -> list[str]:
        """Read each criterion once."""
        listed = [text.strip() for text in self.cleaned_data["criteria"].split(",") if text.strip()]
        try:
            for text in listed:
                read_criterion(text)
        except TokumeiError as error:
            raise ValidationError(describe_error(error)) from None
        if not listed:
            raise ValidationError(_("Give at least one criterion."))
        return listed

    def clean_first_levels(self) -> dict[str, int] | None:
        """Read pairs such as age=2."""
        text: str = self.cleaned_data["first_levels"].strip()
        if not text:
            return None
        levels = {}
        for part in text.split(","):
            name, mark, level = part.partition("=")
            if not mark or not level.strip().isdecimal() or len(level.strip()) > 3:
                raise ValidationError(_("Write it as age=2,sex=0."))
            levels[name.strip()] = int(level)
        return levels

    def clean(self) -> dict[str, object]:
        """Those who agree are members of the offer's own team, and enough of them."""
        cleaned = super().clean() or self.cleaned_data
        chosen = cleaned.get("approvers") or []
        if "team" in cleaned:
            members = set(self.chosen_team.memberships.values_list("user_id", flat=True))
            if any(self.recipients[key].user_id not in members for key in chosen):
                self.add_error("approvers", _("Choose members of the offer's own team."))
        if len(chosen) < (cleaned.get("approvals_needed") or 0):
            self.add_error("approvers", _("Choose at least as many as must agree."))
        return cleaned


class TrustForm(forms.Form):
    """Asks whom to serve by which criterion."""

    username = forms.CharField(label=_("User name"), max_length=150)
    criterion = forms.ChoiceField(label=_("By which criterion"))

    def __init__(self, *given: Any, criteria: list[tuple[str, str]], **options: Any) -> None:
        super().__init__(*given, **options)
        self.fields["criterion"] = forms.ChoiceField(label=_("By which criterion"), choices=criteria)
