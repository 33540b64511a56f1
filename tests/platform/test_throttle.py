"""Limits hold when many come at once, on both databases."""

from __future__ import annotations

import threading
from datetime import timedelta

from django.db import connection
from tests.platform.sites import Site

from tokumei.platform.accounts.authentication import allow
from tokumei.platform.accounts.models import Deed
from tokumei.platform.messages import TooMany


def test_limit_holds_when_many_come_at_once(both_databases: str, site: Site) -> None:
    gate, passed = threading.Barrier(12), []

    def come(number: int) -> None:
        gate.wait()
        try:
            allow("login", "203.0.113.7", at_most=3, within=timedelta(hours=1))
            passed.append(number)
        except TooMany:
            pass
        finally:
            connection.close()

    threads = [threading.Thread(target=come, args=[number]) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(passed) == Deed.objects.count() == 3
