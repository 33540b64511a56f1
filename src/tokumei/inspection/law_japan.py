"""Japan: the enforcement rules (施行規則) of the Act on the Protection of Personal Information.

The texts of rules 31, 35 and 62 were read as in force in April 2022, that of rule 34 under its former number 19.
"""

from __future__ import annotations

import polars as pl

from tokumei.inspection.evidence import NO_ONES, Clause, Evidence, Figure, Framework, Verdict, counted, not_measured

IDENTIFYING = (
    *("person-name", "address", "email", "phone", "user-name", "free-text", "mixed", "url", "unique-text", "plate"),
)
# Cabinet order article 1: passports, pensions, licences, residents' records, My Number, insurance.
CODES = ("my-number", "passport", "licence", "insurance")
LINKING = ("code", "account", "card", "ip-address", "mac-address")
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
READ = (
    "Rules 31, 35 and 62 were read as in force in April 2022, rule 34 by its former number 19, and article 43, "
    "paragraphs 1 to 3, as quoted in 2025. Rules 32 and 65 and article 43, paragraph 4, were not checked against the "
    "law's own text."
)


def appi_anonymous(case: Evidence) -> Framework:
    """Judge the five items of rule 34, and ask the three of rule 35."""
    columns = "、".join(case.released.columns)
    clauses = [
        *_five_items(case, "規則第34条"),
        *_kept_apart(case, "規則第35条"),
        case.stated("法第43条第3項", "Notice of the items (項目の公表)", "where the items are published", "notice"),
        case.stated("法第43条第4項", "Notice of the recipients (提供時の公表)", "to whom it is given", "recipient"),
    ]
    drafts = [NOTICE_MADE.format(columns=columns), NOTICE_GIVEN.format(columns=columns)]
    return Framework("appi", "Japan: anonymously processed information (匿名加工情報)", READ, clauses, drafts)


def appi_public_bodies(case: Evidence) -> Framework:
    """Judge the five items of rule 62 for public bodies, and ask who may handle what leads back."""
    clauses = [*_five_items(case, "規則第62条"), *_kept_apart(case, "規則第65条")]
    title = "Japan: public bodies' anonymously processed information (行政機関等匿名加工情報)"
    return Framework("appi-public", title, READ, clauses)


def appi_pseudonymous(case: Evidence) -> Framework:
    """Judge the three items of rule 31, which a release that is not anonymous may still hold."""
    clauses = [
        _deleted(case, "規則第31条第1号"),
        _codes(case, "規則第31条第2号"),
        case.without(
            "規則第31条第3号",
            "Harm to property (財産的被害)",
            "what can do harm to property is deleted",
            case.of_kinds("card", "account"),
        ),
        *_kept_apart(case, "規則第32条"),
    ]
    title = "Japan: pseudonymously processed information (仮名加工情報)"
    return Framework("appi-pseudonymous", title, READ, clauses)


def _five_items(case: Evidence, rule: str) -> list[Clause]:
    return [
        _deleted(case, f"{rule}第1号"),
        _codes(case, f"{rule}第2号"),
        *_linking(case, f"{rule}第3号"),
        _peculiar(case, f"{rule}第4号"),
        *_differences(case, f"{rule}第5号"),
    ]


def _deleted(case: Evidence, number: str) -> Clause:
    title = "Identifying descriptions (特定の個人を識別することができる記述等)"
    return case.without(number, title, "they are deleted or replaced", case.of_kinds(*IDENTIFYING))


def _codes(case: Evidence, number: str) -> Clause:
    title = "Individual identification codes (個人識別符号)"
    return case.without(number, title, "they are all deleted or replaced", case.of_kinds(*CODES))


def _linking(case: Evidence, number: str) -> list[Clause]:
    """Look for codes that link to the original; one drawn at random links as long as a table leads back."""
    title, asks = "Codes that link to the original (連結する符号)", "they are deleted or replaced"
    back = [name for name in case.secrets if name == "pseudonyms.csv"]
    found = [case.without(number, title, asks, case.of_kinds(*LINKING))]
    if case.pseudonyms and back:
        said = "{columns} was drawn at random; it links until {table}, which leads back, is destroyed"
        values = {"columns": ", ".join(case.pseudonyms), "table": back[0]}
        asks = "what becomes of the table that leads back"
        found.append(Clause(number, title, asks, Verdict.OPEN, said, values, field="responsible"))
    return found


def _peculiar(case: Evidence, number: str) -> Clause:
    """Count the values that fewer rows have than the smallest class: which of them are peculiar, people can tell."""
    title, asks = "Peculiar descriptions (特異な記述等)", "they are deleted or replaced"
    least = max(2, case.k)
    rare = {name: n for name in case.released.columns if (n := _n_rare(case.released[name], least))}
    n_alone = sum(_n_rare(case.released[name], 2) for name in rare if case.facts[name].type != "number")
    said = "values that fewer than {k} rows have: {columns}" if rare else "every value stands in {k} rows or more"
    values = {"k": least, "columns": "、".join(f"{name} ({n})" for name, n in rare.items())}
    n_rare = sum(rare.values())
    if n_rare and not n_alone:
        # A rare number may be a peculiar one or a measurement, which only people can tell.
        return counted(number, title, asks, n_rare, "values", said, values, most=None)
    return counted(number, title, asks, n_rare, "values", said, values)


def _n_rare(column: pl.Series, least: int) -> int:
    counts = column.cast(pl.String).drop_nulls().alias("value").value_counts(name="n")["n"]
    return int((counts < least).sum())


def _differences(case: Evidence, number: str) -> list[Clause]:
    """Judge what else the nature of the database asks for: the smallest class, and each attack against its bound."""
    title = "Differences within the database (データベース等の性質を踏まえた措置)"
    most = next((one["least"] for one in case.bounds if one["of"] == "k" and one["least"] is not None), None)
    figure = Figure(case.k, "rows of the smallest class", bound=most, least=True)
    outcome = None if most is None else "met" if case.k >= most else "not met"
    values = {"k": case.k, "known": ", ".join(case.known)}
    said = "the smallest class by {known} has {k} rows"
    size = Clause(number, title, "rows that look alike", Verdict.MEASURED, said, values, figure, outcome)
    asks = "what the strongest attack still finds"
    if case.is_drawn:
        size = not_measured(number, title, "rows that look alike", NO_ONES)
    elif not case.known:
        size = not_measured(number, title, "rows that look alike", "no released column is a quasi-identifier")
    return [size, case.strongest(number, title, asks)]


def _kept_apart(case: Evidence, rule: str) -> list[Clause]:
    """Ask what the rule asks of whoever holds the processing information: no mode of a file answers it."""
    title = "Safe keeping of what leads back (加工方法等情報の安全管理)"
    asked = {
        "第1号": ("who may handle it, and who is responsible", "responsible"),
        "第2号": ("rules of handling, checked and improved", "handling_rules"),
        "第3号": ("how others are kept from it", "access_control"),
    }
    return [case.stated(rule + item, title, asks, name) for item, (asks, name) in asked.items()]
