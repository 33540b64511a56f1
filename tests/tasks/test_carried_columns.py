"""Further columns of a history: carried by name, refused where they single out, and never dropped without a word."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.journey.commands import tokumei_here

import tokumei as tk
from tokumei.cli.main import main
from tokumei.core.errors import InputError

ROWS = """\
member,shop,note,when,goods
1,330,a,2017-01-03,tea
1,330,b,2017-02-03,egg
2,330,c,2017-01-04,tea
2,331,d,2017-02-05,rice
3,331,e,2017-01-05,tea
3,331,f,2017-02-08,egg
"""
COLUMNS = ["--columns", "customer=member,date=when,item=goods"]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "T.csv").write_text(ROWS)
    return tmp_path / "T.csv"


def test_carried_columns_stand_beside_their_rows_in_the_release_and_what_is_published(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    published = shop.with_name("S.csv")
    given = ["anonymize", "history", shop, *COLUMNS, "--method", "pseudonyms", "--out", shop.with_name("A.csv")]
    carry = ["--carry", "shop,note", "--carry-anyway", "--published", published]
    code, found = tokumei_here(capsys, *given, *carry)
    assert (code, found["carried"], found["left_out"]) == (0, ["shop", "note"], [])
    released = pl.read_csv(shop.with_name("A.csv"), infer_schema=False)
    original = pl.read_csv(shop, infer_schema=False)
    assert released.select("shop", "note").equals(original.select("shop", "note"))
    seen = pl.read_csv(published, infer_schema=False)
    assert sorted(seen.select("shop", "note", "item").rows()) == sorted(original.select("shop", "note", "goods").rows())
    assert seen.columns == ["customer", "date", "item", "shop", "note"]


def test_deleted_rows_carry_nothing() -> None:
    frame = pl.read_csv(ROWS.encode(), infer_schema=False).with_columns(price=pl.lit(1.0), quantity=pl.lit(1))
    history = tk.History(frame, customer="member", date="when", item="goods", carry="shop")
    released = tk.anonymize(history, method="delete", telling=0.5, once=False, price_deviations=0.0, seed=1)
    assert released.frame["shop"].is_null().to_list() == released.frame["customer"].is_null().to_list()
    assert 0 < released.frame["shop"].null_count() < 6


def test_columns_that_are_left_out_are_told(shop: Path) -> None:
    history = tk.History(pl.read_csv(shop), customer="member", date="when", item="goods")
    release = tk.anonymize(history, method="pseudonyms")
    assert release.to_dict()["left_out"] == ["shop", "note"]
    assert repr(history).endswith(", without shop, note)")
    assert repr(release).endswith(", without shop, note)")


def test_a_time_that_stands_in_the_date_is_not_called_absent(caplog: pytest.LogCaptureFixture) -> None:
    frame = pl.DataFrame({"member": ["a"], "when": ["2024-01-02 09:05"], "shop": ["330"]})
    with caplog.at_level("INFO", "tokumei"):
        tk.History(frame, customer="member", date="when")
    assert caplog.messages == [
        "history: left out shop (--carry keeps them in a release); absent: invoice, item, price, quantity"
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--carry", "note"], "6 of its values are one customer's alone); --carry-anyway releases it all the same"),
        (["--carry", "shops"], "option --carry: found 'shops', expected a column of the file, such as shop"),
        (["--carry", "goods"], "expected a column that is none of the history's own"),
        (["--carry", "shop", "--out-format", "pwscup2017"], "since pwscup2017 has no place for it"),
    ],
)
def test_column_that_cannot_be_carried_is_refused_and_nothing_written(
    shop: Path, capsys: pytest.CaptureFixture[str], options: list[str], expected: str
) -> None:
    with pytest.raises(SystemExit) as done:
        main(
            ["anonymize", "history", str(shop), *COLUMNS, "--method", "pseudonyms", "--out", f"{shop}.A.csv", *options]
        )
    assert done.value.code == 2
    assert expected in capsys.readouterr().err
    assert not Path(f"{shop}.A.csv").exists()


def test_made_up_rows_would_be_told_by_what_they_do_not_carry() -> None:
    history = tk.History(pl.read_csv(ROWS.encode()), customer="member", date="when", item="goods", carry=["shop"])
    with pytest.raises(InputError, match="a method that makes up no rows"):
        tk.anonymize(history, method="dummies")


def test_carried_columns_move_with_their_purchase() -> None:
    frame = pl.read_csv(ROWS.encode(), infer_schema=False).with_columns(price=pl.lit(1.0), quantity=pl.lit(1))
    frame = frame.with_columns(goods=pl.concat_str("goods", "note"))
    history = tk.History(frame, customer="member", date="when", item="goods", carry="note")
    moved = False
    for seed in range(5):
        released = tk.anonymize(history, method="permute-groups", bound=0.4, seed=seed, carry_anyway=True)
        kept = released.frame.drop_nulls("customer")
        assert kept.height == 6
        assert kept["item"].str.ends_with(kept["note"]).all()
        moved |= released.frame["note"].to_list() != frame["note"].to_list()
    assert moved


def test_column_that_tells_whose_a_dealt_purchase_is_is_refused() -> None:
    # Two customers share each shop, and each day is one of all four.
    rows = [
        (f"c{who}", f"{1 + who // 2}", f"2017-01-{1 + visit:02}", f"i{who + visit}", 1.0, 1, visit % 2)
        for who in range(4)
        for visit in range(10)
    ]
    columns = ["member", "shop", "when", "goods", "price", "quantity", "even"]
    frame = pl.DataFrame(rows, schema=columns, orient="row")

    def made(carry: str, *, carry_anyway: bool = False) -> pl.DataFrame:
        history = tk.History(frame, customer="member", date="when", item="goods", carry=carry)
        released: pl.DataFrame = tk.anonymize(
            history, method="permute-groups", bound=0.25, seed=1, carry_anyway=carry_anyway
        ).frame
        return released

    # Of the other nineteen rows of its shop nine are the buyer's; of the even days as many of each.
    with pytest.raises(InputError, match=r"'shop', expected a column .* gives 47% .* guessing 25%"):
        made("shop")
    assert "shop" in made("shop", carry_anyway=True).columns
    assert "even" in made("even").columns
    # Rows of pseudonyms that stay with their customers are nobody else's.
    history = tk.History(frame, customer="member", date="when", item="goods", carry="shop")
    assert "shop" in tk.anonymize(history, method="pseudonyms", seed=1).frame.columns
