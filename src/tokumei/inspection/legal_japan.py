"""Japan: the enforcement rules (施行規則) of the Act on the Protection of Personal Information."""

from __future__ import annotations

from typing import Any

import polars as pl

from tokumei.attacks.registry import JUDGE, MET, NOT_MEASURED, NOT_MET, judge_scores
from tokumei.inspection.legal import Finding, LegalCase

IDENTIFYING = (
    *("person-name", "address", "email", "phone", "user-name", "free-text", "mixed", "url", "unique-text", "plate"),
)
# Cabinet order article 1: passports, pensions, licences, residents' records, My Number, insurance.
CODES = ("my-number", "passport", "licence", "insurance")
LINKING = ("code", "account", "card", "ip-address", "mac-address")
# A value that so few rows have is told as peculiar; more is a matter of judgment.
FEW = 3
NOTICE_MADE = (
    "公表文案（法第43条第3項）: "
    "当社は、匿名加工情報を作成しました。匿名加工情報に含まれる個人に関する情報の項目は、次のとおりです: "
    "{columns}。"
)
NOTICE_GIVEN = (
    "公表文案（法第43条第4項・第44条）: "
    "当社は、匿名加工情報を第三者に提供します。提供する情報の項目: {columns}。提供の方法: （例: "
    "暗号化したファイルの送付）。"
    "提供先には、当該情報が匿名加工情報である旨を明示します。"
)


def anonymously_processed(case: LegalCase) -> dict[str, Any]:
    """Check article 34 (匿名加工情報), items 1 to 5, and custody of the processing information (article 35)."""
    items = [
        case.without(
            "規則第34条第1号",
            "identifying descriptions are deleted (特定の個人を識別することができる記述等)",
            *IDENTIFYING,
        ),
        case.without("規則第34条第2号", "individual identification codes are deleted (個人識別符号)", *CODES),
        _linking(case),
        _peculiar(case),
        _differences(case),
        _custody(case),
    ]
    columns = "、".join(case.released.columns)
    drafts = [NOTICE_MADE.format(columns=columns), NOTICE_GIVEN.format(columns=columns)]
    title = "Japan: anonymously processed information (匿名加工情報)"
    return {"title": title, "items": [one.as_dict() for one in items], "drafts": drafts}


def pseudonymously_processed(case: LegalCase) -> dict[str, Any]:
    """Check article 31 (仮名加工情報), items 1 to 3."""
    items = [
        case.without(
            "規則第31条第1号",
            "identifying descriptions are deleted (特定の個人を識別することができる記述等)",
            *IDENTIFYING,
        ),
        case.without("規則第31条第2号", "individual identification codes are deleted (個人識別符号)", *CODES),
        case.without(
            "規則第31条第3号",
            "what can do harm to property is deleted (財産的被害が生じるおそれのある記述等)",
            "card",
            "account",
        ),
        _custody(case, "法第41条第2項・規則第32条", "deleted information is kept safe (削除情報等の安全管理)"),
    ]
    title = "Japan: pseudonymously processed information (仮名加工情報)"
    return {"title": title, "items": [one.as_dict() for one in items]}


def _linking(case: LegalCase) -> Finding:
    """Look for codes that link to the original; a code drawn at random links as long as a table leads back."""
    article, item = "規則第34条第3号", "codes that link to the original are deleted (連結する符号)"
    found = case.without(article, item, *LINKING)
    back = [name for name in case.secrets if name == "pseudonyms.csv"]
    if found.finding == MET and case.pseudonyms and back:
        said = "{columns} was drawn at random; it links until {table}, which leads back, is destroyed"
        return Finding(article, item, JUDGE, said, {"columns": ", ".join(case.pseudonyms), "table": back[0]})
    return found


def _peculiar(case: LegalCase) -> Finding:
    """Look for values that one row or few have; a rare number may be a peculiar one, which only people can tell."""
    article, item = "規則第34条第4号", "peculiar descriptions are deleted (特異な記述等)"
    rare: dict[str, int] = {}
    for name in case.released.columns:
        counts = case.released[name].cast(pl.String).drop_nulls().alias("value").value_counts(name="n")["n"]
        if len(counts):
            rare[name] = int(counts.min())  # type: ignore[arg-type]
    alone = [name for name, least in rare.items() if least == 1 and case.facts[name].type != "number"]
    if alone:
        return Finding(
            article, item, NOT_MET, "a value that one row alone has: {columns}", {"columns": ", ".join(alone)}
        )
    few = [f"{name} ({least})" for name, least in rare.items() if least < FEW]
    if few:
        return Finding(article, item, JUDGE, "values that few rows have: {columns}", {"columns": ", ".join(few)})
    least = min(rare.values(), default=0)
    return Finding(article, item, MET, "every value of every column stands in {n} rows or more", {"n": least})


def _differences(case: LegalCase) -> Finding:
    """Judge what else the nature of the database asks for by the classes, the bounds that were set, and the attacks."""
    article = "規則第34条第5号"
    item = "differences within the database are taken care of (データベース等の性質を踏まえた措置)"
    failed = [str(one["bound"]) for one in case.bounds if not one["holds"]]
    known, k = ", ".join(case.known), case.k
    if k < 2:
        return Finding(article, item, NOT_MET, "some rows are alone by {known}", {"known": known})
    if failed:
        return Finding(article, item, NOT_MET, "bounds that do not hold: {failed}", {"failed": "; ".join(failed)})
    judged = [judge_scores(one["scores"]) for one in case.attacks]
    tried = [one for one in judged if one != NOT_MEASURED]
    if not tried:
        return Finding(article, item, NOT_MEASURED, "the smallest class has {k} rows; no attack was tried", {"k": k})
    values = {"k": k, "n": len(case.bounds), "met": tried.count(MET), "tried": len(tried)}
    said = "the smallest class has {k} rows, {n} bounds hold, and {met} of {tried} attacks find no more than chance"
    is_met = bool(case.bounds) and len(tried) == values["met"]
    return Finding(article, item, MET if is_met else JUDGE, said, values)


def _custody(
    case: LegalCase,
    article: str = "法第43条第2項・規則第35条",
    item: str = "processing information is kept safe (加工方法等情報の安全管理)",
) -> Finding:
    """Look whether others can read what leads back."""
    listed = ", ".join(case.secrets)
    if case.is_secret_apart is None:
        return Finding(article, item, JUDGE, "where the seed, the mapping and the recipe lie is not known here")
    if not case.is_secret_apart:
        return Finding(
            article, item, NOT_MET, "others can read the processing information: {listed}", {"listed": listed}
        )
    return Finding(article, item, MET, "kept apart, readable by its owner alone: {listed}", {"listed": listed})
