"""The rules of a contest in words, made from what its edition states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tokumei.contest.edition import BEST, CHOSEN, LATEST, ContestTerms, FileRole, Measure, Rule

Language = Literal["en", "ja"]


@dataclass(frozen=True)
class _Words:
    """The fixed words of a rules page in one language."""

    files: str
    columns: tuple[str, str]
    data: str
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
        (words.data, terms.data_files),
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
