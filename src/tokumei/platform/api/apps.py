"""The app's name for Django."""

from __future__ import annotations

from django.apps import AppConfig


class ApiConfig(AppConfig):
    """The API that programs talk to."""

    name = "tokumei.platform.api"
    label = "api"
