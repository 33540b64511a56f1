"""Job files written: a template to start from, and the text of any job.

The template holds what inspecting a file suggested, with the reasons as comments, and runs as it is. `write_job` writes
plain values for programs that edit a job; what `tomllib` reads back is the same.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from tokumei.core.errors import InputError
from tokumei.data.context import QUESTIONS, Answer
from tokumei.data.files.reading import Reading
from tokumei.tasks.inspect_table import InspectedColumn, Inspection
from tokumei.tasks.job_file import SECTIONS
from tokumei.tasks.request import DEFAULT_SUPPRESS
from tokumei.tasks.table_release import FEW_ROWS

# More quasi-identifiers than this have too many nodes to search them all.
MOST_SEARCHED = 7
USUAL_K = 5
READING_KEYS = [each.name for each in fields(Reading) if each.name not in ("columns", "carry")]


def table_template(found: Inspection, file: Path, reading: Reading, *, beside: Path) -> str:
    """Write the job file of a table; `beside` is the folder it will lie in."""
    roles = {name: _role(one) for name, one in found.columns.items()}
    known = [name for name, (role, _) in roles.items() if role == "quasi-identifier"]
    if not known and roles:
        # Somebody has to know something, or there is nothing to protect from.
        name = next((name for name, (role, _) in roles.items() if role == "other"), next(iter(roles)))
        roles[name] = ("quasi-identifier", f"{roles[name][1]}; no column looks like one, so look here first")
        known = [name]
    sensitive = [name for name, (role, _) in roles.items() if role == "sensitive"]
    others = [name for name, (role, _) in roles.items() if role == "other"]
    k = max(1, min(USUAL_K, found.n_rows // 2))
    lines = _head(file, "table", reading, beside)
    several = found.several_rows_in_words()
    lines += [
        *(("", f"# NOTE: {_comment(several)}") if several else ()),
        "",
        "# What each column is to an attacker. These are suggestions: change what you know better.",
        "[roles]",
    ]
    lines += [f"{_quoted_key(name)} = {_quoted(role)}  # {_comment(why)}" for name, (role, why) in roles.items()]
    lines += [
        "",
        "# How columns are generalized: a file, or a builder. What is not named here gets a sensible one.",
        "[hierarchies]",
    ]
    lines += [_hierarchy(name, found.columns[name]) for name in known]
    lines += [
        *(
            "",
            "# What every class of rows must hold, and the share of rows that may be left out for it.",
            "[requirements]",
        ),
        *(f"k = {k}", f"suppress = {DEFAULT_SUPPRESS:g}"),
        *(f"# l_diversity = {{ {_quoted_key(name)} = 2 }}" for name in sensitive[:1]),
        *("", "# One method or several: of several the release with the least loss is taken.", "[[method]]"),
        f'name = "{"optimal" if len(known) <= MOST_SEARCHED else "mondrian"}"',
        *("", "# Somebody who may attack, and what they know.", "[[threat]]", 'name = "neighbor"'),
        f"knows = {_list(known)}",
        "share = 1.0  # of the people in the file",
        f"attacks = {_list(['record-linkage', *(['homogeneity'] if sensitive else []), 'singling-out'])}",
        '# preset = "employer"  # in place of these: every attack that such a person can make',
        *("", "# What use is left, by every measure that the columns allow; or name some.", "[measures]"),
        '# names = ["statistics"]',
        *(
            "",
            "# What must hold in the end; the command ends with 1 if one does not.",
            "[[bound]]",
            'of = "k"',
            f"least = {k}",
        ),
        *("", "[[bound]]", 'of = "prosecutor-risk"', f"most = {1 / k:g}"),
        *_context(),
        *(
            "",
            "[output]",
            f"# Further columns to release unchanged: {_list(others)}",
            "keep = []",
            '# sign = "officer.key"  # a key of tokumei exchange keys',
        ),
    ]
    return "\n".join(lines) + "\n"


def history_template(file: Path, reading: Reading, *, beside: Path) -> str:
    """Write the job file of a purchase history."""
    lines = _head(file, "history", reading, beside)
    lines += [
        *("", "# One method or several: the release in which fewest customers are found is taken.", "[[method]]"),
        *('name = "pseudonyms"', "lifetime = 1  # a new pseudonym after so many months"),
        *("", "# Somebody who may attack, and the share of all purchases that they know.", "[[threat]]"),
        *('name = "acquaintance"', "share = 0.25", 'attacks = ["linkage", "row-counts"]'),
        *("", "[measures]", '# names = ["item-cf"]'),
        *("", "# What must hold in the end; the command ends with 1 if one does not.", "# [[bound]]"),
        *('# of = "acquaintance: linkage found"', "# most = 0.2"),
        *_context(),
    ]
    return "\n".join(lines) + "\n"


def _context() -> list[str]:
    """Ask what only people know, with an answer to each question that one may go on from."""
    lines = ["", ABOVE["context"], "[context]"]
    for name, one in QUESTIONS.items():
        example = one.metadata["example"]
        value = example if one.metadata["answer"] == Answer.SHARE else _quoted(example)
        lines.append(f"# {name} = {value}  # {one.metadata['question']}")
    return lines


def _head(file: Path, kind: str, reading: Reading, beside: Path) -> list[str]:
    given = reading.as_dict()
    lines = [
        "# A job of Tokumei: tokumei run THIS --out DIR does it all, --dry-run only looks.",
        *("[job]", f"name = {_quoted(file.stem)}", f"kind = {_quoted(kind)}"),
        "# seed = 1  # the same seed gives the same release; a secret one is drawn if none is given",
        "# population_size = 1_000_000  # how many people the rows are a sample of, if they are",
        '# weights = "a column"  # how many people each row stands for, in a survey',
        '# reviewer = "who answers for the release"',
        '# expires = "2030-01-01"',
        '# earlier = "october/dossier.json"  # the release before, which this one is compared with',
        *("", "[input]", f"file = {_quoted(os.path.relpath(file.resolve(), beside.resolve()))}"),
        *(f"{key} = {json.dumps(given[key], ensure_ascii=False)}" for key in READING_KEYS if key in given),
    ]
    if given.get("columns"):
        lines += ["[input.columns]", *(f"{role} = {_quoted(name)}" for role, name in given["columns"].items())]
    return lines


def _role(one: InspectedColumn) -> tuple[str, str]:
    """Return the role to write; a sensitive column that singles people out gets none, or it would be released."""
    role, reason = one.suggestion.role, one.suggestion.reason
    if role == "sensitive" and one.n_alone > FEW_ROWS:
        whose = (
            "rows have a value of their own" if one.n_of_one_person is None else "of its values are one person's alone"
        )
        why = f"sensitive, but {one.n_alone:,} {whose}, so it is generalized ({reason})"
        return "quasi-identifier", why
    return role, reason


def _hierarchy(name: str, one: InspectedColumn) -> str:
    choice = one.hierarchy
    if choice is None or choice.builder in (None, "intervals"):
        why = "numbers become intervals" if choice is not None and choice.builder else "made from the values"
        return f'# {_quoted_key(name)} = "{one.facts.name}.csv"  # {why}'.replace("\n", " ")
    options = "".join(f", {key} = {_quoted(str(value))}" for key, value in choice.options.items())
    line = f"{_quoted_key(name)} = {{ builder = {_quoted(choice.builder)}{options} }}  # {choice.reason}"
    # Written out only where it is sure to fit every value: the calendar is found by itself, too.
    return line if choice.builder in ("prefix", "japan-prefecture") else f"# {line}"


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _quoted_key(name: str) -> str:
    return _quoted(name)


def _list(values: list[str]) -> str:
    return json.dumps(values, ensure_ascii=False)


def _comment(text: object) -> str:
    return " ".join(str(text).split())


HEAD = "# A job of Tokumei: tokumei run THIS --out DIR does it all, --dry-run only looks."
# What stands above a section, for who reads the file later.
ABOVE = {
    "roles": "# What each column is to an attacker.",
    "hierarchies": "# How columns are generalized: a file, or a builder. What is not named here gets a sensible one.",
    "requirements": "# What every class of rows must hold, and the share of rows that may be left out for it.",
    "method": "# One method or several: of several the best release is taken.",
    "threat": "# Somebody who may attack, and what they know.",
    "bound": "# What must hold in the end; the command ends with 1 if one does not.",
    "context": "# What only you know of the release. What is left out is not stated, and counts for nothing.",
}


def write_job(found: Mapping[str, object], *, reasons: Mapping[str, str] | None = None) -> str:
    """Return the text of a job file: its sections in their usual order.

    reasons: for columns, why they have their role; written beside it.

    >>> print(write_job({"input": {"file": "a.csv"}, "roles": {"age": "quasi-identifier"}}))
    # A job of Tokumei: tokumei run THIS --out DIR does it all, --dry-run only looks.
    <BLANKLINE>
    [input]
    file = "a.csv"
    <BLANKLINE>
    # What each column is to an attacker.
    [roles]
    "age" = "quasi-identifier"
    <BLANKLINE>
    """
    lines = [HEAD]
    for name in (*SECTIONS, *(other for other in found if other not in SECTIONS)):
        given = found.get(name)
        if given is None:
            continue
        listed = given if isinstance(given, list) else [given]
        for number, one in enumerate(listed):
            lines += ["", *([ABOVE[name]] if name in ABOVE and not number else [])]
            lines.append(f"[[{name}]]" if isinstance(given, list) else f"[{name}]")
            lines += _pairs(name, one, reasons or {})
    return "\n".join(lines) + "\n"


def _pairs(section: str, given: Mapping[str, object], reasons: Mapping[str, str]) -> list[str]:
    """Write keys and values; names of columns in quotes, and long lists of columns in one line each."""
    is_of_columns = section in ("roles", "hierarchies")
    lines = []
    for key, value in given.items():
        beside = f"  # {' '.join(reasons[key].split())}" if section == "roles" and key in reasons else ""
        lines.append(f"{_text(key) if is_of_columns else _key(key)} = {_value(value)}{beside}")
    return lines


def _key(name: str) -> str:
    is_bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if is_bare else _text(name)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(key)} = {_value(part)}' for key, part in value.items())} }}" if value else "{}"
    if isinstance(value, Sequence):
        return f"[{', '.join(_value(part) for part in value)}]"
    raise InputError.of("text, a number, true, false, a list or a table", value=value)


def _text(value: str) -> str:
    # JSON's escapes are TOML's, but for the one control character that JSON leaves as it is.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
