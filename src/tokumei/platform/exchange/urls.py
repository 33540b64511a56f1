"""The addresses of this app."""

from __future__ import annotations

from django.urls import path

from tokumei.platform.exchange.views import asking, providing, reading

app_name = "exchange"
urlpatterns = [
    path("", reading.catalogue, name="catalogue"),
    path("watch", reading.watch, name="watch"),
    path("profile", asking.profile, name="profile"),
    path("key", asking.public_key, name="key"),
    path("requests", asking.requests, name="requests"),
    path("requests/<str:key>", asking.request_page, name="request"),
    path("requests/<str:key>/state", asking.state, name="state"),
    path("requests/<str:key>/release", asking.release, name="release"),
    path("requests/<str:key>/answer", asking.answer, name="answer"),
    path("requests/<str:key>/document", asking.request_document, name="request_document"),
    path("requests/<str:key>/withdraw", asking.withdraw, name="withdraw"),
    path("offers", providing.mine, name="mine"),
    path("offers/publish", providing.publish, name="publish"),
    path("offers/host", providing.host, name="host"),
    path("<slug:published>", reading.offer, name="offer"),
    path("<slug:published>/try", reading.try_levels, name="try"),
    path("<slug:published>/join", reading.join, name="join"),
    path("<slug:published>/offer.json", reading.document, name="document"),
    path("<slug:published>/first-release.csv", reading.first_release, name="first_release"),
    path("<slug:published>/audit", reading.audit, name="audit"),
    path("<slug:published>/audit.zip", reading.audit_files, name="audit_files"),
    path("<slug:published>/disclosure", reading.disclosure, name="disclosure"),
    path("<slug:published>/ask", asking.ask, name="ask"),
    path("<slug:published>/ask-signed", asking.ask_signed, name="ask_signed"),
    path("<slug:published>/desk", providing.desk, name="desk"),
    path("<slug:published>/desk/requests/<str:key>/vote", providing.vote, name="vote"),
    path("<slug:published>/desk/requests/<str:key>/document", providing.desk_document, name="desk_document"),
    path("<slug:published>/desk/serve", providing.serve, name="serve"),
    path("<slug:published>/desk/close", providing.close, name="close"),
    path("<slug:published>/desk/remove", providing.remove, name="remove"),
    path("<slug:published>/desk/trust", providing.trust, name="trust"),
    path("<slug:published>/desk/trust/<int:trusted>/remove", providing.distrust, name="distrust"),
    path("<slug:published>/learning", providing.learning, name="learning"),
    path("<slug:published>/learning/tighten", providing.tighten, name="tighten"),
]
