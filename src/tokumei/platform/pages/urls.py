"""The addresses of this app."""

from __future__ import annotations

from django.urls import path

from tokumei.platform.pages import console, help_pages, views

app_name = "pages"
urlpatterns = [
    path("", views.home, name="home"),
    path("language", views.language, name="language"),
    path("health", views.health, name="health"),
    path("metrics", views.figures, name="metrics"),
    path("help/<str:page>", help_pages.help_page, name="help"),
    path("server", console.server, name="server"),
    path("server/jobs/<int:job>/retry", console.retry, name="retry_job"),
    path("server/mail", console.try_mail, name="try_mail"),
]
