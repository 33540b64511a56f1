"""Headers of public data sets, how their values look, and the role that each column should be given.

A line is `header | shape | role`, under the data set it is from. Values are made from the shape, since data of others
are not kept here. Each data set becomes one frame, in which people who have several rows keep their traits.

The roles were given before the detector was tuned on them, by these rules. What is known or seen of people is a
quasi-identifier: sex, age, origin, family, schooling, work, place, dates of what happened to them, and what follows
from these, such as the square of an age. Sensitive is what people would not tell everybody: health and habits, money,
belief, opinions, crime, marks and tests. A number of its own in every row identifies a record. How long a study watched
somebody, what it tried on them, prices and things are other.

Data sets with a star are kept aside: nothing was tuned on them. They are about a third, every third by name of what was
not known to fail before, and some that were labelled after the rules were written and before they were tried.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import polars as pl
from tests.inspection.corpus import EN_FIRST, EN_LAST, KINDS_OF_STREET, ROMAN_GIVEN, ROMAN_SURNAMES, STREETS

from tokumei.inspection.roles import Suggestion
from tokumei.tasks.inspect_table import inspect_columns

N_ROWS, N_PEOPLE = 600, 150
ROLES = {
    "i": "identifier",
    "p": "person",
    "h": "household",
    "q": "quasi-identifier",
    "s": "sensitive",
    "o": "other",
}
LISTED = """
# compas
id | number 1 7 | i
name | full | i
first | given | i
last | surname | i
sex | of Male Female | q
dob | day 1940 1998 | q
age | whole 18 96 | q
age_cat | of Less_than_25 25_-_45 Greater_than_45 | q
race | of African-American Caucasian Hispanic Other Asian | q
juv_fel_count | count 0 6 | s
decile_score | whole 1 10 | s
priors_count | count 0 38 | s
c_case_number | code 13######CF10A | i
c_charge_degree | of (F3) (M1) (F2) (M2) (F1) (MO3) | s
c_charge_desc | of Battery Grand_Theft Possession_of_Cocaine Driving_While_License_Revoked | s
is_recid | 0/1 | s
two_year_recid | 0/1 | s
r_days_from_arrest | whole 0 900 | o
days_b_screening_arrest | whole -30 30 | o
# okcupid
age | whole 18 69 | q
body_type | of average fit athletic curvy thin | q
diet | of anything vegetarian vegan halal | s
drinks | of socially rarely often not_at_all | s
drugs | of never sometimes often | s
ethnicity | of white asian black hispanic_/_latin | q
height | whole 58 80 | q
income | of -1 20000 40000 80000 100000 | s
location | of oakland,_california berkeley,_california daly_city,_california | q
orientation | of straight gay bisexual | s
religion | of agnosticism atheism christianity judaism other | s
sign | of aries leo virgo libra scorpio | q
smokes | of no sometimes when_drinking yes | s
essay0 | sentence | i
job | of student artistic_/_musical sales_/_marketing computer_/_hardware | q
offspring | of has_kids doesn't_have_kids wants_kids | q
last_online | moment 2011 2012 | q
# nhefs
seqn | number 233 9 | i
qsmk | 0/1 | s
death | 0/1 | s
sbp | whole 87 229 | s
sex | 0/1 | q
race | 0/1 | q
marital | of 2 3 4 5 6 8 | q
school | whole 0 17 | q
ht | decimal 142 199 4 | q
wt71 | decimal 36 169 2 | q
smokeintensity | count 1 80 | s
smokeyrs | whole 1 64 | s
asthma | 0/1 | s
hbp | of 0 1 2 | s
diabetes | of 0 1 2 | s
alcoholfreq | of 0 1 2 3 4 5 | s
cholesterol | whole 78 416 | s
price71 | decimal 1.5 2.7 8 | o
birthplace | whole 1 56 | q
# randhie
zper | people 125024 | p
plan | whole 1 24 | o
site | whole 1 6 | q
year | of 1 2 3 4 5 | o
black | 0.0/1.0 | q
income | decimal 0 29000 6 | s
xage | decimal 0 64 8 | q
female | 0/1 | q
educdec | whole 0 25 | q
meddol | decimal 0 39000 9 | s
mdvis | count 0 70 | s
mhi | decimal 6 100 7 | s
hlthg | 0/1 | s
child | 0/1 | q
physlm | 0/1 | s
linc | decimal 0 10 12 | s
# mroz
lfp | 0/1 | q
kidslt6 | of 0 1 2 3 | q
kidsge6 | of 0 1 2 3 4 5 6 7 8 | q
age | whole 30 60 | q
educ | whole 5 17 | q
wage | decimal 0.1 25 4 | s
hushrs | whole 175 5010 | o
husage | whole 30 60 | q
huseduc | whole 3 17 | q
huswage | decimal 0.4 40 4 | s
faminc | whole 1500 96000 | s
motheduc | whole 0 17 | q
city | 0/1 | q
exper | whole 0 45 | q
expersq | squares 0 45 | q
lwage | decimal -2 3 9 | s
# wage1
nonwhite | 0/1 | q
married | 0/1 | q
numdep | of 0 1 2 3 4 5 6 | q
smsa | 0/1 | q
south | 0/1 | q
tenure | whole 0 44 | q
profocc | 0/1 | q
construc | 0/1 | q
# wagepan *
nr | people 13 | p
year | of 1980 1981 1982 1983 | o
black | 0/1 | q
hisp | 0/1 | q
poorhlth | 0/1 | s
union | 0/1 | s
rur | 0/1 | q
lwage | decimal -3 4 6 | s
agesq | squares 18 60 | q
# bwght
faminc | decimal 0.5 65 1 | s
cigprice | decimal 103 152 10 | o
bwght | whole 23 271 | q
fatheduc | whole 1 18 | q
parity | of 1 2 3 4 5 6 | q
male | 0/1 | q
white | 0/1 | q
cigs | count 0 50 | s
packs | decimal 0 2.5 2 | s
# fertil2
mnthborn | whole 1 12 | q
yearborn | whole 38 73 | q
children | of 0 1 2 3 4 5 6 7 | q
electric | 0.0/1.0 | o
agefbrth | whole 10 38 | q
catholic | 0/1 | s
evermarr | 0/1 | q
usemeth | 0/1 | s
heduc | whole 0 20 | q
# crime1 *
narr86 | count 0 12 | s
pcnv | decimal 0 1 2 | s
avgsen | decimal 0 59 1 | s
ptime86 | count 0 12 | s
inc86 | decimal 0 541 1 | s
hispan | 0/1 | q
born60 | 0/1 | q
# jtrain2
train | 0/1 | o
nodegree | 0/1 | q
re74 | decimal 0 39000 4 | s
unem75 | 0/1 | q
mostrn | whole 6 24 | o
# loanapp
loanamt | whole 2 980 | s
appinc | whole 0 972 | s
married | 0/1 | q
dep | of 0 1 2 3 4 5 | q
hrat | decimal 1 72 2 | s
pubrec | 0/1 | s
approve | 0/1 | s
# card *
id | numbering 2 | i
nearc4 | 0/1 | q
weight | whole 75607 1752340 | o
momdad14 | 0/1 | q
reg661 | 0/1 | q
smsa66 | 0/1 | q
IQ | whole 50 149 | s
# k401ksubs
e401k | 0/1 | s
inc | decimal 10 199 3 | s
marr | 0/1 | q
fsize | of 1 2 3 4 5 6 7 8 | q
nettfa | decimal -502 1536 2 | s
# hmda
deny | yes/no | s
pirat | decimal 0 3 3 | s
selfemp | yes/no | q
afam | yes/no | q
single | yes/no | q
hschool | yes/no | q
# gss7402
kids | of 0 1 2 3 4 5 6 7 8 | q
siblings | count 0 30 | q
agefirstbirth | whole 11 42 | q
ethnicity | of cauc other | q
immigrant | yes/no | q
# healthinsurance *
health | yes/no | s
limit | yes/no | s
gender | of male female | q
family | whole 1 14 | q
region | of south west northeast midwest | q
education | of bachelor highschool ged none master | q
# resumenames *
name | given | i
call | yes/no | o
military | yes/no | q
# star *
birth | of 1979_Q3 1980_Q1 1979_Q4 1980_Q2 1979_Q2 | q
readk | whole 315 627 | s
lunchk | of free non-free | s
schoolk | of rural suburban inner-city urban | q
# salaries
rank | of Prof AsstProf AssocProf | q
discipline | of A B | q
yrs.since.phd | whole 1 56 | q
yrs.service | whole 0 60 | q
salary | whole 57800 231545 | s
# mplsstops *
idNum | code 17-###### | i
date | moment 2017 2017 | q
problem | of suspicious traffic | s
citationIssued | yes/no | s
preRace | of Unknown White Black Asian | q
lat | decimal 44.8 45.1 8 | q
long | decimal -93.4 -93.1 7 | q
policePrecinct | of 1 2 3 4 5 | q
neighborhood | of Cedar_Riverside Downtown_West Whittier Jordan Hawthorne | q
# rossi
week | whole 1 52 | o
arrest | 0/1 | s
fin | yes/no | o
wexp | yes/no | q
mar | of married not_married | q
paro | yes/no | s
prio | count 0 18 | s
# pbc *
id | numbering 1 | i
time | whole 41 4795 | o
status | of 0 1 2 | s
trt | of 1 2 | o
age | decimal 26 78 7 | q
ascites | 0/1 | s
bili | decimal 0.3 28 1 | s
albumin | decimal 1.9 4.7 2 | s
platelet | whole 62 721 | s
stage | of 1 2 3 4 | s
# nafld1 *
id | numbering 1 | i
male | 0/1 | q
bmi | decimal 9 84 5 | s
futime | whole 7 7268 | o
# flchain
sample.yr | whole 1995 2003 | q
creatinine | decimal 0.4 10.8 1 | s
chapter | of Circulatory Neoplasms Mental Injury Respiratory | s
# mgus
dxyr | whole 56 78 | q
hgb | decimal 5 20 1 | s
# cancer
inst | whole 1 33 | q
ph.ecog | of 0 1 2 3 | s
wt.loss | whole -24 68 | s
meal.cal | whole 96 2600 | s
# jasa *
birth.dt | day 1903 1955 | q
accept.dt | day 1967 1974 | q
surgery | 0/1 | s
transplant | 0/1 | s
wait.time | whole 0 340 | o
# birthwt *
low | 0/1 | s
lwt | whole 80 250 | q
race | of 1 2 3 | q
smoke | 0/1 | s
bwt | whole 709 4990 | q
# mass_survey
Sex | of Female Male | q
W.Hnd | of Right Left | q
Pulse | whole 35 104 | s
Smoke | of Never Regul Occas Heavy | s
Height | decimal 150 200 1 | q
# aids2
state | of NSW Other QLD VIC | q
diag | whole 8302 11503 | q
T.categ | of hs haem hsid id het blood | s
# covid_testing
subject_id | people 1 | p
fake_first_name | given | i
fake_last_name | surname | i
gender | of female male | q
clinic_name | of inpatient_ward_a clinical_lab laboratory picu | q
result | of negative positive invalid | s
demo_group | of patient client misc_adult | o
ct_result | decimal 14 45 2 | s
# opt
PID | number 100034 30 | i
Black | yes/no | q
Nat.Am | yes/no | q
Education | of LT_8_yrs 8-12_yrs MT_12_yrs | q
Hypertension | of N Y | s
Use.Tob | yes/no | s
BL.Cig.Day | count 0 30 | s
Prev.preg | yes/no | s
# indo_rct
id | numbering 1001 | i
site | of 1_UM 2_IU 3_UK 4_Case | q
gender | of 1_female 2_male | q
outcome | of 1_yes 0_no | s
pep | of 1_yes 0_no | s
# licorice *
preOp_gender | 0/1 | q
preOp_calcBMI | decimal 15 37 2 | s
preOp_age | whole 18 86 | q
preOp_smoking | of 1 2 3 | s
pacu30min_throatPain | count 0 7 | s
# attrition
Attrition | yes/no | o
Department | of Sales Research_Development Human_Resources | q
DistanceFromHome | whole 1 29 | q
MaritalStatus | of Single Married Divorced | q
MonthlyIncome | whole 1009 19999 | s
JobRole | of Sales_Executive Research_Scientist Manager Technician | q
YearsAtCompany | whole 0 40 | q
PerformanceRating | of Excellent Outstanding | s
# lending
addr_state | of CT MN OH NC TX CA VA | q
annual_inc | whole 12000 300000 | s
emp_length | of emp_5 emp_ge_10 emp_lt_1 emp_2 | q
int_rate | of 13.99 11.99 16.29 7.35 | o
delinq_2yrs | count 0 14 | s
total_bal_il | whole 0 190000 | s
emp_title | of teacher driver registered_nurse warehouse_lead owner manager | q
# churn
state | of KS OH NJ OK AL MA | q
account_length | whole 1 243 | o
area_code | of area_code_408 area_code_415 area_code_510 | q
total_day_minutes | decimal 0 351 1 | o
number_vmail_messages | count 0 52 | o
churn | yes/no | o
# wa_churn
senior_citizen | 0/1 | q
partner | 0/1 | q
dependents | 0/1 | q
phone_service | 0/1 | o
payment_method | of Electronic_check Mailed_check Credit_card | o
monthly_charges | decimal 18 119 2 | o
# help
homeless | of housed homeless | s
cesd | whole 1 60 | s
racegrp | of black white hispanic other | q
substance | of cocaine alcohol heroin | s
avg_drinks | count 0 142 | s
daysanysub | whole 0 268 | o
pcs | decimal 14 74 5 | s
# marriage
bookpageID | code B230p### | i
ceremonydate | day 1996 1999 | q
dob | day 1920 1981 | q
prevcount | of 0 1 2 3 4 | q
hs | whole 8 12 | q
# galton
family | people 1 | h
father | decimal 62 78.5 1 | q
height | decimal 56 79 1 | q
nkids | whole 1 15 | q
# kidsfeet
name | given | i
birthmonth | whole 1 12 | q
birthyear | of 87 88 | q
sex | of B G | q
# gestation
id | number 15 12 | i
gestation | whole 148 353 | s
ed | of College_graduate HS_graduate Trade_school | q
drace | of asian white mixed black | q
dage | whole 18 62 | q
inc | of 2500-5000 10000-12500 7500-10000 | s
# acs12
employment | of not_in_labor_force employed unemployed | q
hrs_work | whole 1 99 | o
citizen | yes/no | q
lang | of english other | q
edu | of college hs_or_lower grad | q
disability | yes/no | s
birth_qrtr | of jan_thru_mar apr_thru_jun jul_thru_sep oct_thru_dec | q
# census
census_year | of 2000 | o
state_fips_code | of Florida New_York California Utah | q
total_family_income | whole 0 320000 | s
race_general | of White Black Two_major_races Chinese | q
# duke_forest
address | address | i
price | whole 95000 1520000 | o
bed | of 2 3 4 5 | o
year_built | whole 1923 2020 | o
url | code https://www.zillow.com/homedetails/######## | i
# nba
first_name | given | i
last_name | surname | i
team | of Thunder Heat Spurs Bulls Hawks | o
height | whole 69 88 | q
# loans
state | of NJ HI WI PA CA | q
homeownership | of MORTGAGE RENT OWN | s
annual_income | whole 0 230000 | s
debt_to_income | decimal 0 469 2 | s
months_since_last_delinq | whole 1 118 | o
interest_rate | decimal 5 30 2 | o
# yrbss
age | whole 12 18 | q
hispanic | of not hispanic | q
weight | decimal 29 180 2 | q
physically_active_7d | count 0 7 | s
# pets
license_issue_date | day 2015 2018 | q
license_number | code S1##### | i
species | of Dog Cat Goat | o
zip_code | number 98101 1 | q
# use_of_force *
primary_offense | of DASLT1 DISCON OBSTRC TRAFF | s
subject_injury | yes/no | s
race | of Black White Asian Native_American | q
precinct | of 1 2 3 4 5 | q
# ess
idno | number 39 40 | i
cntry | of GB | o
agea | whole 15 90 | q
eduyrs | whole 0 30 | q
uempla | 0/1 | q
hinctnta | whole 1 10 | s
lrscale | whole 0 10 | s
stintrvw | day 2018 2019 | q
# gss *
id | people 1 | p
sex | of Female Male | q
race | of White Black Other | q
realrinc | decimal 227 162607 1 | s
occ10 | whole 10 9830 | q
childs | of 0 1 2 3 4 5 6 7 8 | q
wrkstat | of School Full-Time Retired Part-Time | q
partyid | of Ind,Near_Dem Not_Str_Democrat Strong_Republican | s
maritalcat | of Married Widowed Never_Married | q
educcat | of High_School Bachelor Less_Than_High_School | q
# tv16
uid | numbering 1 | i
votetrump | 0/1 | s
collegeed | 0/1 | q
racef | of White Black Hispanic Asian | q
famincr | whole 1 12 | s
bornagain | 0/1 | s
churchatd | whole 1 6 | s
# nhis *
fml | 0/1 | q
hlth | of 1 2 3 4 5 | s
nwhite | 0/1 | q
famsize | whole 1 13 | q
yedu | whole 0 18 | q
perweight | whole 600 24000 | o
# medexp *
ndisease | decimal 0 58 9 | s
physlim | yes/no | s
lfam | decimal 0 2.6 6 | q
# hospital *
ID | number 4 4 | i
AgeGroup | of 1 2 3 | q
SysBP | whole 36 256 | s
Infection | 0/1 | s
MomAge | whole 13 46 | q
HispMom | of N P C M O | q
BirthWeightOz | whole 12 181 | q
Premie | 0/1 | s
GPA | decimal 1.9 4 2 | s
# flights *
dep_time | whole 1 2400 | o
air_time | whole 20 695 | o
tailnum | code N##### | i
distance | whole 17 4983 | o
# isls_wage
maritl | of 1._Never_Married 2._Married 4._Divorced | q
jobclass | of 1._Industrial 2._Information | q
health_ins | of 1._Yes 2._No | s
logwage | decimal 3 5.8 9 | s
# credit
Limit | whole 855 13913 | s
Student | yes/no | q
Balance | whole 0 1999 | s
Cards | whole 1 9 | o
# muscatine
id | people 1 | p
gender | of M F | q
base_age | of 6 8 10 12 14 | q
obese | yes/no | s
# exam *
school | whole 1 65 | q
normexam | decimal -3.6 3.6 6 | s
student | whole 1 198 | i
schgend | of mixed girls boys | q
# guimmun
kid | number 2 5 | i
mom | people 2 | h
immun | of Y N | s
momEd | of P S N | q
rural | of Y N | q
# adsl *
USUBJID | code GT10## | i
TRTA | of Placebo Drug_1 | o
AAGEGR1 | of <40 >=40 | q
ETHNIC | of Hispanic Not_Hispanic | q
# actg175
pidnum | number 10056 400 | i
wtkg | decimal 31 160 4 | q
hemo | 0/1 | s
homo | 0/1 | s
cd40 | whole 0 1200 | s
symptom | 0/1 | s
# kidney_transplant *
black_male | 0/1 | q
white_female | 0/1 | q
# lymph_node *
diagdateb | day 1984 1989 | q
deathdate | day 1985 1992 | q
menopause | of 1 2 | s
# merrell
is_male | of False True | q
is_white | of False True | q
age_at_diagnosis | decimal 17 68 1 | q
dead | of False True | s
# std
obs | numbering 1 | i
yschool | whole 6 18 | q
npartner | count 0 19 | s
condom | of 1 2 3 | s
rash | 0/1 | s
# smoking *
marital_status | of Divorced Single Married Widowed | q
highest_qualification | of No_Qualification Degree GCSE | q
nationality | of British English Scottish Other | q
gross_income | of Under_2,600 2,600_to_5,200 28,600_to_36,400 | s
amt_weekends | count 0 60 | s
smoke | yes/no | s
# london_murders *
forename | given | i
age | whole 0 92 | q
date | day 2006 2011 | q
borough | of Hackney Barnet Lambeth Newham Ealing | q
# nmes1988 *
visits | count 0 89 | s
chronic | count 0 8 | s
adl | of normal limited | s
afam | yes/no | q
school | whole 0 18 | q
medicaid | yes/no | s
# credit_data *
Seniority | whole 0 48 | q
Home | of rent owner parents private | s
Marital | of married widow single separated | q
Job | of freelance fixed partime | q
Debt | whole 0 30000 | s
Price | whole 105 11140 | o
# beps *
vote | of Liberal_Democrat Labour Conservative | s
Europe | whole 1 11 | s
gender | of female male | q
# psid *
intnum | people 4 | h
educatn | whole 0 17 | q
hours | whole 0 5160 | o
kids | whole 0 10 | q
# nesarc *
idnum | numbering 1 | i
ethrace2a | of 1 2 3 4 5 | q
marital | of 1 2 3 4 5 6 | q
# bdf *
pupilNR | numbering 17001 | i
IQ.verb | decimal 4 18 1 | s
Minority | of N Y | q
classsiz | whole 5 39 | o
# lalonde *
nodegree | 0/1 | q
treat | 0/1 | o
"""
words = str.split


@dataclass(frozen=True)
class Listed:
    """A column of a public data set: how its values look, and its role."""

    data_set: str
    header: str
    shape: str
    role: str


def _listed() -> list[Listed]:
    listed, data_set = [], ""
    for line in LISTED.strip().splitlines():
        if line.startswith("#"):
            data_set = line[1:].strip(" *")
            if line.endswith("*"):
                KEPT_ASIDE.append(data_set)
        else:
            header, shape, role = line.split(" | ")
            listed.append(Listed(data_set, header, shape, ROLES[role]))
    return listed


KEPT_ASIDE: list[str] = []
COLUMNS = _listed()
DATA_SETS = sorted({one.data_set for one in COLUMNS})


def _drawn(of: Listed, n: int) -> Sequence[object]:
    """Draw n values of a shape; numbers are numbers, all else is text."""
    draw = random.Random(f"{of.data_set}/{of.header}")
    kind, *given = words(of.shape)
    if kind in ("0/1", "0.0/1.0", "yes/no"):
        values = kind.split("/")
        return [(float(v) if "." in v else int(v)) if kind != "yes/no" else v for v in draw.choices(values, k=n)]
    if kind == "of":
        said = [value.replace("_", " ") for value in given]
        if set(said) <= {"True", "False"}:
            return [draw.random() < 0.5 for _ in range(n)]
        chosen = draw.choices(said, k=n)
        is_whole = all(value.lstrip("-").isdigit() for value in said)
        return [int(value) for value in chosen] if is_whole else chosen
    if kind in ("whole", "count", "squares", "decimal"):
        least, greatest = float(given[0]), float(given[1])
        drawn = [draw.uniform(least, greatest + (kind != "decimal")) for _ in range(n)]
        if kind == "decimal":
            return [round(value, int(given[2])) for value in drawn]
        if kind == "count":
            # Most have few.
            return [int(least + (value - least) ** 4 // (greatest + 1 - least) ** 3) for value in drawn]
        return [int(value // 1) ** (2 if kind == "squares" else 1) for value in drawn]
    if kind == "number":
        steps = [draw.randint(1, max(1, int(given[1]))) for _ in range(n)]
        return (
            list(accumulate(steps, initial=int(given[0])))[:n]
            if int(given[1]) > 1
            else draw.choices(range(98101, 98199), k=n)
        )
    if kind in ("numbering", "people"):
        return list(range(int(given[0]), int(given[0]) + n))
    if kind in ("day", "moment"):
        years = (int(given[0]), int(given[1]))
        days = [f"{draw.randint(*years)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}" for _ in range(n)]
        return (
            [f"{day} {draw.randint(0, 23):02}:{draw.randint(0, 59):02}:00" for day in days]
            if kind == "moment"
            else days
        )
    if kind == "code":
        return ["".join(str(draw.randint(0, 9)) if sign == "#" else sign for sign in given[0]) for _ in range(n)]
    return [_WRITTEN[kind](draw) for _ in range(n)]


_WRITTEN: dict[str, Callable[[random.Random], str]] = {
    "given": lambda draw: draw.choice(EN_FIRST + ROMAN_GIVEN).lower(),
    "surname": lambda draw: draw.choice(EN_LAST + ROMAN_SURNAMES).lower(),
    "full": lambda draw: f"{draw.choice(EN_FIRST)} {draw.choice(EN_LAST)}".lower(),
    "address": lambda draw: f"{draw.randint(1, 999)} {draw.choice(STREETS)} {draw.choice(KINDS_OF_STREET)}",
    "sentence": lambda draw: " ".join(draw.choices(words("i am new here and love long walks good food my dog"), k=14)),
}


def frame_of(data_set: str) -> pl.DataFrame:
    """Return the columns of a data set; where it has people, each keeps what is known of them from row to row."""
    columns = [one for one in COLUMNS if one.data_set == data_set]
    draw = random.Random(data_set)
    whose = [draw.randrange(N_PEOPLE) for _ in range(N_ROWS)]
    has_people = any(one.shape.startswith("people") for one in columns)
    made: dict[str, Sequence[object]] = {}
    for one in columns:
        if has_people and one.role in ("person", "household", "quasi-identifier"):
            own = _drawn(one, N_PEOPLE)
            made[one.header] = [own[person] for person in whose]
        else:
            made[one.header] = _drawn(one, N_ROWS)
    return pl.DataFrame(made)


def suggested(data_set: str) -> dict[Listed, Suggestion]:
    """Return what is suggested for each column of a data set, looked at as one table."""
    found, _ = inspect_columns(frame_of(data_set))
    return {one: found[one.header].suggestion for one in COLUMNS if one.data_set == data_set}


def precision_and_recall(suggestions: Mapping[Listed, Suggestion], role: str) -> tuple[float, float]:
    """Return the share of columns of a role among those suggested it, and the share of its columns that are found."""
    wanted = {one for one in suggestions if one.role == role}
    called = {one for one, suggestion in suggestions.items() if suggestion.role == role}
    return len(wanted & called) / max(1, len(called)), len(wanted & called) / max(1, len(wanted))
