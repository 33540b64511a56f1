"""The addresses of this app."""

from __future__ import annotations

from django.urls import path

from tokumei.platform.exchange import asking_views, providing_views, reading_views

app_name = "exchange"
urlpatterns = [
    path("", reading_views.catalogue, name="catalogue"),
    path("watch", reading_views.watch, name="watch"),
    path("profile", asking_views.profile, name="profile"),
    path("key", asking_views.public_key, name="key"),
    path("requests", asking_views.requests, name="requests"),
    path("requests/<str:key>", asking_views.request_page, name="request"),
    path("requests/<str:key>/state", asking_views.state, name="state"),
    path("requests/<str:key>/release", asking_views.release, name="release"),
    path("requests/<str:key>/answer", asking_views.answer, name="answer"),
    path("requests/<str:key>/document", asking_views.request_document, name="request_document"),
    path("requests/<str:key>/withdraw", asking_views.withdraw, name="withdraw"),
    path("offers", providing_views.mine, name="mine"),
    path("offers/publish", providing_views.publish, name="publish"),
    path("offers/host", providing_views.host, name="host"),
    path("<slug:published>", reading_views.offer, name="offer"),
    path("<slug:published>/try", reading_views.try_levels, name="try"),
    path("<slug:published>/join", reading_views.join, name="join"),
    path("<slug:published>/offer.json", reading_views.document, name="document"),
    path("<slug:published>/first-release.csv", reading_views.first_release, name="first_release"),
    path("<slug:published>/audit", reading_views.audit, name="audit"),
    path("<slug:published>/audit.zip", reading_views.audit_files, name="audit_files"),
    path("<slug:published>/disclosure", reading_views.disclosure, name="disclosure"),
    path("<slug:published>/ask", asking_views.ask, name="ask"),
    path("<slug:published>/ask-signed", asking_views.ask_signed, name="ask_signed"),
    path("<slug:published>/desk", providing_views.desk, name="desk"),
    path("<slug:published>/desk/requests/<str:key>/vote", providing_views.vote, name="vote"),
    path("<slug:published>/desk/requests/<str:key>/document", providing_views.desk_document, name="desk_document"),
    path("<slug:published>/desk/serve", providing_views.serve, name="serve"),
    path("<slug:published>/desk/close", providing_views.close, name="close"),
    path("<slug:published>/desk/remove", providing_views.remove, name="remove"),
    path("<slug:published>/desk/trust", providing_views.trust, name="trust"),
    path("<slug:published>/desk/trust/<int:trusted>/remove", providing_views.distrust, name="distrust"),
    path("<slug:published>/learning", providing_views.learning, name="learning"),
    path("<slug:published>/learning/tighten", providing_views.tighten, name="tighten"),
]
