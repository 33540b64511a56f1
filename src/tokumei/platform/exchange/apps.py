"""The app's name for Django."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ExchangeConfig(AppConfig):
    """The exchange: offers, requests and answers."""

    name = "tokumei.platform.exchange"
    label = "exchange"

    def ready(self) -> None:
        """Put the exchange at the top of every page and offers on the home page, and let its work be done."""
        from tokumei.platform.accounts.deletion import BEFORE_DELETING
        from tokumei.platform.api.slots import OPERATIONS
        from tokumei.platform.exchange.services.attacking import ATTACK_WORK, ATTACKS, start_attacks
        from tokumei.platform.exchange.services.desks import sweep_rooms
        from tokumei.platform.exchange.services.hosted_answers import ANSWER_WORK, begin_forgotten
        from tokumei.platform.exchange.services.hosted_answers import KIND as ANSWER
        from tokumei.platform.exchange.services.hosting import MAKE, MAKE_WORK
        from tokumei.platform.exchange.services.recipients import forget_recipient
        from tokumei.platform.exchange.views.reading import on_home
        from tokumei.platform.jobs.work import SWEEPS, WATCHES, register
        from tokumei.platform.pages.slots import HOME, NAVIGATION, NavLink

        place = next((place for place, entry in enumerate(NAVIGATION) if entry.app == "contests"), -1) + 1
        NAVIGATION.insert(place, NavLink(_("Exchange"), "exchange:catalogue"))
        OPERATIONS.append("tokumei.platform.exchange.api")
        HOME.append(on_home)
        BEFORE_DELETING.append(forget_recipient)
        register(MAKE, MAKE_WORK)
        register(ANSWER, ANSWER_WORK)
        register(ATTACKS, ATTACK_WORK)
        SWEEPS.extend((start_attacks, sweep_rooms))
        WATCHES.append(begin_forgotten)
