"""What participants read on Codabench: how a submission is packed, and what they can see of the contest."""

from __future__ import annotations

from collections.abc import Sequence

from tokumei.contest.codabench.programs import TEAM
from tokumei.contest.edition import ContestTerms, FileRole
from tokumei.contest.pages import Language

TERMS = """\
# Terms

Take part under the name that the organizer knows your team by, and attack releases only within this contest.

# 参加条件

運営者に届け出たチーム名で参加し、加工データへの攻撃はこのコンテストの中だけで行ってください。
"""


def overview(terms: ContestTerms, language: Language, *, is_shown: bool) -> str:
    """Write the first page: what the contest is about, how submissions are packed, and who sees what."""
    return (_japanese if language == "ja" else _english)(terms, is_shown)


def _files(roles: Sequence[FileRole]) -> str:
    return ", ".join(f"`{role.file_name}`" for role in roles)


def _levels(terms: ContestTerms) -> list[str]:
    return [level for level in terms.knowledge_files if level]


def _english(terms: ContestTerms, is_shown: bool) -> str:
    levels = _levels(terms)
    inner = f" in folders named after the levels of knowledge ({', '.join(levels)})," if levels else ""
    own = " Your team's own data come from the organizer." if terms.own_files else ""
    told = (
        "How right each guess was stands on the board at once."
        if is_shown
        else "How right a guess was is told when the attacks are over: the board shows only how many were taken."
    )
    return f"""\
# {terms.title}

{terms.summary}

## Submit

Each submission is a zip file with `{TEAM}`, one line with the name of your team. Use the same name on Codabench.

- **Anonymize:** beside it {_files(terms.release_files)}.
- **Attack:** beside it a folder for each team that you attack, named after the team;{inner}
  with {_files(terms.guess_files)}.

A submission that breaks a rule fails. The log of its check (ingestion) names every fault; it costs no attempt.
Scores are losses: 0 is best. The starting kit has the rules, a sample round, and commands that give the same
digits.{own}

## What you can see

The data, the kit, the published releases, and your own scores of releases. {told}
Codabench gives reference data (knowledge before attacks, the truth) to the scoring program alone.
"""


def _japanese(terms: ContestTerms, is_shown: bool) -> str:
    levels = _levels(terms)
    inner = f"その中に知識レベルごとのフォルダー（{'、'.join(levels)}）を作り、" if levels else ""
    own = "チームだけのデータは運営者が配布します。" if terms.own_files else ""
    told = (
        "推定の成功率は提出後すぐに順位表に載ります。"
        if is_shown
        else "推定の成功率は攻撃フェーズの終了後に公表し、順位表には受け付けた推定の数だけが載ります。"
    )
    return f"""\
# {terms.title_ja}

{terms.summary_ja}

## 提出

提出物は zip ファイルとし、チーム名を1行で書いた `{TEAM}` を入れてください。Codabench でも同じ名前を使ってください。

- **匿名加工**：同じ場所に {_files(terms.release_files)} を入れます。
- **攻撃**：同じ場所に攻撃先のチーム名のフォルダーを作り、{inner}{_files(terms.guess_files)} を入れます。

ルールに反する提出は失敗となり、検査（ingestion）のログにすべての違反が示されます。失敗は提出回数に数えません。スコアは
損失で、0 が最良です。スターターキットには、ルール、例の1ラウンド、同じ桁のスコアが出るコマンドが入っています。{own}

## 見えるもの

データ、キット、公開された加工データ、自分の加工データのスコアが見えます。{told}
参照データ（攻撃開始前の知識、正解）は、Codabench では採点プログラムにだけ渡されます。
"""
