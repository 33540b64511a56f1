"""Which app answers which address."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("", include("tokumei.platform.pages.views")),
    path("", include("tokumei.platform.accounts.views")),
    path("", include("tokumei.platform.notices.views")),
    path("account/", include("tokumei.platform.api.views")),
    path("teams/", include("tokumei.platform.teams.views")),
    path("contests/", include("tokumei.platform.contests.urls")),
    path("workbench/", include("tokumei.platform.workbench.urls")),
    path("exchange/", include("tokumei.platform.exchange.urls")),
    path("api/", include("tokumei.platform.api.server")),
]

handler400 = "tokumei.platform.access.bad_request"
handler403 = "tokumei.platform.access.forbidden"
handler404 = "tokumei.platform.access.not_found"
handler500 = "tokumei.platform.access.failed"
