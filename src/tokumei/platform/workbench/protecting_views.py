"""What the file gives away, what is asked of the release, releases to choose from, and having one made."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.core.errors import InputError
from tokumei.core.registry import part_options
from tokumei.core.text import Json, JsonView
from tokumei.methods.history.steps import HistoryStep
from tokumei.methods.registry import HISTORY_ANONYMIZERS, TABLE_ANONYMIZERS
from tokumei.platform.access import UserRequest, access
from tokumei.platform.files.incoming import uploads_of
from tokumei.platform.messages import describe_error
from tokumei.platform.workbench import drawing, editing, services, words
from tokumei.platform.workbench import folder as files
from tokumei.platform.workbench.file_views import edited, find, frame
from tokumei.platform.workbench.goal_form import GoalForm
from tokumei.platform.workbench.models import Piece

SETS_SHOWN = 6
# How many customers of a history may be found, where nobody said it.
DEFAULT_TARGET = 0.2
ROWS_SHOWN = 5
# In the order of the page: the usual ones first.
USUAL_ATTACKS = ("exact-match", "jaccard", "linkage", "row-counts", "tfidf")
USUAL = ("optimal", "mondrian", "ola", "incognito", "datafly")


@access("user", of=find, methods="GET POST")
def risk(request: UserRequest, piece: Piece) -> HttpResponse:
    """Show what the file gives away as it stands, and take of how many people it is a sample."""
    found = files.read(piece.folder, files.RISK)
    if request.method == "POST":
        if found is None or piece.kind != "table":
            raise Http404
        columns = list(files.read(piece.folder, files.LOOK)["columns"])
        change = editing.set_population(columns, request.POST)
        return edited(request, piece, change, "workbench:risk", "workbench:risk")
    shown = frame(request, piece)
    if found is not None:
        shown |= _table_risk(found) if piece.kind == "table" else _history_risk(found)
        if piece.kind == "table" and shown["look"] is not None:
            roles = found.get("roles", {})
            shown["weighing"] = [
                name for name in shown["look"]["columns"] if roles.get(name, editing.OTHER) in editing.MAY_WEIGH
            ]
        # What is still looked for comes by itself, as the hierarchies did before.
        shown["is_attacked"] = services.busy_job(piece, whole=True) is not None and not shown["busy"]
    return render(request, "workbench/risk.html", shown)


def _table_risk(found: JsonView) -> Json:
    audit, sizes = found["audit"], found["sizes"]
    rows = [
        (f"{low:,}" if low == high else f"{low:,}–{high:,}", float(n), f"{n:,} ({n / max(1, audit['rows']):.0%})")
        for low, high, n in sizes
    ]
    alone = found.get("alone", {})
    by_column = sorted(alone.get("by_column", {}).items(), key=lambda one: -one[1])
    return {
        "audit": audit,
        "several_rows": found.get("several_rows"),
        "sizes": drawing.bars(rows, title=_("Rows by the size of their class"), kind="risk"),
        "numbers": words.number_lines(words.of_measures(audit["measures"])),
        "sets": found.get("sets", [])[:SETS_SHOWN],
        "by_column": drawing.bars(
            [(name, share, f"{share:.0%}") for name, share in by_column],
            title=_("Columns that single out"),
            kind="risk",
        ),
        "population": next((one["population"] for one in found.get("threat_models", []) if "population" in one), None),
        "population_given": found.get("population_given"),
        "weights": found.get("weights"),
        "estimates": _estimates_shown(audit.get("population_uniques")),
        "individual": _individual_shown(audit.get("individual_risk")),
        "special": _special_shown(audit.get("special_uniques")),
        "attackers": [_attacker_shown(one) for one in found.get("threat_models", [])],
        "tried": words.attack_lines(found["attacks"]) if "attacks" in found else None,
        "linked": _linked(found.get("attacks", [])),
        "singled_out": words.singled_out_lines(found["attacks"]) if "attacks" in found else [],
        "share_alone": f"{audit['unique'] / max(1, audit['rows']):.0%}",
    }


ESTIMATORS = {"pitman": "Pitman", "zayatz": "Zayatz", "snb": "SNB"}


def _estimates_shown(found: JsonView | None) -> list[Json]:
    """Show each estimate of who is alone in the population; nothing where the sample is everybody."""
    if found is None or found["chosen"] not in ESTIMATORS:
        return []
    return [
        {
            "name": title,
            "is_chosen": name == found["chosen"],
            "alone": None if found["estimates"][name] is None else round(found["estimates"][name]["alone"]),
            "share": None if found["estimates"][name] is None else f"{found['estimates'][name]['share']:.2%}",
        }
        for name, title in ESTIMATORS.items()
    ]


def _individual_shown(found: JsonView | None) -> Json | None:
    """Show the risk by sampling weights, and the rows at the highest."""
    if found is None:
        return None
    of = found.get("households")
    return {
        "expected": f"{found['expected']:,.1f}",
        "share": f"{found['share']:.2%}",
        "highest": f"{found['highest']:.1%}",
        "population": round(found["population"]),
        "households": None if of is None else {"n": of["n"], "expected": f"{of['expected']:,.1f}"},
        "riskiest": [(one["row"], f"{one['risk']:.1%}") for one in found["riskiest"][:ROWS_SHOWN]],
    }


def _special_shown(found: JsonView | None) -> Json | None:
    """Show how many rows few columns single out, what each column adds, and the rows with the highest scores."""
    if found is None:
        return None
    by_column = sorted(found["by_column"].items(), key=lambda one: -one[1])
    return {
        "n": found["special_uniques"],
        "alone": found["rows_alone"],
        # Those that all columns single out are not special.
        "size": min(found["largest_set"], len(found["columns"]) - 1),
        "by_column": [(name, f"{share:.0%}", ", ".join([*found["by_value"][name]][:3])) for name, share in by_column],
        "riskiest": [(one["row"], f"{one['score']:g}", one["smallest"]) for one in found["riskiest"][:ROWS_SHOWN]],
    }


def _linked(attacks: Sequence[JsonView]) -> dict[str, str] | None:
    """Show the share of people whom record linkage finds with certainty; None where it was not tried."""
    certain = next((one["scores"].get("certain") for one in attacks if one["attack"] == "record-linkage"), None)
    return None if certain is None else {"value": f"{certain['value']:.1%}", "said": words.interval_in_words(certain)}


def _attacker_shown(one: JsonView) -> Json:
    bound = "≤ " if one.get("is_bound") else ""
    shares = {key: f"{bound}{one[key]:.1%}" if key in one else "–" for key in ("highest", "mean", "above")}
    return (
        {"title": words.title_of(one["name"]), "says": words.says(one["name"])}
        | shares
        | {
            "name": one["name"],
            "population": one.get("population"),
            "share_alone": None if one.get("share_alone") is None else f"{one['share_alone']:.0%}",
        }
    )


def _history_risk(found: JsonView) -> Json:
    attackers = found.get("attackers", [])
    rows = [(words.knowledge_in_words(one["knows"]), one["measured"], f"{one['measured']:.1%}") for one in attackers]
    return {
        "facts": found["facts"],
        "attackers": drawing.bars(rows, title=_("Chance to find a customer by what is known"), kind="risk", label=290),
        "worst": max(attackers, key=lambda one: one["measured"], default=None),
        "unicity": [_curve_shown(one) for one in found.get("unicity", [])],
        "is_over": "attackers" in found,
    }


def _curve_shown(one: JsonView) -> Json:
    return {"knows": words.exactness_in_words(one["knows"]), "shares": [f"{share:.0%}" for share in one["singled_out"]]}


@access("user", of=find, methods="GET POST")
def protect(request: UserRequest, piece: Piece) -> HttpResponse:
    """Take what is asked of the release and by which methods; then have it made, or releases tried."""
    shown = frame(request, piece)
    if shown["look"] is None:
        return render(request, "workbench/protect.html", shown)
    job, is_table, is_sent = files.job_of(piece.folder), piece.kind == "table", request.method == "POST"
    sent = (request.POST, uploads_of(request)) if is_sent else ()
    goal = GoalForm(job, *sent, methods=request.POST.getlist("method")) if is_table else None
    if is_sent and (goal is None or goal.is_valid()):
        try:
            _edit(request, piece, goal)
        except InputError as error:
            messages.error(request, describe_error(error))
            return redirect("workbench:protect", piece=piece.key)
        wants_frontier = "try" in request.POST
        services.start(piece, services.FRONTIER if wants_frontier else services.RELEASE)
        return redirect("workbench:protect" if wants_frontier else "workbench:see", piece=piece.key)
    if is_sent:
        # Ticks stay as they were sent.
        editing.set_methods(request.POST)(job)
    shown |= _pipeline_shown(job) if goal is None else {"goal": goal, **_methods_shown(job)}
    found = files.read(piece.folder, files.FRONTIER)
    shown |= _frontier_shown(found, piece)
    if found is not None and not is_table:
        shown |= _recommended(found["releases"], editing.target_of(job) or DEFAULT_TARGET)
    return render(request, "workbench/protect.html", shown)


def _edit(request: UserRequest, piece: Piece, goal: GoalForm | None) -> None:
    """Write into the job file what was sent; files that came with it are stored first."""
    if goal is None:
        services.edit(piece, editing.set_pipeline(request.POST))
        return
    goal.places = {name: services.take_beside(piece, name, upload) for name, upload in goal.uploads.items()}
    set_methods = editing.set_methods(request.POST)

    def change(found: editing.Found) -> None:
        goal.change(found)
        set_methods(found)

    services.edit(piece, change)


def _methods_shown(job: JsonView) -> dict[str, object]:
    chosen = [one["name"] for one in job.get("method", [])] or ["optimal"]
    listed = [*USUAL, *(name for name in TABLE_ANONYMIZERS if name not in USUAL)]
    return {
        "are_tight": any(one.get("ranges") == "tight" for one in job.get("method", [])),
        "methods": [_method_shown(name, name in chosen) for name in listed if _is_ready(name) or name in chosen],
    }


def _is_ready(name: str) -> bool:
    """Whether a method needs no option that only somebody can give, and releases rows of people."""
    part = TABLE_ANONYMIZERS.get(name)
    return not hasattr(part, "perturb") and not any(option.is_required for option in part_options(part))


def _method_shown(name: str, is_chosen: bool) -> Json:
    doc = (TABLE_ANONYMIZERS.get(name).__doc__ or "").strip().splitlines()[0]
    return {"name": name, "says": doc, "is_chosen": is_chosen, "is_usual": name in USUAL}


def _pipeline_shown(job: JsonView) -> Json:
    methods = job.get("method") or [{"name": "pseudonyms"}]
    steps = {one["method"]: one for one in editing.steps_of(methods[0])}
    parts = {name: HISTORY_ANONYMIZERS.get(name) for name in HISTORY_ANONYMIZERS}
    threat = (job.get("threat") or [{}])[0]
    return {
        "steps": [_step_shown(name, steps) for name, part in parts.items() if issubclass(part, HistoryStep)],
        "naming": [_step_shown(name, steps) for name, part in parts.items() if not issubclass(part, HistoryStep)],
        "share": f"{100 * threat.get('share', 0.25):g}",
        "target": f"{100 * (editing.target_of(job) or DEFAULT_TARGET):g}",
        "attacks": [
            {
                "name": name,
                "title": words.title_of(name),
                "says": words.says(name),
                "is_chosen": name in threat.get("attacks", []),
                "is_usual": name in USUAL_ATTACKS,
            }
            for name in HISTORY_ATTACKS
        ],
    }


def _step_shown(name: str, chosen: JsonView) -> Json:
    part, given = HISTORY_ANONYMIZERS.get(name), chosen.get(name, {})
    options = []
    for option in (one for one in part_options(part) if not one.is_file):
        value = given.get(option.name, None if option.is_required else option.default)
        options.append(
            {
                "field": f"{name}.{option.name}",
                "label": option.name.replace("_", " "),
                "help": option.help,
                "is_flag": option.type is bool,
                "is_on": value is True,
                "value": "" if value is None else value,
            }
        )
    doc = (part.__doc__ or "").strip().splitlines()[0]
    return {"name": name, "says": doc, "is_chosen": name in chosen, "options": options}


def _frontier_shown(found: JsonView | None, piece: Piece) -> Json:
    if found is None:
        return {}
    releases = found["releases"]
    # Of a table rows are counted; of a history attacks are tried.
    y_name = _("rows drawn rightly") if piece.kind == "table" else _("people found")
    drawn = drawing.frontier(releases, title=_("Use lost against people found"), x_name=_("use lost"), y_name=y_name)
    listed = [
        one
        | {
            "loss_said": None if one.get("loss") is None else f"{one['loss']:.1%}",
            "found_said": None if one.get("found") is None else f"{one['found']:.2%}",
            "attributed_said": None if one.get("attributed") is None else f"{one['attributed']:.1%}",
            "suppress_said": f"{one['suppress']:.0%}" if "suppress" in one else "",
        }
        for one in releases
    ]
    return {
        "frontier": drawn,
        "releases": listed,
        "left_out": found.get("left_out", {}),
        "loss_name": found["loss_name"],
    }


def _recommended(releases: Sequence[JsonView], most: float) -> Json:
    """Recommend the release that loses least of those that meet the target, by its number."""
    from tokumei.tasks.report_history import least_loss

    ways = [{"name": one["method"], "utility": one["loss"], "found": one["found"]} for one in releases]
    name = least_loss(ways, most)
    number = next((at for at, one in enumerate(releases, start=1) if one["method"] == name), None)
    chosen = None if number is None else releases[number - 1]
    shown = {} if chosen is None else {"loss": f"{chosen['loss']:.1%}", "found": f"{chosen['found']:.1%}"}
    return {"is_tried": True, "recommended": chosen and {"number": number, "method": name} | shown}


@access("user", of=find, methods="POST")
def frontier(request: UserRequest, piece: Piece) -> HttpResponse:
    """Try releases by the job file as it stands."""
    services.start(piece, services.FRONTIER)
    return redirect("workbench:protect", piece=piece.key)


@access("user", of=find, methods="POST")
def choose(request: UserRequest, piece: Piece) -> HttpResponse:
    """Take one of the releases that were tried into the job file, and have it made."""
    releases = (files.read(piece.folder, files.FRONTIER) or {}).get("releases", [])
    number = request.POST.get("release", "")
    if not number.isdecimal() or len(number) > 4 or not 0 < int(number) <= len(releases):
        raise Http404
    chosen = releases[int(number) - 1]

    def change(found: Json) -> None:
        if "pipeline" in chosen:
            found["method"] = [editing.as_method(chosen["pipeline"])]
            return
        asked = found.setdefault("requirements", {})
        asked["k"], asked["suppress"] = chosen["k"], chosen["suppress"]
        known = {one["name"]: one for one in found.get("method", [])}
        found["method"] = [known.get(chosen["method"], {"name": chosen["method"]})]
        editing.set_k(found, chosen["k"])

    services.edit(piece, change)
    services.start(piece, services.RELEASE)
    return redirect("workbench:see", piece=piece.key)


@access("user", of=find, methods="POST")
def run(request: UserRequest, piece: Piece) -> HttpResponse:
    """Have the release made by the job file as it stands; one that was cancelled goes on."""
    if files.read(piece.folder, files.LOOK) is None:
        raise Http404
    services.start(piece, services.RELEASE)
    return redirect("workbench:see", piece=piece.key)


@access("user", of=find, methods="POST")
def keep_anyway(request: UserRequest, piece: Piece) -> HttpResponse:
    """Release a column that leads to people as it is, since somebody typed its name; the dossier says so."""
    column, typed = request.POST.get("column", ""), request.POST.get("typed", "")
    if typed.strip() != column.strip() or column not in files.job_of(piece.folder).get("roles", {}):
        said = _("Nothing was changed: type the column's name, %s, exactly as it stands.") % column
        messages.error(request, said)
        return redirect("workbench:see", piece=piece.key)

    def change(found: Json) -> None:
        output = found.setdefault("output", {})
        before = output.get("keep_anyway", [])
        output["keep_anyway"] = [*(before if isinstance(before, list) else []), column]

    services.edit(piece, change)
    services.start(piece, services.RELEASE)
    return redirect("workbench:see", piece=piece.key)


@access("user", of=find, methods="POST")
def cancel(request: UserRequest, piece: Piece) -> HttpResponse:
    """End what is under way."""
    services.cancel(piece)
    return redirect("workbench:protect", piece=piece.key)


@access("user", of=find)
def state(request: UserRequest, piece: Piece) -> JsonResponse:
    """Return how far work is, for the page's script."""
    busy = services.busy_job(piece, whole="whole" in request.GET)
    if busy is None:
        return JsonResponse({"is_final": True})
    told = {key: busy.progress.get(key) for key in ("done", "total")}
    return JsonResponse({"is_final": False, "says": words.step_in_words(busy), "progress": told | {"step": ""}})
