"""`tokumei mcp`: the Model Context Protocol over standard input and output, for assistants that plan and run jobs.

A line is one message of JSON-RPC 2.0. What tools tell is in `tasks/assistant.py`: never a value of a cell.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from tokumei.cli.parameters import Option, shows_no_result
from tokumei.core.errors import TokumeiError
from tokumei.core.text import Json

# Versions of the protocol whose messages are those read and written here, the newest first.
PROTOCOLS = ("2025-06-18", "2025-03-26", "2024-11-05")
NOT_JSON, NO_REQUEST, NO_METHOD, BAD_PARAMETERS = -32700, -32600, -32601, -32602
ABOUT = (
    "Tables stay with their owner: you are told names of columns, counts, figures and verdicts, never a value. "
    "inspect a file, plan a job, run it, read its report. Roles and whether to release are for a person to decide."
)


@shows_no_result
def mcp(
    folder: Annotated[Path, Option("--folder", metavar="DIR", help="Only files below this folder are used.")] = Path(),
) -> None:
    """Serve an assistant by the Model Context Protocol on standard input and output: metadata only.

    The assistant may inspect a table, plan a job, run it and read its report. It is told names of columns, counts,
    figures and verdicts, and no value of a cell, in errors neither.

    Example: tokumei mcp --folder tables
    """
    out = sys.stdout
    # Notes have values in them, and programs that start servers keep what these print beside messages.
    logging.disable()
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        for answer in answers(sys.stdin, folder):
            out.write(json.dumps(answer, ensure_ascii=False) + "\n")
            out.flush()


def answers(lines: Iterable[str], folder: Path) -> Iterator[Json]:
    """Yield the answer to each line that asks for one."""
    for line in lines:
        if not line.strip():
            continue
        try:
            asked = json.loads(line)
        except ValueError:
            yield _failed(None, NOT_JSON, "not JSON")
            continue
        if not isinstance(asked, dict) or not isinstance(asked.get("method"), str):
            yield _failed(None, NO_REQUEST, "not a request")
        elif "id" in asked:
            parameters = asked.get("params")
            yield _answer(asked["id"], asked["method"], parameters if isinstance(parameters, dict) else {}, folder)


def _answer(number: object, method: str, parameters: Json, folder: Path) -> Json:
    if method == "initialize":
        wanted = parameters.get("protocolVersion")
        return _done(
            number,
            {
                "protocolVersion": wanted if wanted in PROTOCOLS else PROTOCOLS[0],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "tokumei", "version": version("tokumei")},
                "instructions": ABOUT,
            },
        )
    if method == "ping":
        return _done(number, {})
    if method == "tools/list":
        return _done(number, {"tools": _tools()})
    if method == "tools/call":
        return _called(number, parameters, folder)
    return _failed(number, NO_METHOD, "no such method")


def _tools() -> list[Json]:
    from tokumei.tasks.assistant import TOOLS

    return [
        {
            "name": name,
            "description": function.__doc__,
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": False,
            },
        }
        for name, (function, properties, required) in TOOLS.items()
    ]


def _called(number: object, parameters: Json, folder: Path) -> Json:
    """Call a tool; what goes wrong in it is an answer that the assistant reads, without any value."""
    from tokumei.tasks.assistant import TOOLS, Assistant, without_values

    name, given = str(parameters.get("name")), parameters.get("arguments") or {}
    if name not in TOOLS:
        return _failed(number, BAD_PARAMETERS, "no such tool")
    function, properties, required = TOOLS[name]
    if not isinstance(given, dict) or set(given) - set(properties) or set(required) - set(given):
        return _failed(number, BAD_PARAMETERS, f"takes {', '.join(properties)}; needs {', '.join(required)}")
    wrong = [key for key, value in given.items() if not _fits(value, properties[key])]
    if wrong:
        return _failed(number, BAD_PARAMETERS, f"of another type: {', '.join(wrong)}")
    try:
        return _told(number, function(Assistant(folder), **given))
    except TokumeiError as error:
        return _told(number, without_values(error), is_error=True)
    except Exception as error:  # noqa: BLE001 - the assistant is answered, whatever went wrong.
        # Its message may have values in it.
        return _told(number, {"error": type(error).__name__, "message": "a fault of Tokumei itself"}, is_error=True)


TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float), "object": (dict,)}


def _fits(value: Any, schema: Json) -> bool:
    if isinstance(value, bool) or not isinstance(value, TYPES[schema["type"]]):
        return False
    return not isinstance(value, dict) or all(_fits(one, schema["additionalProperties"]) for one in value.values())


def _told(number: object, found: Json, *, is_error: bool = False) -> Json:
    content = [{"type": "text", "text": json.dumps(found, ensure_ascii=False, allow_nan=False, default=str)}]
    return _done(number, {"content": content, "structuredContent": found, "isError": is_error})


def _done(number: object, result: Json) -> Json:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def _failed(number: object, code: int, message: str) -> Json:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}
