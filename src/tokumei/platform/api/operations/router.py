"""What all operations share: the router that they are found by, and parts of their description."""

from __future__ import annotations

from typing import Any

from ninja import Router

# One for all: two routers that know the same address hide each other's methods.
router = Router()

# The names of the parts are those of the edition's files, such as AT; one zip may have any name.
FILES_AS_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "A part for each file of the edition, named as the edition names it, or one zip of all files.",
        "content": {
            "multipart/form-data": {
                "schema": {"type": "object", "additionalProperties": {"type": "string", "format": "binary"}}
            }
        },
    }
}
SENDS_A_FILE: dict[str, Any] = {
    "responses": {
        200: {
            "description": "The file.",
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    }
}
