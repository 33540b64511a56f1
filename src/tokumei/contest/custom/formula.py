"""A score formula such as `(U + S) / 2`: numbers, names, + - * /, max, min and mean, and nothing else.

The file of a contest may come from anywhere, so the formula is parsed, held against a list of what it may hold, and
computed here. Nothing in it is ever run.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tokumei.core.errors import InputError, nearest
from tokumei.core.seeds import generator
from tokumei.core.text import Text
from tokumei.core.wording import choice_of

LONGEST = 500
DEEPEST = 20
MOST_DIGITS = 20
STRANGE = re.compile(r"[^A-Za-z0-9_.+\-*/(),\s]", re.ASCII)
LONG_NUMBER = re.compile(rf"[0-9]{{{MOST_DIGITS + 1}}}|[eE][+-]?[0-9]{{4}}")
# What losses and successes may be: nothing, some, all.
SAMPLES = (0.0, 0.5, 1.0)
N_DRAWN = 50
OPERATIONS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
FUNCTIONS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "max": max,
    "min": min,
    "mean": lambda values: math.fsum(values) / len(values),
}
EXPECTED = Text("numbers, names, + - * /, parentheses, {functions}", functions=", ".join(FUNCTIONS))


@dataclass(frozen=True)
class Formula:
    """A formula that was found to be harmless; `names` are the names it may use."""

    text: str
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        _check(_parse(self.text), self.names, 0)
        self._try_out()

    def _try_out(self) -> None:
        """Refuse a formula without a value for scores that a release may well have, before anybody relies on it."""
        rng = generator(0, "formula", self.text)
        drawn = [dict(zip(self.names, rng.choice(SAMPLES, len(self.names)), strict=True)) for _ in range(N_DRAWN)]
        alike = [dict.fromkeys(self.names, sample) for sample in SAMPLES]
        apart = [
            dict.fromkeys(self.names, others) | {name: one}
            for name in self.names
            for one, others in itertools.permutations(SAMPLES, 2)
        ]
        for values in (*alike, *apart, *drawn):
            self.value(values)

    def value(self, values: Mapping[str, float]) -> float:
        """Compute the formula; a value that is no number, as after dividing by 0, is an input error."""
        try:
            value = _compute(_parse(self.text), values)
        except (ZeroDivisionError, OverflowError):
            value = math.nan
        if not math.isfinite(value):
            given = ", ".join(f"{name} = {values[name]:g}" for name in self.names)
            raise InputError.of(
                Text("a formula with a finite value for {given}", given=given), column="formula", value=self.text
            )
        return value


def _parse(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise InputError.of(Text("a formula of at most {n} characters", n=LONGEST), column="formula", value=text)
    # Before anything parses it: each of these takes a parser long, or brings it down.
    strange = STRANGE.search(text)
    if strange is not None:
        raise InputError.of(Text("only {these}", these=EXPECTED), column="formula", value=strange[0])
    if LONG_NUMBER.search(text):
        raise InputError.of(Text("numbers of at most {n} digits", n=MOST_DIGITS), column="formula", value=text)
    # ast gives up on deep nesting in its own ways; parentheses and signs are what makes it deep.
    if sum(text.count(mark) for mark in "(-+") > LONGEST // 4:
        raise InputError.of(Text("at most {n} parentheses and signs", n=LONGEST // 4), column="formula", value=text)
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError.of(Text("a formula of {these}", these=EXPECTED), column="formula", value=text) from None


def _check(node: ast.expr, names: tuple[str, ...], depth: int) -> None:
    """Refuse whatever is not on the list; names that are unknown are told with the nearest."""
    if depth > DEEPEST:
        raise InputError.of(Text("a formula of at most {n} levels", n=DEEPEST), column="formula")
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool) and math.isfinite(number):
            pass
        case ast.Name(id=name):
            if name not in names:
                near = nearest(name, names)
                wanted = f"'{near}'" if near else choice_of(names)
                raise InputError.of(Text("a name of the formula: {names}", names=wanted), column="formula", value=name)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=inner):
            _check(inner, names, depth + 1)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATIONS:
            _check(left, names, depth + 1)
            _check(right, names, depth + 1)
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as inner, keywords=[]) if name in FUNCTIONS:
            for part in inner:
                _check(part, names, depth + 1)
        case _:
            raise InputError.of(Text("only {these}", these=EXPECTED), column="formula", value=ast.unparse(node))


def _compute(node: ast.expr, values: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id=name):
            return values[name]
        case ast.UnaryOp(op=op, operand=inner):
            value = _compute(inner, values)
            return -value if isinstance(op, ast.USub) else value
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATIONS[type(op)](_compute(left, values), _compute(right, values))
        case ast.Call(func=ast.Name(id=name), args=inner):
            return FUNCTIONS[name]([_compute(part, values) for part in inner])
    raise AssertionError("the formula was checked")
