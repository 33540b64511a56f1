"""Sending one letter, in the limited process of a job: Django's mail alone, with the settings that it is given."""

from __future__ import annotations

from tokumei.core.text import JsonView


def send(asked: JsonView) -> dict[str, object]:
    """Send a letter."""
    from django.conf import settings

    if not settings.configured:
        settings.configure(**asked["settings"])
    from django.core.mail import EmailMessage

    headers = {"Message-ID": asked["id"]}
    EmailMessage(asked["subject"], asked["body"], asked["sender"], [asked["to"]], headers=headers).send()
    return {}
