"""Options with which each edition's contest takes seconds: few people, few levels of knowledge."""

SMALL = {
    "pwscup2015": {"n_rows": "60"},
    "pwscup2016": {"n_customers": "12"},
    "pwscup2017": {"n_customers": "12", "known": "50"},
    "pwscup2018": {"n_customers": "12"},
    "pwscup2019": {"n_users": "30", "n_slots": "20"},
    "pwscup2020": {"n_rows": "100", "n_people": "600", "n_named": "20"},
    "pwscup2021": {"n_rows": "200", "n_targets": "40"},
    "pwscup2022": {"n_rows": "60", "n_people": "200", "n_known": "20"},
    "pwscup2023": {"n_rows": "60"},
    "pwscup2024": {"n_rows": "60", "n_targets": "10"},
    "pwscup2025": {"n_rows": "100", "n_people": "400"},
    "pwscup2026": {"n_rows": "60", "n_rare": "6", "n_people": "200", "n_background": "100", "n_challenge": "30"},
    "ipws2023": {"n_rows": "200", "n_published": "40"},
}
