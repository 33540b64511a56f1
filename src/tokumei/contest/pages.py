"""The pages of a contest: its rules in words, and its results.

The rules are made from what the edition states. The results are the ranking, utility against safety, and the matrix of
attacks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from tokumei.contest.edition import (
    BEST,
    CHOSEN,
    LATEST,
    AttackRule,
    ContestTerms,
    FileRole,
    Measure,
    Rule,
    Standing,
    TeamEntry,
)
from tokumei.contest.season import AttackPlace, attacks_found, rank_attackers, safety_lost
from tokumei.reports.figures import attack_figure, standings_figure
from tokumei.reports.page import Page

Language = Literal["en", "ja"]


@dataclass(frozen=True)
class _Words:
    """The fixed words of a rules page in one language."""

    files: str
    columns: tuple[str, str]
    data: str
    own_data: str
    release: str
    published: str
    truth: str
    knowledge: str
    level: str
    guess: str
    no_knowledge: str
    release_rules: str
    guess_rules: str
    measures: str
    phases: str
    steps: tuple[str, ...]
    limits: str
    releases_allowed: str
    guesses_allowed: str
    hidden: str
    counts: Mapping[str, str]
    refused: str
    own: str


ENGLISH = _Words(
    files="Files",
    columns=("file", "holds"),
    data="What everybody gets",
    own_data="What each team alone gets",
    release="What a team submits as its release",
    published="What attackers see of a release",
    truth="What stays secret",
    knowledge="What attackers know, handed out when attacks begin",
    level="Level {}",
    guess="What an attacker submits as a guess",
    no_knowledge="All of the data; no further files are handed out.",
    release_rules="Rules for releases",
    guess_rules="Rules for guesses",
    measures="What the numbers say",
    phases="Phases",
    steps=(
        "**Anonymize.** Teams submit releases. Each is checked, and scored if it passes.",
        "**Publish.** The organizer publishes each team's release that counts in an order that tells nothing.",
        "**Attack.** Teams submit guesses at each other's releases. Each is checked, then judged by the truth.",
        "**Close.** The teams are ranked.",
    ),
    limits="Limits",
    releases_allowed="Releases of a team in all: {:,}.",
    guesses_allowed="Guesses of a team at one release with one level of knowledge: {:,}.",
    hidden="How right a guess was is told when the attacks are over.",
    counts={
        LATEST: "The last release that passed the check is the one that counts.",
        BEST: "The best release that passed the check is the one that counts: the one that would be ranked first among "
        "the team's, without attacks; of equals the last.",
        CHOSEN: "The release that the team chose is the one that counts, until releases are published; the last that "
        "passed the check where it chose none.",
    },
    refused="A submission that fails its check is refused with its faults. Run by hand, a contest does not count "
    "it as an attempt; a server does.",
    own="A team does not attack itself.",
)
JAPANESE = _Words(
    files="ファイル",
    columns=("ファイル", "内容"),
    data="全員に配布するもの",
    own_data="各チームだけに配布するもの",
    release="加工データとして提出するもの",
    published="攻撃者に公開するもの",
    truth="秘密にするもの",
    knowledge="攻撃者の知識（攻撃フェーズの開始時に配布）",
    level="知識レベル {}",
    guess="攻撃者が推定として提出するもの",
    no_knowledge="元データのすべて。追加のファイルは配布しません。",
    release_rules="加工データのルール",
    guess_rules="推定のルール",
    measures="数値の意味",
    phases="フェーズ",
    steps=(
        "**匿名加工**：チームは加工データを提出します。検査に通れば採点します。",
        "**公開**：運営者は各チームの採用された加工データを、元の順序がわからない並びで公開します。",
        "**攻撃**：チームは他チームの加工データに対する推定を提出します。検査のあと、正解と照合します。",
        "**終了**：順位を決定します。",
    ),
    limits="回数の上限",
    releases_allowed="加工データの提出：1 チームあたり {:,} 回。",
    guesses_allowed="推定の提出：1 つの加工データと 1 つの知識レベルごとに {:,} 回。",
    hidden="推定の正解率は、攻撃フェーズの終了後に公表します。",
    counts={
        LATEST: "検査に通った最後の加工データを採用します。",
        BEST: "検査に通った加工データのうち最も良いものを採用します。"
        "攻撃がないとした場合にチーム内で 1 位になるもので、同点なら最後のものです。",
        CHOSEN: "チームが選んだ加工データを採用します。加工データの公開まで選び直せます。"
        "選ばない場合は、検査に通った最後のものを採用します。",
    },
    refused="検査に通らない提出は誤りの一覧とともに差し戻します。手作業で運営するコンテストでは回数に数えませんが、"
    "サーバーで運営するコンテストでは数えます。",
    own="自分のチームへの攻撃はできません。",
)


def rules_text(terms: ContestTerms, language: Language = "en") -> str:
    """Write the rules of an edition as Markdown, in English or Japanese."""
    words = JAPANESE if language == "ja" else ENGLISH
    title, summary = (terms.title_ja, terms.summary_ja) if language == "ja" else (terms.title, terms.summary)
    lines = [f"# {title}", "", summary, "", f"## {words.phases}", ""]
    lines += [f"{number}. {text}" for number, text in enumerate(words.steps, 1)]
    lines += ["", f"## {words.files}"]
    for heading, roles in (
        *([(words.data, terms.data_files)] if terms.data_files else []),
        *([(words.own_data, terms.own_files)] if terms.own_files else []),
        (words.release, terms.release_files),
        (words.published, terms.published_files),
        (words.truth, terms.truth_files),
        (words.guess, terms.guess_files),
    ):
        lines += ["", f"### {heading}", "", *_file_table(roles, words, language)]
    lines += ["", f"### {words.knowledge}"]
    for level, roles in terms.knowledge_files.items():
        lines += ["", f"**{words.level.format(level)}**"] if level else []
        lines += ["", *(_file_table(roles, words, language) if roles else [words.no_knowledge])]
    lines += ["", f"## {words.release_rules}", "", *_rule_list(terms.release_rules, language)]
    lines += ["", f"## {words.guess_rules}", "", *_rule_list(terms.guess_rules, language)]
    if terms.measures:
        lines += ["", f"## {words.measures}", "", *_rule_list(terms.measures, language)]
    limits = [
        words.releases_allowed.format(terms.n_releases_allowed),
        words.guesses_allowed.format(terms.n_guesses_allowed),
        words.hidden,
        words.counts[terms.counts],
        words.refused,
        words.own,
    ]
    lines += ["", f"## {words.limits}", "", *(f"- {text}" for text in limits)]
    return "\n".join(lines) + "\n"


def _file_table(roles: Sequence[FileRole], words: _Words, language: Language) -> list[str]:
    head = [f"| {words.columns[0]} | {words.columns[1]} |", "|---|---|"]
    return head + [
        f"| `{role.file_name}` | {_cell(role.holds_ja if language == 'ja' else role.holds)} |" for role in roles
    ]


def _rule_list(rules: Sequence[Rule | Measure], language: Language) -> list[str]:
    return [
        f"- **{rule.name}**：{rule.says_ja}" if language == "ja" else f"- **{rule.name}**: {rule.says}"
        for rule in rules
    ]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def results_page(
    terms: ContestTerms, entries: Sequence[TeamEntry], standings: Sequence[Standing], *, introduction: str
) -> Page:
    """Make the page of a contest that is over, or as it stands."""
    page = Page(f"{terms.title}: results")
    page.paragraph(introduction)
    page.paragraph(terms.summary)
    page.heading("Ranking")
    columns, rows = ranking_table(standings)
    page.table(columns, [["–" if cell is None else cell for cell in row] for row in rows], "The best team first.")
    for standing in standings:
        if standing.reason:
            page.paragraph(f"{standing.team}: {standing.reason}")
    page.heading("Utility and safety")
    page.figure(
        utility_and_safety_svg(entries, standings, terms.attack_rule),
        "What each release lost, and what attackers found; grey: not ranked.",
    )
    if any(entry.attempts for entry in entries):
        page.heading("Who found whom")
        rule = terms.attack_rule
        said = f"What each attacker found in each release: {rule.says}."
        page.figure(attack_matrix_svg(entries, standings, rule), said)
        page.table(*_attack_table(entries), "The best attack on each release, by what is known.")
        page.heading("Attackers")
        page.table(
            *attacker_table(rank_attackers(entries)), "Mean over the releases of others of the best success on each."
        )
    return page


def ranking_table(standings: Sequence[Standing]) -> tuple[list[str], list[list[Any]]]:
    """Return the columns and rows of a scoreboard; reasons are sentences, which do not fit into a table."""
    names = list(dict.fromkeys(name for standing in standings for name in standing.numbers))
    rows = [
        [
            *(standing.place, standing.team, standing.value, standing.utility, standing.safety),
            *(standing.numbers.get(name) for name in names),
        ]
        for standing in standings
    ]
    return ["place", "team", "value", "utility", "safety", *names], rows


def attacker_table(lines: Sequence[AttackPlace]) -> tuple[list[str], list[list[object]]]:
    """Return the columns and rows of the board of attackers."""
    rows: list[list[object]] = [[line.place, line.team, line.found, line.n_attacked] for line in lines]
    return ["place", "attacker", "found", "releases attacked"], rows


def utility_and_safety_svg(entries: Sequence[TeamEntry], standings: Sequence[Standing], rule: AttackRule) -> str:
    """Draw each team by its loss of use and its loss of safety."""
    found = attacks_found(entries, rule)
    points = pl.DataFrame(
        {
            "team": [standing.team for standing in standings],
            "utility": [float(standing.utility) for standing in standings],
            "safety": [safety_lost(standing, found) for standing in standings],
            "is_ranked": [standing.value is not None for standing in standings],
        },
        schema={"team": pl.String, "utility": pl.Float64, "safety": pl.Float64, "is_ranked": pl.Boolean},
    )
    return standings_figure(points, x_title="use lost", y_title="safety lost")


def attack_matrix_svg(entries: Sequence[TeamEntry], standings: Sequence[Standing], rule: AttackRule) -> str:
    """Draw what each attacker found in each release by the rule, the releases in the order of the ranking."""
    places = {standing.team: number for number, standing in enumerate(standings)}
    in_order = sorted(entries, key=lambda entry: places.get(entry.team, len(places)))
    cells = [(*pair, float(success)) for pair, success in attacks_found(in_order, rule).items()]
    schema = {"attacker": pl.String, "target": pl.String, "success": pl.Float64}
    found = pl.DataFrame(cells, schema=schema, orient="row")
    return attack_figure(found, attacker_title="attacker", target_title="release of", success_title="found")


def _attack_table(entries: Sequence[TeamEntry]) -> tuple[list[str], list[list[object]]]:
    levels = list(dict.fromkeys(one.knowledge for entry in entries for one in entry.attempts))
    rows: list[list[object]] = []
    for entry in entries:
        row: list[object] = [entry.team]
        for level in levels:
            attempts = [one for one in entry.attempts if one.knowledge == level]
            best = max(attempts, key=lambda one: one.score.success, default=None)
            row.append("–" if best is None else f"{best.score.success:.3f} ({best.attacker})")
        rows.append(row)
    return ["release of", *(f"knowledge {level}" if level else "best attack" for level in levels)], rows
