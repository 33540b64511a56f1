"""What happens to the values of one column: each becomes a label."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from tokumei.core.errors import LISTED_FAULTS, Fault, InputError


@dataclass(frozen=True)
class Recoding:
    """The label of every value a column may hold.

    Values are text and are read as the column's own type before they are compared, so that the value
    `39` fits a column of text, of whole numbers and of floats alike. A missing value stays missing,
    unless it is given a label: one that says nothing, such as `*`.
    """

    column: str
    values: pl.Series
    labels: pl.Series
    label_of_missing: str | None = None

    def as_type(self, dtype: pl.DataType) -> pl.DataFrame:
        """Return the frame of value and label with the values in a column's type; what cannot be read is left out."""
        values = read_as(self.values, dtype)
        table = pl.DataFrame({"text": self.values, "value": values, "label": self.labels}).drop_nulls("value")
        # In a column of numbers "1" and "01" are one value: harmless if they share a label, else nobody can tell.
        table = table.unique(["value", "label"], keep="first", maintain_order=True)
        for text in table.filter(pl.col("value").is_duplicated())["text"][-1:]:
            raise InputError.of(f"one label for a value of type {dtype}", column=self.column, value=text)
        return table.select("value", "label")

    def labels_of(self, domain: pl.Series) -> pl.Series:
        """Return the label of each value of a domain; values without a label are an InputError that names them."""
        table = self.as_type(domain.dtype)
        asked = pl.DataFrame({"value": domain}).join(table, on="value", how="left", maintain_order="left")
        labels = asked["label"]
        is_missing = domain.is_null()
        unknown = domain.filter(labels.is_null() & ~is_missing)
        if len(unknown):
            raise no_label(self.column, unknown)
        return labels if self.label_of_missing is None else labels.fill_null(self.label_of_missing)


@dataclass(frozen=True)
class ClassRecoding:
    """What becomes of whole classes: beside the values of each, as the rows have them, the label of each cell.

    Both frames have the same columns and a row for each class. A row of any other class is left out.
    """

    values: pl.DataFrame
    labels: pl.DataFrame

    def numbered(self, value: str, label: str) -> pl.DataFrame:
        """Return one frame whose columns are numbered, so that none can clash with those of the rows."""
        frames = ((value, self.values), (label, self.labels))
        return pl.DataFrame(
            [one.to_series(index).alias(f"{name}{index}") for name, one in frames for index in range(one.width)]
        )


def no_label(column: str, values: pl.Series) -> InputError:
    """Make the error for values that a hierarchy does not hold."""
    expected = "a value of the column's hierarchy"
    listed = [Fault(expected, column=column, value=str(value)) for value in values[:LISTED_FAULTS]]
    return InputError(listed, len(values))


def read_as(values: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Read text values as a column's type; missing where they cannot be read."""
    if dtype == pl.String:
        return values
    if dtype.is_temporal() and dtype != pl.Date:
        raise InputError.of("a column of text, numbers, dates or booleans", value=str(dtype))
    if dtype == pl.Boolean:
        return values.replace_strict({"true": True, "false": False}, default=None, return_dtype=pl.Boolean)
    if dtype == pl.Date:
        return values.str.to_date("%Y-%m-%d", strict=False)
    return values.cast(dtype, strict=False)
