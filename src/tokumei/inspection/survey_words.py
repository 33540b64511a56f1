"""How surveys, registers and trials name their columns: short words, words run together, and groups as 0 and 1.

`educ`, `marr` and `sbp` are said by patterns of one word; `motheduc` and `famsize` are read as the words they are made
of. A header such as `black` or `south` may be a color or a direction: it is believed to name a group of people only
where the column has few values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# For each kind of column, the short words that say it; see `kinds` for what kinds are.
WORDS: Mapping[str, str] = {
    "person-name": "[flm] ?name|firstname|lastname|givenname|[flm] ?nm|^(?:first|last)$",
    "postal-code": r"zip ?(code|cd)?\d?|postcode|plz",
    "region": r"reg \d+|msa|smsa|fips|cnty|ctry ?region|boroughs?|precinct|police ?precinct|neighbou?rhoods?|nbhd"
    r"|commune|urban\w*|rural|urb|metro|metropolitan|location|birth ?pl(ace)?|villages?|vill|site|zone|parish"
    "|residence|area code|st(ate)? ?(abbr|fips)",
    "country": "cntry|ctry|ctry ?name|nativity|homeland",
    "birth-date": r"dob|yob|mob|brth ?(yr|mo|mth)?|birth ?(yr|mo|mth|month|year|qrtr|qtr|quarter)|brthdat\w*",
    "date": "dt|yr|dx ?yr|diag ?yr|diag ?year",
    "age": r"x?age(a|c|cat|grp|group|gr|sq|squared|yr|yrs)?\d?",
    "sex": r"fem|fml|sexo?|gender\d?|sex ?cd",
    "marital": r"marit\w*|marr|maried|mstat\w*|divorced?|widow(ed|er)?|separated|never ?married|cohab\w*|husband|hus"
    "|husb|wife|spouse",
    "household": r"family|fam|famsize|[fh]size|hh|hh ?size|kids\w*|kid|n ?kids|children|childs|chldrn|offspring"
    "|siblings?|sibs?|num ?dep|dependents|parity|brth ?ord(er)?|birth ?order|plurality|mother|father|mom|dad"
    "|parents|living ?kids",
    "education": r"educ\w*|edu|edyrs?|edlevel|yschool|yrs ?school|school\w?|schooling|hschool|high ?school|hs ?grad"
    "|no ?degree|nodeg|y ?edu|qualifications?|discipline|major|literate|literacy",
    "origin": r"hispanics?|hisp|hispan\w*|latin[oax]s?|afam|african ?american|afro\w*|cauc\w*|ethn|ethnic|ethrace"
    r"|race ?\w?|non ?whites?|n ?white|colou?red|immigrant|migrant|foreign ?born|native ?born|nat am|citizen|lang"
    "|language|mother tongue|pre ?race|skin ?colou?r",
    "occupation": r"occ|occup\w*|emp|empl|employ(?:ed|ment)?|self ?emp\w*|u(n)?em\w*|lfp|wrk ?stat\w*|work ?stat\w*"
    "|labou?r ?force|exper|experience|expr|tenure|tenur|yrs? ?(since ?phd|service)|years? ?at ?(company|job)"
    r"|seniority|job ?class|prof ?occ|cler ?occ|serv ?occ|occ ?\d+|veteran|retired|sector|industry",
    "employer": "clinic|hosp|hospital ?id|inst|institution|team|workplace",
    "body": r"ht|hgt|hght|wt|wgt|wght|lwt|bwt|bw|bwght\w*|wt ?kg|ht ?cm|lbs?|stature|waist|handed\w*|w hnd|dom ?hand"
    r"|hand ?edness|body ?type|birth ?w(eigh)?t ?\w*",
    "illness": r"diag|dx|diagnos\w*|death|dead|died|deceased|survived|survive|mortality|disab\w*|hbp|sbp|dbp|bp"
    r"|sys ?bp|dia ?bp|systolic|diastolic|chol|cholest\w*|hdl|ldl|trig|triglyc\w*|gluc?|glycemia|insulin|hgb|hb"
    r"|h[ae]moglobin|h[ae]matocrit|bili(rubin)?|albumin|alb|creat(inine)?|platelets?|plt|wbc|cd ?[48]|cd ?\d+|psa"
    r"|ecog|karno\w*|t ?stage|tumou?rs?|asthma|bronch\w*|diab(et)?\w*|tb|hepat\w*|hyperten\w*|pain|cough|symptoms?"
    r"|infect\w*|rash|lesions?|obese|obesity|cesd|mhi|hlth\w*|poor ?hlth|phys ?li?m\w*|limitations?|chronic"
    r"|n ?disease|pulse|heart ?rate|transplant\w*|ascites|edema|relapse|recurrence|metasta\w*|stroke|chf|copd"
    r"|cvd|arthritis|ulcers?|polio|colitis|headaches?|migraine|seizures?|injur(y|ies)|wt ?loss|hiv\w*"
    r"|immun\w*|vaccin\w*|antibod\w*|preg\w*|n ?preg|gestation|gest|menopaus\w*|abortion|premie|preterm|still ?birth"
    r"|contracept\w*|preg|medicaid|health ?ins\w*|homeless|nervous\w*|anxiety|mental\w*|suicid\w*|psych\w*",
    "habit": r"smok\w*|smk\w*|cig|cigs?|cigarettes?|tobacco|tob|packs|alc|alcohol\w*|drink\w*|drinks|drnk\w*|drks"
    r"|drunk|drugs?|cannabis|marij\w*|cocaine|heroin|opioids?|substance|diet|exercise|physically ?active|caffeine"
    "|vap(e|ing)",
    "treatment": "rx ?name|meds|doctor ?visits?|surg|surger(y|ies)",
    "income": r"inc|inc ?\d+|incomes?|l?inc(sq)?|earn|earns|sal|l?salary|l?wages?|hourly ?(rate|wage)|pay ?rate"
    r"|loan ?a?m(oun)?t|delinq\w*|bankrupt\w*|credit ?(limit|score)|home ?owner\w*|net ?(worth|assets)|wealth|bal"
    r"|poverty|poor|welfare|pub ?rec|debt\w*|annual ?inc|tinc|rinc\w*|afdc|food ?stamps?|free ?lunch",
    "religion": r"relig\w*|catholic|protestant|muslim|jewish|hindu|church ?\w*|pray\w*|born ?again|atheis\w*"
    r"|denom\w*",
    "politics": r"vote\w*|party ?id\w*|ideo\w*|partisan\w*|republican|democrat|left ?right|lr ?scale|conservative"
    "|liberal",
    "orientation": "homo|homosexual|gay|lesbian|bisexual|n ?partners?|sex ?partners?|condoms?|sex ?risk",
    "crime": r"arrest\w*|convict\w*|felon\w*|misd\w*|juv|jail\w*|prison\w*|parole|paro|probation"
    r"|recid\w*|re ?arrest\w*|charge ?(degree|desc|description)|inmate|priors|prior ?(arrests?|convictions?)"
    r"|sentenced|offender|offen[cs]e|guilty|custody|stop ?search|incarcerat\w*",
    "score": r"iq|gpa|cgpa|hs ?gpa|sat[mvqw]?|mcat|gre|lsat|marks|exams?|test ?scores?|(decile|math|read\w*"
    "|verbal) ?scores?|performance ?rating|appraisal",
    "code": r"nr|id ?(no|num|nr)|\w*idnum|seqn|seq ?(no|num|nr)|[pu]id ?(no|num|nr)?|u?subj ?id|case ?id|rec ?id"
    "|pid ?num|num (client|patient|customer|person|subject|member)|(person|people|employee|staff|worker|student"
    "|pupil|teacher|subject|respondent|participant|user|client|family|fam|hh|spouse|mother|father|child|kid|sibling)"
    " (id|no|num|nr|number|code|key)",
    "duration": "days|weeks|months|hours|hrs|minutes|mins|seconds|time|times|fu ?time|surv ?time|follow ?up|duration"
    "|durat|wait(ing)?|elapsed|delay|tenure ?months|hour|minute",
}
# The words that name one of few groups; in a column of many values they are something else.
GROUPS: Mapping[str, str] = {
    "sex": "males?|females?|wom[ae]n|m[ae]n|girls?|boys?",
    "origin": r"blacks?|whites?|asians?|native|minority|foreign|colou?r|indian|aboriginal|jewish|black \w+|white \w+",
    "marital": "single|mar|partner|partnered|ever married|together",
    "household": "child|dep|partner|f ?child|step|kid",
    "region": r"north\w*|south\w*|east|west|mid ?west|near|ne|nc|nw|sw|inner ?city|city|suburb\w*|province",
    "education": r"ed|college\w*|hs|grad|graduate|degree|student",
    "occupation": "self|rank|employed|parttime|part ?time|full ?time|work|works|working|manager|clerical"
    r"|prof(essional)?|military|construc\w*|agric\w*|blue ?col\w*|white ?col\w*|services?|trade"
    "|w ?exp|w ?experience|pension",
    "age": "senior|elderly|adult|minor|senior ?citizen|young|old",
    "politics": "union|dem|gop",
    "illness": "mi|hf|std|aids|alive|limit|pregnant|sick|event ?death|low ?birth ?weight|low ?bwt",
    "crime": "victim|stopped|searched|violent",
    "income": "deny|denied|default|mortgage|owner|own ?home|rent(er)?|approved?",
}
# Words of which longer ones are run together: of whom, and what.
_OF_WHOM = (
    "child|dad|fam|family|fath|father|hh|hus|husb|husband|kid|mat|mom|moth|mother|nonwife|nwife|par|parent|pat"
    "|spouse|wife"
)
_WHAT = (
    "age|app|birth|black|born|brth|case|cat|cig|college|date|day|death|dep|diag|drink|drug|earn|edu|educ|emp|empl"
    "|ethn|ever|exp|exper|female|first|frst|gender|group|grp|health|hisp|hlth|house|household|id|inc|income|job|kids"
    "|last|loan|male|marital|marr|married|mnth|month|nr|num|occ|party|patient|pers|person|pupil|race|schl|school"
    "|self|sex|sib|sibs|size|smk|smoke|stat|status|stud|student|subj|subject|tot|total|type|unemp|wage|white|work"
    "|year|years|yr|yrs|zip"
)
# A letter before says whose it is, or that it is a logarithm; an end says that it was recoded.
_COMPOUND = re.compile(
    rf"(?:(?:{_OF_WHOM}|{_WHAT})+(?:sq|[acfrx])?|(?:[lfmhdsx]|ln|log)(?:age|educ|edu|race|inc|wage|wt|ht)(?:sq)?)$"
)
_PARTS = re.compile(
    "|".join(sorted({*f"{_OF_WHOM}|{_WHAT}|wt|ht".split("|")}, key=lambda part: (-len(part), part))) + "|sq$|^ln|^log|."
)
_ED = re.compile(rf"({_OF_WHOM}|college)(ed)$")
_WHOLE = frozenset(f"{_OF_WHOM}|{_WHAT}".split("|"))


def parted(words: str) -> str:
    """Split the words of a header that are several run together.

    >>> parted("motheduc"), parted("hh famincr 2"), parted("lwage"), parted("stage"), parted("momed")
    ('moth educ', 'hh fam inc r 2', 'l wage', 'stage', 'mom ed')
    """
    return " ".join(_parts(word) for word in words.split())


def _parts(word: str) -> str:
    if word in _WHOLE:
        return word
    found = _ED.fullmatch(word)
    if found is not None:
        return f"{found[1]} {found[2]}"
    return " ".join(_PARTS.findall(word)) if _COMPOUND.match(word) else word


def patterns(kind: str, *, is_group: bool) -> list[str]:
    """Return the patterns of short words that say a kind; of groups, where the column may tell one from the rest."""
    listed = (WORDS.get(kind), GROUPS.get(kind) if is_group else None)
    return [rf"\b({pattern})\b" for pattern in listed if pattern]
