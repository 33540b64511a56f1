"""The app's name for Django."""

from __future__ import annotations

from django.apps import AppConfig


class FilesConfig(AppConfig):
    """Files: what people send, and folders that several machines share."""

    name = "tokumei.platform.files"
    label = "files"
