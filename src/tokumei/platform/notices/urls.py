"""The addresses of this app."""

from __future__ import annotations

from django.urls import path

from tokumei.platform.notices import views

app_name = "notices"
urlpatterns = [
    path("notices/", views.inbox, name="inbox"),
    path("notices/read", views.read_all, name="read_all"),
    path("notices/settings", views.settings, name="settings"),
    path("notices/calendar", views.renew, name="renew"),
    path("notices/<int:notice>/open", views.open_one, name="open"),
    path("calendar/<str:token>.ics", views.calendar, name="calendar"),
]
