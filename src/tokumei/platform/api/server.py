"""The API put together: its operations, its errors, its description."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from importlib.metadata import version
from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from tokumei.platform.api.errors import handle_errors
from tokumei.platform.api.operations import account, contests, organizing, taking_part
from tokumei.platform.api.operations.router import router
from tokumei.platform.api.slots import OPERATIONS


class Api(NinjaAPI):
    """Names each operation by its function, as the guide and programs made from the description call it."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """Give the name."""
        return str(operation.view_func.__name__)

    def get_openapi_schema(self, **_given: Any) -> OpenAPISchema:
        """Describe the API; that takes a second, so that it is done once."""
        return self._description

    @cached_property
    def _description(self) -> OpenAPISchema:
        return super().get_openapi_schema()


# Importing them is what puts operations on the router.
OWN = (account, contests, taking_part, organizing)
for _module in OPERATIONS:
    import_module(_module)
api = Api(
    title="Tokumei",
    version=version("tokumei"),
    description="What teams and organizers do on the pages, for programs. Every error has the same shape.",
    urls_namespace="api:v1",
    # The guide is a page of ours: ready-made ones load scripts from elsewhere.
    docs_url=None,
)
handle_errors(api)
api.add_router("", router)
