"""The verdict on a release as its page shows it: a word, a sentence of what an outsider can do, three numbers.

The library decides (`inspection/decision.py`); here it is put into the reader's language, and each reason beside the
page on which it is mended.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tokumei.core.text import Json, JsonView
from tokumei.inspection.decision import NOT_YET, REFUSE, SAFE, UNSAFE, USELESS
from tokumei.platform.workbench.words import language
from tokumei.reports.evidence_pages import attacker_words, begun, new_document, sentence

TITLES: Mapping[str, tuple[str, str | Promise]] = {
    SAFE: ("success", gettext_lazy("Safe, as far as attacks can tell.")),
    NOT_YET: ("warning", gettext_lazy("Not yet: somebody has to settle what stands below.")),
    UNSAFE: ("error", gettext_lazy("Not safe: do not hand this release over.")),
    USELESS: ("warning", gettext_lazy("Useless: hardly anything is left of the data.")),
}
# The pages on which a part of the job is changed, and what their links say.
COLUMNS = ("workbench:columns", gettext_lazy("Change the columns"))
GOAL = ("workbench:protect", gettext_lazy("Change what is asked for"))
CONTEXT = ("workbench:context", gettext_lazy("State it"))
LIMIT = ("workbench:context", gettext_lazy("State who receives it, and what an attack may gain"))
MENDS: Mapping[str, tuple[tuple[str, str | Promise], ...]] = {
    "roles": (COLUMNS,),
    "requirements": (GOAL,),
    "context": (CONTEXT,),
    "limit": (GOAL, LIMIT),
}


def is_unsafe(dossier: JsonView) -> bool:
    """Whether a release must not be handed over."""
    return bool(dossier["decision"]["outcome"] == REFUSE)


def verdict_shown(dossier: JsonView) -> Json:
    """Show the decision of a dossier."""
    decision, document = dossier["decision"], new_document(dossier, language())
    # A dossier from before there were verdicts has its outcome alone.
    verdict = decision.get("verdict") or (UNSAFE if decision["outcome"] == REFUSE else NOT_YET)
    kind, title = TITLES[verdict]
    listed = decision["reasons"] if verdict == UNSAFE else decision["conditions"]
    strongest = decision["strongest"]
    return {
        "verdict": verdict,
        "kind": kind,
        "title": title,
        "strongest": sentence(document, strongest) if strongest else _("No attack on people could be tried."),
        "found": None if strongest is None else strongest["values"]["found"],
        "blind": None if strongest is None else strongest["values"]["blind"],
        "known": ""
        if strongest is None or not strongest["values"]["knows"]
        else attacker_words(document, {"threat": strongest["values"]["who"], "known": strongest["values"]["knows"]}),
        "reasons": [
            {"said": begun(document, sentence(document, one)), "mends": MENDS.get(str(one.get("mend")), ())}
            for one in ({"said": one.form, "values": one.values} if hasattr(one, "form") else one for one in listed)
        ],
        "can_go": verdict != UNSAFE,
    }
