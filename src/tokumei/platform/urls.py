"""Which app answers which address."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("", include("tokumei.platform.pages.urls")),
    path("", include("tokumei.platform.accounts.urls")),
    path("", include("tokumei.platform.notices.urls")),
    path("account/", include("tokumei.platform.api.page_urls")),
    path("teams/", include("tokumei.platform.teams.urls")),
    path("contests/", include("tokumei.platform.contests.urls")),
    path("workbench/", include("tokumei.platform.workbench.urls")),
    path("exchange/", include("tokumei.platform.exchange.urls")),
    path("api/", include("tokumei.platform.api.urls")),
]

handler400 = "tokumei.platform.error_pages.bad_request"
handler403 = "tokumei.platform.error_pages.forbidden"
handler404 = "tokumei.platform.error_pages.not_found"
handler500 = "tokumei.platform.error_pages.failed"
