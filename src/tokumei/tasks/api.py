"""The jobs by name: each takes a table or a history, as a frame or a file, and gives a result.

A job that takes both looks up the kind of what it is given in KINDS, where each kind has its own function.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from tokumei.core.errors import InputError, nearest
from tokumei.core.text import Text
from tokumei.data.history import History
from tokumei.data.table import Table

# For each job the function of each kind of data, as "module:function"; imported when it is first called.
KINDS: dict[str, dict[str, str]] = {
    "audit": {"Table": "audit_table:audit_table", "TableRelease": "audit_table:audit_release"},
    "anonymize": {"Table": "anonymize_table:anonymize_table", "History": "anonymize_history:anonymize_history"},
    "attack": {"Table": "attack_table:attack_table", "History": "attack_history:attack_history"},
    "attack a release": {"Table": "attack_table:attack_release"},
    "measure": {"Table": "measure_table:measure_table", "History": "measure_history:measure_history"},
    "harden": {"Table": "harden_table:harden_table", "History": "harden_history:harden_history"},
    "harden a release": {"Table": "harden_table:harden_release"},
    "compare": {"Table": "compare_table:compare_table"},
    "predict": {"Table": "predict_table:predict_table"},
    "sweep": {"History": "report_history:sweep_history"},
    "knowledge": {"History": "knowledge_history:knowledge_history"},
}


def audit(table: Any, qi: Any = None, **options: Any) -> Any:
    """Measure how safe a table is as it stands, by every measure, and check what is stated.

    table: a `tk.Table`, what `tk.anonymize` gave, or a frame or file with its quasi-identifiers in `qi`.
    options: what must hold, as for `tk.anonymize` (`k=5`, `l_diversity={"illness": 2}` …); `against`, earlier releases
        or other tables of the same people (a `tk.Table` has classes by its own quasi-identifiers): what `tk.anonymize`
        gave knows whose each row is, others need `person`, the column that says it (of several rows, too), `rows` and
        `against_rows`, or `in_order`; `population`; `threshold`, above which a record's risk is counted.

    >>> import tokumei as tk
    >>> t = tk.Table({"age": [31, 31, 52], "illness": ["flu", "cold", "flu"]}, qi=["age"], sensitive=["illness"])
    >>> tk.audit(t, k=2).holds
    False
    """
    return _run("audit", _with_roles(table, qi, options), options)


def anonymize(data: Any, qi: Any = None, **options: Any) -> Any:
    """Anonymize a table or a history so that it keeps what is asked for, with as little loss as the method can.

    data: a `tk.Table` or a `tk.History`; or a frame or file with its quasi-identifiers in `qi`.

    Of a table: `method` ("optimal" if not given; `tokumei parts table-anonymizer` lists them) and its own options;
    `k`, `l_diversity={"illness": 2}` or `"2:entropy"`, or `l_diversity=2` for every sensitive column, `t_closeness`,
    `alpha_k`, `beta_likeness`, `k_map`, `delta_presence`, `preset`, with `population`; `suppress`, the share of rows
    that may be left out; `loss` ("ncp" if not given), `weights`, `prefer`; `keep`, further columns to release unchanged
    (`keep_anyway` where they single people out); `keep_order`, or else rows are shuffled; `seed`; `hierarchies`, a
    folder or one by column.

    Of a history: `method` and its own options, or `pipeline`, the file of several; `seed`.

    >>> import tokumei as tk
    >>> t = tk.Table({"age": [31, 31, 52, 52]}, qi=["age"])
    >>> tk.anonymize(t, k=2)
    TableRelease(4 rows, 0 left out, by optimal, k 2, ncp 0)
    """
    return _run("anonymize", _with_roles(data, qi, options), options)


def attack(original: Any, release: Any = None, attack: Any = None, **options: Any) -> Any:
    """Attack a release as somebody would who knows people, by one attack or by all that what is given allows.

    original: a `tk.Table`, or what is known of a history; a release that `tk.anonymize` gave may stand alone.
    release: what `tk.anonymize` gave; or a released table, with `rows` that say whose each row is or `in_order`.
    attack: the name of an attack, of a table also several. If not given, all on a table and "linkage" on a history.

    An attack that needs no original takes any released table alone, as in `tk.attack(tk.Table("release.csv",
    qi=["age"]), attack="downcoding")`, with `method` and `k` where it is known how it was made.

    Of a history, `threat` says who attacks in place of what is known: "neighbor", "spouse", "data-broker", "rivals",
    "insider" or a threat of your own, with `attacks`, `draws`, `seed` and changes such as `share` or `days`; the first
    is the original then.

    >>> import tokumei as tk
    >>> t = tk.Table({"age": [31, 31, 52, 52]}, qi=["age"])
    >>> tk.attack(t, tk.anonymize(t, k=2), "record-linkage").scores["record-linkage"]["certain"].value
    0.0
    """
    named = [] if attack is None else [attack]
    if release is None and attack is not None and (isinstance(original, Table) or "qi" in options):
        return _run("attack a release", _with_roles(original, options.pop("qi", None), options), options, *named)
    original, release = _pair("attack", original, release, options)
    return _run("attack", original, options, release, *named)


def measure(original: Any, release: Any = None, measures: Any = None, **options: Any) -> Any:
    """Measure how much use a release lost, by every measure that its columns allow or by those that are named.

    original: a `tk.Table` or a `tk.History`; a release that `tk.anonymize` gave may stand alone.
    release: what `tk.anonymize` gave; or a released table, with `rows` that say whose each row is or `in_order`.

    >>> import tokumei as tk
    >>> t = tk.Table({"age": [31, 31, 52, 52]}, qi=["age"])
    >>> tk.measure(t, tk.anonymize(t, k=2), "statistics").scores["statistics"].value
    0.0
    """
    original, release = _pair("measure", original, release, options)
    return _run("measure", original, options, release, *([] if measures is None else [measures]))


def harden(original: Any, release: Any = None, *, bound: float, **options: Any) -> Any:
    """Change a release no more than needed for every attack to find at most a share of the people.

    original: a `tk.Table` or a `tk.History`; a release that `tk.anonymize` gave may stand alone, and so may any
        released table of which only the labels are attacked.
    release: what `tk.anonymize` gave and nobody has seen yet; a released table, with `rows` or `in_order` as for
        `tk.attack`; or none, with a `pipeline` that makes the release of a history.

    Of a table: `attacks`, all that what is given allows if not named; `changes`, some of "snap" (ranges and sets onto a
    public grid or hierarchy), "widen", "merge" and "suppress"; `suppress`, the share of rows that may be left out;
    `by_interval=False` holds the shares found against the bound, not the upper ends of their intervals; `minutes` for
    the search; `seed`, `hierarchies`, `numeric`, and what attackers know, as for `tk.attack`.

    Of a history: `knowledge` in per cent, `attacks`, `minutes`, `draws`; `changes`, some of "widen", "delete",
    "re-pseudonymize" and "permute"; `sample`, the most customers that are attacked; `seed`.

    >>> import tokumei as tk
    >>> days = [f"2011-0{1 + n % 3}-0{1 + n // 3}" for n in range(9)]
    >>> h = tk.History({"customer": list("aaabbbccc"), "date": days, "item": list("xyzxxyzzz"), "quantity": [1] * 9})
    >>> r = tk.anonymize(h, method="pseudonyms", lifetime=12, seed=1)
    >>> tk.harden(r, bound=0.7, attacks=["s6"], changes=["permute"], seed=1).found.change.found
    2

    >>> t = tk.Table({"age": ["31-45", "31-45", "50-58", "50-58"]}, qi=["age"])
    >>> tk.harden(t, bound=0.2, attacks=["downcoding"], by_interval=False, method="mondrian").frame["age"].to_list()
    ['30-49', '30-49', '50-59', '50-59']
    """
    if release is None and (isinstance(original, Table) or "qi" in options):
        table = _with_roles(original, options.pop("qi", None), options)
        return _run("harden a release", table, {**options, "bound": bound})
    if "pipeline" not in options:
        original, release = _pair("harden", original, release, options)
    return _run("harden", original, {**options, "bound": bound}, *([] if release is None else [release]))


def compare(table: Any, qi: Any = None, **options: Any) -> Any:
    """Run methods on one table, and compare what each found and what it cost.

    options: as for `tk.anonymize`, with `methods` in place of `method`.

    >>> import tokumei as tk
    >>> t = tk.Table({"age": [31, 31, 52, 52]}, qi=["age"])
    >>> tk.compare(t, k=2, methods=["optimal", "mondrian"]).to_frame()["method"].to_list()
    ['optimal', 'mondrian']
    """
    return _run("compare", _with_roles(table, qi, options), options)


def predict(table: Any, qi: Any = None, **options: Any) -> Any:
    """Predict the k of every node of a table from few counts, and compare it with the k that counting gives.

    options: `k` that a release must have, `method` (one predictor, all if not given), `levels` of one node; `largest`
        class count or `n_nodes` that the power law is fitted on, `caution` of the band, and `rule`: what must reach k,
        "low", the low end of the band, or "k" itself, as in the thesis.

    >>> import tokumei as tk
    >>> t = tk.Table({"age": [31, 31, 52, 52], "sex": ["f", "f", "m", "m"]}, qi=["age", "sex"])
    >>> tk.predict(t, k=2).n_rows
    4
    """
    return _run("predict", _with_roles(table, qi, options), options)


def sweep(history: Any, out: Any = None, **options: Any) -> Any:
    """Anonymize a history in many ways and compare the use that each loses with the customers that are found.

    history: a `tk.History`.
    out: a folder that keeps what was done, so that nothing is done twice.
    options: `grid`, the ways to try by name or in a file; `knowledge` in per cent; `attacks`; `sample`, the most
        customers that are attacked; `seed`.

    >>> import tokumei as tk
    >>> days = [f"2011-0{1 + n % 3}-01" for n in range(9)]
    >>> h = tk.History({"customer": list("aaabbbccc"), "date": days, "item": list("xyzxxyzzz"), "quantity": [1] * 9})
    >>> tk.sweep(h, attacks=["s1"], grid={"monthly": {"step": [{"method": "pseudonyms", "lifetime": 1}]}})
    Sweep(1 ways, 1 on the frontier)
    """
    return _run("sweep", history, options, *([] if out is None else [out]))


def knowledge(history: Any, release: Any = None, **options: Any) -> Any:
    """Measure what each kind of knowledge of a purchase is worth to an attacker, beside what theory says.

    history: a `tk.History`; with a `release`, customers are looked for there.
    options: `weight`, what share meets a piece of knowledge: "usual", "baskets" or "rows"; `unicity=True` gives instead
        the share of customers singled out by 1, 2, … known purchases, with `points`, `draws`, `exactness` and `seed`.

    >>> import tokumei as tk
    >>> h = tk.History({"customer": list("aab"), "date": ["2011-01-01"] * 3, "item": list("xyx")})
    >>> tk.knowledge(h).risks[1].value
    0.6666666666666666
    """
    return _run("knowledge", history, options, *([] if release is None else [release]))


def _with_roles(data: Any, qi: Any, options: dict[str, Any]) -> Any:
    """Convert a frame or file with quasi-identifiers to a table; what has roles already takes no others."""
    if qi is None:
        return data
    if type(data).__module__.startswith("tokumei."):
        expected = f"no quasi-identifiers beside {_said(data)}; all else is named, as k=5"
        raise InputError.of(expected, option="qi", value=qi)
    return Table(data, qi, options.pop("sensitive", ()))


def _pair(job: str, original: Any, release: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """Return an original and its release; a release that knows its original may stand alone."""
    original = _with_roles(original, options.pop("qi", None), options)
    if release is not None:
        return original, release
    known = getattr(original, "original", None)
    if isinstance(known, (Table, History)):
        return known, original
    raise InputError.of(f"an original and its release, as tk.{job}(t, r)", value=_said(original))


def _run(job: str, data: Any, options: dict[str, Any], *more: Any) -> Any:
    """Call the function of the kind that was given, all else is one clear error."""
    kinds = KINDS[job]
    for one in type(data).__mro__:
        if one.__name__ in kinds and one.__module__.startswith("tokumei."):
            found: Callable[..., Any] = _function(kinds[one.__name__])
            _check_options(job, found, options)
            return found(data, *more, **options)
    wanted = " or ".join(f"a tk.{kind}" for kind in kinds if kind in ("Table", "History"))
    expected = f"{wanted}, as tk.Table(data, qi=['age'])" if "Table" in kinds else wanted
    raise InputError.of(expected, value=_said(data))


def _check_options(job: str, function: Callable[..., Any], options: dict[str, Any]) -> None:
    """Refuse a keyword that a function does not know, with the nearest name, unless it looks at the rest itself."""
    known = inspect.signature(function).parameters
    if any(one.kind is one.VAR_KEYWORD for one in known.values()):
        return
    named = [name for name, one in known.items() if one.kind is one.KEYWORD_ONLY]
    for option in options:
        if option not in named:
            near = nearest(option, named)
            raise InputError.of(
                Text("an option of {what}: {names}", what=job, names=repr(near) if near else ", ".join(named)),
                value=option,
            )


def _said(data: Any) -> str:
    """Name the kind of what was given: a tk.Table, or another library's with its home."""
    kind = type(data)
    if kind in (Table, History):
        return f"a tk.{kind.__name__}"
    return (
        kind.__name__ if kind.__module__.startswith(("tokumei.", "builtins")) else f"{kind.__module__}.{kind.__name__}"
    )


def _function(home: str) -> Callable[..., Any]:
    module, _, name = home.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(f"tokumei.tasks.{module}"), name)
    return found
