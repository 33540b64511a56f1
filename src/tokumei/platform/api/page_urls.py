"""The addresses of the pages about the API."""

from __future__ import annotations

from django.urls import path

from tokumei.platform.api import views

app_name = "tokens"
urlpatterns = [
    path("tokens", views.tokens, name="mine"),
    path("tokens/<int:token>/revoke", views.revoke, name="revoke"),
    path("api", views.guide, name="guide"),
]
