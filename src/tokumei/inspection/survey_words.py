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
    "person-name": r"[flm] ?name|firstname|lastname|givenname|[flm] ?nm",
    "postal-code": r"zip ?(code|cd)?\d?|postcode|plz",
    "region": r"reg|msa|smsa|fips|cnty|ctry ?region|boroughs?|precinct|police ?precinct|neighbou?rhoods?|nbhd|commune"
    r"|urban\w*|rural|urb|metro|metropolitan|location|birth ?pl(ace)?|villages?|vill|site|zone|parish|residence"
    r"|area code|st(ate)? ?(abbr|fips)",
    "country": r"cntry|ctry|ctry ?name|nativity|homeland",
    "birth-date": r"dob|yob|mob|brth ?(yr|mo|mth)?|birth ?(yr|mo|mth|month|year|qrtr|qtr|quarter)|brthdat\w*",
    "date": r"dt|yr|dx ?yr|diag ?yr|diag ?year",
    "age": r"x?age(a|c|cat|grp|group|gr|sq|squared|yr|yrs)?\d?",
    "sex": r"fem|fml|sexo?|gender\d?|sex ?cd",
    "marital": r"marit\w*|marr|maried|mstat\w*|divorced?|widow(ed|er)?|separated|never ?married|cohab\w*|husband|hus|husb"
    r"|wife|spouse",
    "household": r"family|fam|famsize|[fh]size|hh|hh ?size|kids\w*|kid|n ?kids|children|childs|chldrn|offspring|siblings?|sibs?"
    r"|num ?dep|dependents|parity|brth ?ord(er)?|birth ?order|plurality|mother|father|mom|dad|parents|living ?kids",
    "education": r"educ\w*|edu|edyrs?|edlevel|yschool|yrs ?school|school\w?|schooling|hschool|high ?school|hs ?grad"
    r"|no ?degree|nodeg|y ?edu|qualifications?|discipline|major|literate|literacy",
    "origin": r"hispanics?|hisp|hispan\w*|latin[oax]s?|afam|african ?american|afro\w*|cauc\w*|ethn|ethnic|ethrace|race ?\w?"
    r"|non ?whites?|n ?white|colou?red|immigrant|migrant|foreign ?born|native ?born|nat am|citizen|lang|language"
    r"|mother tongue|pre ?race|skin ?colou?r",
    "occupation": r"occ|occup\w*|emp|empl|employ\w*|self ?emp\w*|u(n)?em\w*|lfp|wrk ?stat\w*|work ?stat\w*"
    r"|labou?r ?force|exper|experience|expr|tenure|tenur|yrs? ?(since ?phd|service)|years? ?at ?(company|job)|seniority"
    r"|job ?class|rank|prof ?occ|cler ?occ|serv ?occ|occ ?\d+|veteran|retired",
    "employer": r"clinic|hosp|hospital ?id|inst|institution|team|workplace",
    "body": r"ht|hgt|hght|wt|wgt|wght|lwt|bwt|bw|bwght\w*|wt ?kg|ht ?cm|lb?s|stature|waist|handed\w*|w hnd|dom ?hand"
    r"|hand ?edness|body ?type|father|mother|birth ?w(eigh)?t ?\w*",
    "illness": r"diag|dx|diagnos\w*|death|dead|died|deceased|survived|survive|mortality|disab\w*|hbp|sbp|dbp|bp"
    r"|sys ?bp|dia ?bp|systolic|diastolic|chol|cholest\w*|hdl|ldl|trig|triglyc\w*|gluc?|glycemia|insulin|hgb|hb|h[ae]moglobin"
    r"|h[ae]matocrit|bili(rubin)?|albumin|alb|creat\w*|platelets?|plt|wbc|cd ?[48]|cd ?\d+|psa|ecog|karno\w*|t ?stage"
    r"|tumou?rs?|asthma|bronch\w*|diab(et)?\w*|tb|hepat\w*|hyperten\w*|pain|cough|symptoms?|infect\w*|rash|lesions?"
    r"|obese|obesity|cesd|mhi|hlth\w*|poor ?hlth|phys ?li?m\w*|limitations?|chronic|n ?disease|pulse|heart ?rate|transplant\w*"
    r"|ascites|edema|relapse|recurrence|metasta\w*|stroke|chf|copd|mi|hf|cvd|arthritis|ulcers?|polio|colitis"
    r"|headaches?|migraine|seizures?|injur(y|ies)|wt ?loss|hiv\w*|aids|std|immun\w*|vaccin\w*|antibod\w*"
    r"|preg\w*|n ?preg|gestation|gest|menopaus\w*|abortion|premie|preterm|still ?birth|contracept\w*|preg"
    r"|medicaid|health ?ins\w*|homeless|nervous\w*|anxiety|mental\w*|suicid\w*|psych\w*",
    "habit": r"smok\w*|smk\w*|cig|cigs?|cigarettes?|tobacco|tob|packs|alc|alcohol\w*|drink\w*|drinks|drnk\w*|drks|drunk"
    r"|drugs?|cannabis|marij\w*|cocaine|heroin|opioids?|substance|diet|exercise|physically ?active|caffeine|vap(e|ing)",
    "treatment": r"rx ?name|meds?|md ?vis\w*|ment ?vis\w*|doctor ?vis\w*|med ?(dol|exp)|surg|surger(y|ies)",
    "income": r"inc|inc ?\d+|incomes?|l?inc(sq)?|earn|earns|sal|l?salary|l?wages?|hourly ?(rate|wage)|pay ?rate|loan ?a?m(oun)?t"
    r"|delinq\w*|bankrupt\w*|credit ?(limit|score)|home ?owner\w*|net ?(worth|assets)|wealth|bal|poverty|poor|welfare"
    r"|pub ?rec|debt\w*|annual ?inc|tinc|rinc\w*|afdc|food ?stamps?|lunch\w?|free ?lunch",
    "religion": r"relig\w*|catholic|protestant|muslim|jewish|hindu|church ?\w*|pray\w*|born ?again|atheis\w*|denom\w*|spirit",
    "politics": r"vote\w*|party ?id\w*|ideo\w*|partisan\w*|republican|democrat|left ?right|lr ?scale|conservative|liberal",
    "orientation": r"homo|homosexual|gay|lesbian|bisexual|n ?partners?|sex ?partners?|condoms?|sex ?risk",
    "crime": r"arr|arrests?|arrest\w*|convict\w*|felon\w*|fel|misd\w*|juv|jail\w*|prison\w*|parole|paro|probation|recid\w*"
    r"|re ?arrest\w*|charge ?(degree|desc|description)|inmate|priors?|prior ?(arrests?|convictions?)|sentenced?|citation\w*"
    r"|offender|offen[cs]e|violent|guilty|custody|stop ?search|incarcerat\w*",
    "score": r"iq|gpa|cgpa|hs ?gpa|sat[mvqw]?|mcat|gre|lsat|marks?|exams?|test ?scores?|(decile|math|read\w*|verbal)"
    r" ?scores?|performance ?rating|appraisal",
    "code": r"nr|id ?(no|num|nr)|\w*idnum|seqn|seq ?(no|num|nr)|[pu]id ?(no|num|nr)?|u?subj ?id|case ?id|rec ?id"
    r"|person ?id|pid ?num|respondent ?(id|no)?|participant ?(id|no)?|rownames?",
    "duration": r"days|weeks|months|hours|hrs|minutes|mins|seconds|time|times|fu ?time|surv ?time|follow ?up|duration|durat"
    r"|wait(ing)?|elapsed|delay|tenure ?months|hour|minute",
}
# The words that name one of few groups; in a column of many values they are something else.
GROUPS: Mapping[str, str] = {
    "sex": r"males?|females?|wom[ae]n|m[ae]n|girls?|boys?",
    "origin": r"blacks?|whites?|asians?|native|minority|foreign|colou?r|indian|aboriginal|jewish|black \w+|white \w+",
    "marital": r"single|mar|partner|partnered|ever married|together",
    "household": r"child|dep|partner|f ?child|step|kid",
    "region": r"north\w*|south\w*|east|west|mid ?west|central|near|ne|nc|nw|sw|coast|inner ?city|city|suburb\w*|province",
    "education": r"ed|college\w*|hs|grad|graduate|degree|student",
    "occupation": r"self|employed|parttime|part ?time|full ?time|work|works|working|manager|clerical|prof(essional)?|military"
    r"|construc\w*|agric\w*|blue ?col\w*|white ?col\w*|services?|trade|sector|industry|w ?exp|w ?experience|pension",
    "age": r"senior|elderly|adult|minor|senior ?citizen|young|old",
    "politics": r"union|dem|gop|rep",
    "illness": r"alive|limit|pregnant|sick|event ?death|low ?birth ?weight|low ?bwt|chapter|result",
    "crime": r"victim|stopped|searched|search|problem|force",
    "income": r"deny|denied|default|mortgage|owner|own ?home|rent(er)?|approved?",
    "person-name": r"first|last",
}
# Words of which longer ones are run together: of whom, and what.
_OF_WHOM = "fam|family|hh|moth|mother|mom|mat|fath|father|dad|pat|hus|husb|husband|wife|spouse|child|kid|par|parent|nonwife|nwife"
_WHAT = (
    "age|birth|born|brth|black|white|hisp|cat|cig|college|date|day|death|diag|drink|drug|earn|edu|educ|emp|empl|ethn|exp"
    "|exper|first|frst|gender|group|grp|hlth|health|house|household|id|inc|income|job|kids|last|loan|app|male|female|marr"
    "|married|marital|mnth|month|name|num|nr|occ|party|race|schl|school|self|unemp|sex|sib|sibs|size|smk|smoke|stat|status"
    "|stud|student|pupil|subj|subject|case|person|pers|patient|tot|total|type|wage|work|year|years|yr|yrs|ever|zip|dep|code"
)
# A letter before says whose it is, or that it is a logarithm; an end says that it was recoded.
_COMPOUND = re.compile(rf"(?:(?:{_OF_WHOM}|{_WHAT})+(?:sq|[acfrsx])?|(?:[lfmhdsx]|ln|log)(?:age|educ|edu|race|inc|wage|wt|ht)(?:sq)?)$")
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


def says(kind: str, words: str, *, of: Mapping[str, str] = WORDS) -> bool:
    """Whether the words of a header say a kind of column in the short words of surveys."""
    pattern = of.get(kind)
    return pattern is not None and re.search(rf"\b({pattern})\b", words) is not None
