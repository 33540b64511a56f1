"""What releases of the same people have spent, kept in a file across releases: `--budget FILE`.

The owner writes what may be spent at most, as `epsilon = 3` and `delta = 1e-9`; each release adds what it spent before
its noise is drawn. A release that would spend more is refused.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import json
import math
import secrets
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from tokumei.core.errors import InputError, NotAllowed
from tokumei.core.locks import held
from tokumei.core.text import Json, JsonView, Text
from tokumei.data.files.disk import check_is_file, write_text
from tokumei.methods.synthetic.private_noise import epsilon_of, rho_of

# What a release knows of the account that it was entered into.
ACCOUNT_FACTS = ("budget_epsilon", "budget_delta", "spent_rho", "spent_epsilon", "left_epsilon", "releases")
# Sums of the same numbers in another order differ by less.
ROUNDING = 1e-12
EXPECTED = "what may be spent at most, as two lines: epsilon = 3 and delta = 1e-9"


@dataclass(frozen=True)
class Spending:
    """What one release spent: ρ of concentrated privacy, and its ε where that holds without a δ."""

    rho: float
    # Of a method that is ε-differentially private; then ρ is ε²/2 (Bun and Steinke 2016, prop. 1.4).
    epsilon: float | None = None
    method: str = ""
    date: str = ""
    data: str = ""
    # The chance, beside ρ, that a name is told which one person alone has (δ-approximate privacy); it adds up.
    delta: float = 0.0

    @classmethod
    def pure(cls, epsilon: float, method: str) -> Spending:
        """Return what an ε-differentially private release spends."""
        return cls(epsilon**2 / 2, epsilon, method)


@dataclass(frozen=True)
class Account:
    """The most that may be spent, and what was.

    Releases of other data count, too: the same people may be in them. A fingerprint under a key of the file's own says
    which releases are of the same rows; it tells nothing to whoever has not the key.

    Example: of (ε, δ) = (1, 0), two releases of dp-counts at ε = 0.5 are the whole. Of (1, 1e-9), whose ρ is 0.0150,
    one of mst at (0.5, 1e-9), whose ρ is 0.0040, leaves 0.0110 or (0.85, 1e-9).
    """

    epsilon: float
    delta: float
    key: str
    entries: tuple[Spending, ...] = ()

    @property
    def spent_rho(self) -> float:
        """The ρ of all releases together."""
        return math.fsum(one.rho for one in self.entries)

    @property
    def delta_of_noise(self) -> float:
        """What is left of δ for the noise, beside the chances that names are told."""
        return self.delta - math.fsum(one.delta for one in self.entries)

    @property
    def spent_epsilon(self) -> float:
        """The ε of all releases together, at the account's δ: of concentrated privacy, or added up if less."""
        delta = self.delta_of_noise
        return min(self._added, epsilon_of(self.spent_rho, delta) if delta > 0 else math.inf)

    @property
    def _added(self) -> float:
        each = [math.inf if one.epsilon is None else one.epsilon for one in self.entries]
        return math.fsum(each)

    @property
    def is_kept(self) -> bool:
        """Whether no more was spent than may be: by ρ, or by ε where every release has one without a δ."""
        if self._added <= self.epsilon + ROUNDING:
            return True
        delta = self.delta_of_noise
        return delta > 0 and self.spent_rho <= rho_of(self.epsilon, delta) + ROUNDING

    @property
    def left_epsilon(self) -> float:
        """The largest ε of one more release at the account's δ."""
        delta = self.delta_of_noise
        if delta <= 0:
            return max(0.0, self.epsilon - self._added)
        left = rho_of(self.epsilon, delta) - self.spent_rho
        return epsilon_of(left, delta) if left > 0 else 0.0

    def spend(self, one: Spending) -> Account:
        """Enter one more release; NotAllowed if that is more than the budget."""
        made = replace(self, entries=(*self.entries, one))
        if not made.is_kept:
            form = (
                "The budget does not allow this release: (ε, δ) = ({epsilon:g}, {delta:g}) for all, of which "
                "ε = {spent:.4g} is spent; one at ε = {left:.4g} or less would still fit."
            )
            spent = self.spent_epsilon if self.entries else 0.0
            numbers = {"epsilon": self.epsilon, "delta": self.delta, "spent": spent, "left": self.left_epsilon}
            raise NotAllowed(Text(form, **numbers))
        return made

    def facts(self) -> Json:
        """Return what is spent and left, for the recipe and the result page."""
        found = (self.epsilon, self.delta, self.spent_rho, self.spent_epsilon, self.left_epsilon, len(self.entries))
        return dict(zip(ACCOUNT_FACTS, found, strict=True))

    def text(self) -> str:
        """Return the file: TOML that people can read, too."""
        lines = [
            "# What all releases of these people may spend at most, and what they spent. Keep this file secret.",
            f"epsilon = {self.epsilon!r}",
            f"delta = {self.delta!r}",
            f"key = {json.dumps(self.key)}",
        ]
        for one in self.entries:
            lines += ["", "[[release]]", f"method = {json.dumps(one.method)}", f"date = {json.dumps(one.date)}"]
            lines += [f"rho = {one.rho!r}", *([] if one.epsilon is None else [f"epsilon = {one.epsilon!r}"])]
            lines += [f"delta = {one.delta!r}"] if one.delta else []
            lines += [f"data = {json.dumps(one.data)}"]
        return "\n".join(lines) + "\n"

    @classmethod
    def read(cls, path: Path | str) -> Account:
        """Read the file; one that only says what may be spent gets a key."""
        file = check_is_file(Path(path))
        try:
            found = tomllib.loads(file.read_text(encoding="utf-8"))
            made = cls(
                _number(found, "epsilon", 0, math.inf),
                _number(found, "delta", -1, 1),
                str(found.get("key") or secrets.token_hex(32)),
                tuple(_spending(one) for one in found.get("release", [])),
            )
            unknown = set(found) - {"epsilon", "delta", "key", "release"}
            if unknown:
                raise ValueError(", ".join(sorted(unknown)))
        except (UnicodeDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError.of(EXPECTED, file=file, value=f"{type(error).__name__}: {error}") from None
        return made


def account_of(facts: JsonView) -> Json:
    """Return what the facts of a release say of its account; nothing where it has none."""
    return {name: facts[name] for name in ACCOUNT_FACTS if name in facts}


def _number(found: JsonView, key: str, above: float, below: float) -> float:
    value = found[key]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not above < value < below:
        raise ValueError(f"{key} = {value}")
    if key == "delta" and value < 0:
        raise ValueError(f"{key} = {value}")
    return float(value)


def _spending(found: JsonView) -> Spending:
    epsilon = None if "epsilon" not in found else _number(found, "epsilon", 0, math.inf)
    texts = {name: str(found[name]) for name in ("method", "date", "data")}
    delta = _number(found, "delta", 0, 1) if "delta" in found else 0.0
    return Spending(_number(found, "rho", 0, math.inf), epsilon, delta=delta, **texts)


def spend(path: Path | str, one: Spending, frame: pl.DataFrame) -> Account:
    """Enter a release of a table into the file of its account, or refuse it; two at a time wait for each other.

    The file is replaced whole, before any noise is drawn: what fails later is spent, and nothing is spent twice unsaid.
    """
    file = check_is_file(Path(path)).resolve()
    with held(file.parent):
        account = Account.read(file)
        digest = hashlib.sha256(frame.write_csv().encode()).digest()
        data = hmac.new(account.key.encode(), digest, hashlib.sha256).hexdigest()[:32]
        account = account.spend(replace(one, date=dt.datetime.now(dt.UTC).date().isoformat(), data=data))
        # The key is in it.
        file.chmod(0o600)
        write_text(file, account.text())
    return account
