"""The addresses of this app."""

from __future__ import annotations

from django.urls import path

from tokumei.platform.workbench import context_form, file_views, others_views, protecting_views, results_views

app_name = "workbench"
urlpatterns = [
    path("", file_views.start, name="start"),
    path("new", file_views.new, name="new"),
    path("enter/<str:token>", file_views.enter, name="enter"),
    path("<str:piece>/", file_views.columns, name="columns"),
    path("<str:piece>/hierarchies", file_views.hierarchies, name="hierarchies"),
    path("<str:piece>/hierarchies/upload", file_views.upload_hierarchy, name="upload_hierarchy"),
    path("<str:piece>/hierarchies/<int:place>.csv", file_views.hierarchy_file, name="hierarchy_file"),
    path("<str:piece>/risk", protecting_views.risk, name="risk"),
    path("<str:piece>/context", context_form.context, name="context"),
    path("<str:piece>/protect", protecting_views.protect, name="protect"),
    path("<str:piece>/frontier", protecting_views.frontier, name="frontier"),
    path("<str:piece>/choose", protecting_views.choose, name="choose"),
    path("<str:piece>/run", protecting_views.run, name="run"),
    path("<str:piece>/keep-anyway", protecting_views.keep_anyway, name="keep_anyway"),
    path("<str:piece>/cancel", protecting_views.cancel, name="cancel"),
    path("<str:piece>/state", protecting_views.state, name="state"),
    path("<str:piece>/see", results_views.see, name="see"),
    path("<str:piece>/take-home", results_views.take_home, name="take_home"),
    path("<str:piece>/next", results_views.next_file, name="next_file"),
    path("<str:piece>/files/<str:name>", results_views.file, name="file"),
    path("<str:piece>/others", others_views.others, name="others"),
    path("<str:piece>/others/<str:report>", others_views.page, name="others_page"),
    path("<str:piece>/keep-longer", file_views.keep_longer, name="keep_longer"),
    path("<str:piece>/person", file_views.person, name="person"),
    path("<str:piece>/delete", file_views.delete, name="delete"),
]
