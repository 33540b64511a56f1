"""A finished piece of work for the demo: made-up patients with a release, and releases to choose from."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from tokumei.platform.accounts.models import User
from tokumei.platform.workbench import services
from tokumei.platform.workbench.models import Piece

# The data is made up: it may stay as long as the demo.
STAYS = timedelta(days=3650)


def set_up(user: User) -> None:
    """Have it made for somebody who has none; the one process of the workbench does its jobs in this order."""
    if Piece.objects.filter(owner=user).exists():
        return
    piece = services.begin_piece(user, sample="people")
    Piece.objects.filter(pk=piece.pk).update(expires=timezone.now() + STAYS)
    for kind in (services.RELEASE, services.FRONTIER):
        services.start(piece, kind)
