"""The addresses of this app."""

from __future__ import annotations

from django.urls import path

from tokumei.platform.workbench.views import columns, protecting, results, starting

app_name = "workbench"
urlpatterns = [
    path("", starting.start, name="start"),
    path("new", starting.new, name="new"),
    path("enter/<str:token>", starting.enter, name="enter"),
    path("<str:piece>/", columns.columns, name="columns"),
    path("<str:piece>/hierarchies", columns.hierarchies, name="hierarchies"),
    path("<str:piece>/hierarchies/upload", columns.upload_hierarchy, name="upload_hierarchy"),
    path("<str:piece>/hierarchies/<int:place>.csv", columns.hierarchy_file, name="hierarchy_file"),
    path("<str:piece>/risk", protecting.risk, name="risk"),
    path("<str:piece>/protect", protecting.protect, name="protect"),
    path("<str:piece>/frontier", protecting.frontier, name="frontier"),
    path("<str:piece>/choose", protecting.choose, name="choose"),
    path("<str:piece>/run", protecting.run, name="run"),
    path("<str:piece>/cancel", protecting.cancel, name="cancel"),
    path("<str:piece>/state", protecting.state, name="state"),
    path("<str:piece>/see", results.see, name="see"),
    path("<str:piece>/take-home", results.take_home, name="take_home"),
    path("<str:piece>/next", results.next_file, name="next_file"),
    path("<str:piece>/files/<str:name>", results.file, name="file"),
    path("<str:piece>/delete", starting.delete, name="delete"),
]
