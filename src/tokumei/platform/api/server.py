"""The API put together: its operations, its errors, its description."""

from __future__ import annotations

from functools import cached_property
from http.client import responses
from importlib import import_module
from importlib.metadata import version
from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import REF_TEMPLATE, OpenAPISchema
from ninja.operation import Operation
from ninja.schema import NinjaGenerateJsonSchema

from tokumei.platform.api.errors import handle_errors
from tokumei.platform.api.operations import account, contests, organizing, taking_part
from tokumei.platform.api.operations.router import router
from tokumei.platform.api.schemas import Error
from tokumei.platform.api.slots import OPERATIONS

# Any operation may be refused for these reasons; 413 and 507 where something is sent.
REFUSALS = (400, 401, 403, 404, 413, 429, 503, 507)


class Api(NinjaAPI):
    """Names each operation by its function, as the guide and programs made from the description call it."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """Return the operation's name as its id."""
        return str(operation.view_func.__name__)

    def get_openapi_schema(self, **_given: Any) -> OpenAPISchema:
        """Describe the API; that takes a second, so that it is done once."""
        return self._description

    @cached_property
    def _description(self) -> OpenAPISchema:
        """Add how operations are refused, which is the same for all: each would make eight models of its own of it."""
        described = super().get_openapi_schema()
        error = Error.model_json_schema(
            ref_template=REF_TEMPLATE, mode="serialization", schema_generator=NinjaGenerateJsonSchema
        )
        described["components"]["schemas"] |= error.pop("$defs") | {Error.__name__: error}
        content = {"application/json": {"schema": {"$ref": REF_TEMPLATE.format(model=Error.__name__)}}}
        refusals = {status: {"description": responses[status], "content": content} for status in REFUSALS}
        for operations in described["paths"].values():
            for operation in operations.values():
                operation["responses"] |= refusals
        return described


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
