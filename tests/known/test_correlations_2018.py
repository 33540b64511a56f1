"""The last rows of tables 6 to 10 of the 2018 report follow from the tables' own columns."""

from __future__ import annotations

import pytest

from tokumei.measure.correlation import pearson_correlation

# Figures of the report, by team: 10, 01, 11, 14, 06, 13, 05, 08, 03, 02, 09, 07, 12.
UTILITY = [0.193, 0.206, 0.206, 0.206, 0.209, 0.255, 0.262, 0.277, 0.294, 0.365, 0.430, 0.457, 0.476]
COLUMNS: dict[str, tuple[list[float], float]] = {
    "frequent itemsets": (
        [0.208, 0.216, 0.214, 0.217, 0.219, 0.202, 0.209, 0.206, 0.243, 0.367, 0.255, 0.231, 0.600],
        0.654,
    ),
    "RFM": ([0.086, 0.085, 0.085, 0.085, 0.089, 0.116, 0.119, 0.100, 0.087, 0.104, 0.097, 0.108, 0.253], 0.612),
    "wholesale": ([0.655, 0.726, 0.726, 0.725, 0.773, 0.723, 0.763, 0.794, 0.805, 0.896, 0.865, 0.864, 0.864], 0.877),
    "retail": ([0.759, 0.785, 0.785, 0.785, 0.796, 0.782, 0.802, 0.820, 0.818, 0.885, 0.882, 0.879, 0.885], 0.949),
    "top 100": ([0.212, 0.221, 0.220, 0.220, 0.225, 0.223, 0.239, 0.238, 0.248, 0.261, 0.271, 0.295, 0.207], 0.594),
    "rows": ([1912, 2622, 2622, 2622, 2609, 1074, 1588, 1284, 4250, 12423, 5400, 2622, 0], 0.203),
    "items": ([0.114, 0.108, 0.109, 0.109, 0.120, 0.123, 0.110, 0.117, 0.123, 0.176, 0.151, 0.145, 0.199], 0.856),
    "mean date": (
        [0.272, 0.896, 0.896, 0.895, 0.833, 1.478, 0.192, 0.398, 1.124, 4.233, 7.168, 0.160, 3.607],
        0.599,
    ),
    "least price": ([0, 0, 0, 0, 0, 1.170, 0.570, 0, 1.020, 2.150, 1.750, 2.030, 0.910], 0.794),
    "median quantity": (
        [5.845, 13.035, 14.125, 4.990, 5, 7.5, 5.220, 3.280, 8, 15.540, 2.345, 2.710, 1904.295],
        0.527,
    ),
}


@pytest.mark.parametrize("name", list(COLUMNS))
def test_correlation_with_utility_is_the_one_printed(name: str) -> None:
    values, printed = COLUMNS[name]
    # The columns are printed to three digits, which moves a correlation by a few thousandths.
    assert pearson_correlation(UTILITY, values) == pytest.approx(printed, abs=4e-3)
