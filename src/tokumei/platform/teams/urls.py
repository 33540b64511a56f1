"""The addresses of this app."""

from __future__ import annotations

from django.urls import path

from tokumei.platform.teams import views

app_name = "teams"
urlpatterns = [
    path("", views.mine, name="mine"),
    path("new", views.create, name="new"),
    path("join/<str:token>", views.join, name="join"),
    path("<str:team>", views.show, name="team"),
    path("<str:team>/rename", views.rename, name="rename"),
    path("<str:team>/invite", views.invite, name="invite"),
    path("<str:team>/invitations/<int:invitation>/revoke", views.revoke, name="revoke"),
    path("<str:team>/leave", views.leave, name="leave"),
    path("<str:team>/members/<int:member>/remove", views.remove, name="remove"),
    path("<str:team>/members/<int:member>/make-captain", views.make_captain, name="make_captain"),
]
