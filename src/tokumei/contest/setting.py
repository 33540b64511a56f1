"""What a contest is set up with: `contest.toml` and its secret.

`contest.toml` tells which edition is followed with which options, or the contest of one's own itself. The secret is 32
bytes that every seed and every digest of a secret file follow from.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tokumei.contest.edition import COUNTS, EDITIONS, LATEST, Edition
from tokumei.core.chain import canonical, spelled_alike
from tokumei.core.errors import InputError
from tokumei.core.registry import part_name, part_options
from tokumei.core.seeds import check_seed
from tokumei.core.text import choice_of
from tokumei.data.files.toml import Where, parse_toml, read_toml

LENGTH = 32
BLOCK = 1024 * 1024


@dataclass(frozen=True)
class Secret:
    """The key of a contest, which only its organizer holds until the end.

    The log shows no more than its commitment. Nobody can try 2²⁵⁶ keys against that; but a key made from a small seed
    can be found by trying seeds, so that a contest that matters draws its key afresh.
    """

    key: bytes = field(repr=False)

    @classmethod
    def fresh(cls) -> Secret:
        """Draw a key that nobody can guess."""
        return cls(secrets.token_bytes(LENGTH))

    @classmethod
    def of_seed(cls, seed: int) -> Secret:
        """Return the key of a seed, for rehearsals, simulations and tests."""
        check_seed(seed)
        return cls(hashlib.sha256(f"tokumei contest seed {seed}".encode()).digest())

    @classmethod
    def read(cls, path: Path) -> Secret:
        """Read the key from the contest's secret folder."""
        try:
            text = path.read_text(encoding="ascii")
            found = cls(bytes.fromhex(text))
        except (OSError, ValueError):
            text, found = "", cls(b"")
        if len(found.key) != LENGTH or found.written() != text:
            raise InputError.of(f"the contest's key, {2 * LENGTH} hexadecimal digits", file=path)
        return found

    def written(self) -> str:
        """Return the key as its file holds it."""
        return f"{self.key.hex()}\n"

    @property
    def commitment(self) -> str:
        """A hash that binds the organizer to the key and tells nothing of it."""
        return hashlib.sha256(b"tokumei contest commitment" + self.key).hexdigest()

    def seed(self, *purpose: str | int) -> int:
        """Return the seed of one purpose; it reveals nothing of the key or of any other seed."""
        message = json.dumps(["seed", *purpose]).encode()
        return int.from_bytes(hmac.digest(self.key, message, "sha256")[:8], "big") >> 1

    def digest(self, path: Path) -> str:
        """Return the keyed hash of a secret file.

        A plain hash in a log that others see would let an attacker try out guesses at the truth until one fits.
        """
        mac = hmac.new(self.key, b"file", "sha256")
        with path.open("rb") as handle:
            while block := handle.read(BLOCK):
                mac.update(block)
        return mac.hexdigest()

    def seal(self, facts: Mapping[str, object]) -> str:
        """Return a code that binds facts to each other; without the key, none of them can be changed unnoticed."""
        return hmac.new(self.key, b"seal" + canonical(spelled_alike(facts)).encode(), "sha256").hexdigest()


def public_digest(path: Path) -> str:
    """Return the SHA-256 of a public file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


SETTING = "contest.toml"
RULE = "counts"


def read_setting(path: Path) -> Edition:
    """Read the edition of a contest from its file; its data are looked for beside it."""
    return _edition_of(*read_toml(path), path.parent)


def parse_setting(text: str, *, file: str = SETTING, folder: Path = Path()) -> Edition:
    """Read the edition of a contest from the text of its file; its data are looked for in a folder."""
    return _edition_of(*parse_toml(text, file), folder)


def _edition_of(where: Where, found: Mapping[str, object], folder: Path) -> Edition:
    """Make the edition that a file names; one that names none is a contest of one's own."""
    _counts(where, found)
    found = {name: value for name, value in found.items() if name != RULE}
    if "edition" not in found:
        # Only here: it knows every metric and attack, and an evaluation of a built-in edition should not wait for that.
        from tokumei.contest.custom.edition import custom_edition_of

        return custom_edition_of(where, found, folder)
    name, options = found["edition"], found.get("options", {})
    if not isinstance(name, str) or not isinstance(options, dict):
        raise InputError.of('edition = "NAME" and a table [options]', file=where.file)
    return EDITIONS.make(name, **{key: _tuples(value) for key, value in options.items()})


def read_counts(path: Path) -> str:
    """Read which of a team's releases counts in a contest; its latest, where the file says nothing."""
    return _counts(*read_toml(path))


def counts_said(text: str) -> str | None:
    """Return which of a team's releases counts, if the contest's file says so."""
    where, found = parse_toml(text, SETTING)
    return _counts(where, found) if RULE in found else None


def with_counts(text: str, counts: str | None) -> str:
    """Write into the text of a contest's file which release of a team counts, unless it says so or it is the usual."""
    if counts is None:
        return text
    if counts not in COUNTS:
        raise InputError.of(choice_of(COUNTS), option=RULE, value=counts)
    said = counts_said(text)
    if said not in (None, counts):
        raise InputError.of(f"what the file says, {said}", option=RULE, value=counts)
    # Before the first section, since what follows one belongs to it.
    return text if said is not None or counts == LATEST else f'{RULE} = "{counts}"\n\n{text}'


def _counts(where: Where, found: Mapping[str, object]) -> str:
    said = found.get(RULE, LATEST)
    if said not in COUNTS:
        raise where.fault(f"which release of a team counts: {', '.join(COUNTS)}", RULE, value=said)
    return str(said)


def source_of(edition: Edition) -> Path | None:
    """Return the file from which a custom contest takes its data, if it names one."""
    from tokumei.contest.custom.edition import CustomEdition

    if isinstance(edition, CustomEdition) and edition.settings.data.source is not None:
        return edition.folder / edition.settings.data.source
    return None


def write_setting(edition: Edition) -> str:
    """Spell an edition and all its options, so that a later default changes no contest; one's own as it is."""
    from tokumei.contest.custom.edition import CustomEdition

    if isinstance(edition, CustomEdition):
        return edition.text
    lines = [f"edition = {_spelled(part_name(edition))}", "", "[options]"]
    for option in part_options(type(edition)):
        value = getattr(edition, option.name)
        # TOML has no word for nothing: what is left out is the default, which is None wherever None is allowed.
        if value is not None:
            lines.append(f"{option.name} = {_spelled(value)}")
    return "\n".join(lines) + "\n"


def _spelled(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_spelled(part) for part in value)}]"
    # A JSON string is a TOML basic string, but for one character.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _tuples(value: object) -> object:
    return tuple(_tuples(part) for part in value) if isinstance(value, list) else value
