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
        from tokumei.platform.accounts.services import BEFORE_DELETING
        from tokumei.platform.api.apps import OPERATIONS
        from tokumei.platform.exchange.reading_views import on_home
        from tokumei.platform.exchange.services.answering import ANSWER_KIND as ANSWER
        from tokumei.platform.exchange.services.answering import ANSWER_WORK, begin_forgotten
        from tokumei.platform.exchange.services.desks import sweep_rooms
        from tokumei.platform.exchange.services.hosting import ATTACK_WORK, ATTACKS, MAKE, MAKE_WORK, start_attacks
        from tokumei.platform.exchange.services.requesting import forget_recipient
        from tokumei.platform.jobs.queue import SWEEPS, WATCHES, register
        from tokumei.platform.pages.apps import HOME, NAVIGATION, NavLink

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
