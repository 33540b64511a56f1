"""The commented TOML file that a contest of one's own starts from."""

from __future__ import annotations

import json
from collections.abc import Mapping

from tokumei.core.errors import UnknownPart

_HEAD = """\
# A contest of one's own. Change what you like, then:
#   tokumei contest prepare --contest THIS_FILE --out my-contest
# Lines that start with # are remarks; what they show is what holds if you say nothing.

[contest]
title = "My contest"
title_ja = "私のコンテスト"
# summary = "What the contest is about, for its page."
# summary_ja = "コンテストの概要"
kind = "{kind}"
"""

_HISTORY = """
[data]
# A CSV, TSV, Parquet or Excel file with a header, beside this file. Without one, purchases are made up.
# source = "purchases.csv"
# The delimiter is found from the first line of the file unless you name it.
# delimiter = ","
made_customers = 40

# What the columns of your file are called. invoice and time may be left out if your file has none.
# [data.columns]
# customer = "CustomerID"
# invoice = "InvoiceNo"
# date = "Day"
# time = "Time"
# item = "StockCode"
# price = "UnitPrice"
# quantity = "Quantity"

# What a release must keep. It has the rows of T in their order; customers are pseudonyms.
[checks]
least_kept = 0.5                  # the share of rows that may not be deleted
values_of_original = ["item"]     # columns whose values must occur in T
unchanged = []                    # columns that must stay as they are
same_month = true                 # whether a date stays in its month
pseudonyms = "month"              # how long a pseudonym lives: "month" or "whole"

# What use is lost, from 0 to 1. Names and options: tokumei parts history-utility.
[[metrics]]
name = "item-cf-top"
weight = 2

[[metrics]]
name = "date"

[[metrics]]
name = "price"

[[metrics]]
name = "rows"

[[metrics]]
name = "top-items"
label = "top-20"                  # what it is called here; in the formula: top_20
options = { k = 20 }

# The attacks that every release has to stand. Names and options: tokumei parts history-attack.
[[attacks]]
name = "s1"

[[attacks]]
name = "jaccard"

[[attacks]]
name = "exact-match"
label = "item-and-day"
options = { fields = ["date", "item"] }

# What attackers are given: shares of the rows of T, in hundredths. Without shares they know all of T.
[knowledge]
shares = [0.25, 1.0]
item_characters = 2               # items are known by their first characters only
"""

_TABLE = """
[data]
# A CSV, TSV, Parquet or Excel file with a header, beside this file. Without one, a survey is made up.
# source = "survey.csv"
# The delimiter is found from the first line of the file unless you name it.
# delimiter = ","
made_rows = 500

# What the columns hold: text, integer, number, date or boolean. Sensitive columns hold numbers, all others text.
# [data.types]
# age = "integer"

# What each column is to an attacker; every column of the data has one role. The made-up survey has its own.
# [roles]
# identifiers = ["name"]          # never enter the contest
# quasi_identifiers = ["sex", "age", "region"]
# sensitive = ["income"]
# insensitive = ["remark"]

# What a release must keep. It has the rows of T in their order.
[checks]
least_kept = 0.5                  # the share of rows that may not be deleted
values_of_original = ["region"]   # columns whose values must occur in T
unchanged = []                    # columns that must stay as they are

# What use is lost, from 0 to 1. Names and options: tokumei parts table-utility.
[[metrics]]
name = "mean-mae"
weight = 2

[[metrics]]
name = "cross-mean"

[[metrics]]
name = "information-loss"

[[metrics]]
name = "row-count"

# The attacks that every release has to stand. Names and options: tokumei parts table-attack.
[[attacks]]
name = "id-rand"

[[attacks]]
name = "sort"

# What attackers are given: shares of the rows of T, in hundredths. Without shares they know all of T.
# [knowledge]
# shares = [0.5, 1.0]
"""

_TAIL = """
# How often a team may try.
[limits]
releases = 20                     # releases in all
guesses = 10                      # guesses at one release and level of knowledge

# When the phases open and close, for a contest that a server runs.
# [phases]
# anonymize = { opens = 2030-04-01, closes = 2030-05-01 }
# attack = { opens = 2030-05-08T09:00:00+09:00, closes = 2030-06-01 }

# Teams are ranked by the formula, lower is better. It may use
#   U   the loss of use, from the metrics
#   S   what the best built-in attack or the guesses find, whichever is more; of guesses, the best at each level of
#       knowledge counts, averaged over the levels
#   the metrics by name, with _ for -
#   numbers, + - * / ( ), max(…), min(…), mean(…)
[score]
formula = "(U + S) / 2"
utility = "mean"                  # how U comes from the metrics: their weighted "mean" or their "max"
"""

_SUCCESS = """\
# What counts as found: customers named in all months ("row"), cells of F, one for each customer and month ("cell"), of
# those only the months in which a customer has a pseudonym ("month"), or the published rows whose customer is named
# ("transaction").
success = "row"
# Whether scores state, beside what is found, how many of the purchases that attackers did not know are given to their
# buyers, whatever pseudonym they stand under. It needs a share below 1 in [knowledge].
attribution = true
"""
# What the formula of a history may use besides.
_ATTRIBUTION = """\
#   attribution   the share of unknown purchases that are given to their buyers, averaged over the levels of knowledge
#       below 1; it counts as 1 where a release leaves open whose purchases its rows are
"""


# Where the columns of a job file go, by their roles there; what is left out of a release never enters a contest either.
LISTS = {
    "identifier": "identifiers",
    "other": "identifiers",
    "quasi-identifier": "quasi_identifiers",
    "sensitive": "sensitive",
}


def template(kind: str) -> str:
    """Write the commented file of a contest with a table or a history; it works as it stands."""
    if kind not in ("table", "history"):
        raise UnknownPart("kind of contest", kind, ("table", "history"))
    if kind == "table":
        return _HEAD.format(kind=kind) + _TABLE + _TAIL
    numbers = "#   numbers, + -"
    return _HEAD.format(kind=kind) + _HISTORY + _TAIL.replace(numbers, _ATTRIBUTION + numbers) + _SUCCESS


def template_of(
    kind: str, *, source: str, columns: Mapping[str, str], roles: Mapping[str, str], types: Mapping[str, str]
) -> str:
    """Write the file of a contest with one's own data, as the job file of the same data says what its columns are.

    columns: of a history, which column is the customer, the date, …
    roles, types: of a table, what each column is; a sensitive one that holds no numbers counts as insensitive, since
        contests measure the means of sensitive columns.
    """
    text = template(kind)
    named = json.dumps(source, ensure_ascii=False)
    if kind == "history":
        mapped = "".join(f"{role} = {json.dumps(name, ensure_ascii=False)}\n" for role, name in columns.items() if name)
        text = text.replace('# source = "purchases.csv"', f"source = {named}").replace("made_customers = 40\n", "")
        return text.replace("# [data.columns]\n", f"[data.columns]\n{mapped}") if mapped else text
    listed: dict[str, list[str]] = {"identifiers": [], "quasi_identifiers": [], "sensitive": [], "insensitive": []}
    numbers = {"whole number": "integer", "number": "number"}
    for name, role in roles.items():
        is_number = role != "sensitive" or types.get(name) in numbers
        listed[LISTS.get(role, "insensitive") if is_number else "insensitive"].append(name)
    said = "".join(f"{name} = {json.dumps(found, ensure_ascii=False)}\n" for name, found in listed.items())
    typed = "".join(
        f"{json.dumps(name, ensure_ascii=False)} = {json.dumps(numbers[types[name]])}\n" for name in listed["sensitive"]
    )
    text = text.replace('# source = "survey.csv"', f"source = {named}").replace("made_rows = 500\n", "")
    text = text.replace("# [data.types]\n", f"[data.types]\n{typed}").replace("# [roles]\n", f"[roles]\n{said}")
    text = text.replace('values_of_original = ["region"]', "values_of_original = []        ")
    if not listed["sensitive"]:
        # Both are about means of sensitive columns.
        text = text.replace('name = "mean-mae"', 'name = "cross-count"').replace(
            '[[metrics]]\nname = "cross-mean"\n\n', ""
        )
    return text
