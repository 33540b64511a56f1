"""A transformer of scikit-learn that generalizes rows by a release of those it was fitted on.

This file is loaded where `tk.Anonymizer` is used, since the class is one of scikit-learn's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import polars as pl

from tokumei.core.errors import InputError, needing
from tokumei.data.frames import as_frame, as_original, kind_of
from tokumei.data.table import Table, check_column
from tokumei.hierarchies.hierarchy import SUPPRESSED
from tokumei.hierarchies.leaves import read_number
from tokumei.hierarchies.parsed_labels import Label, parse_label
from tokumei.methods.registry import TABLE_ANONYMIZERS, TableSearch
from tokumei.tasks.anonymize_table import anonymize_table
from tokumei.tasks.request import ReleaseRequest, whole_number
from tokumei.tasks.table_release import with_middles

with needing("'Anonymizer', a transformer of scikit-learn,", "learning"):
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

# A lattice of more columns has too many nodes for the search that finds the best one.
MOST_SEARCHED = 8
KEPT, ROW = "kept", "row"


# scikit-learn states no types.
class Anonymizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Generalize the columns of a model's input so that each row looks like k − 1 others that it was fitted on.

    qi: the columns that others may know, all if not given. `keep` names further columns that pass unchanged, as for
    `tk.anonymize`; no others do.
    k, suppress, hierarchies: as for `tk.anonymize`. method: a search of levels; of up to 8 columns the best, else a
    greedy one.
    numbers: whether columns of numbers come out as the middle of their label, which models take, or as labels.

    Rows stay in place, so that they fit their targets. A row that would be left out has `*` in every column of `qi`,
    and so has a row whose labels fewer than k of the fitted rows have: with `numbers` that is the mean of the others.
    What was fitted on is k-anonymous when it is transformed. Other rows are only mapped: `tk.apply` checks a table.
    A fitted one holds the values that there were, as a recipe does: keep it as secret.

    >>> import tokumei as tk
    >>> tk.Anonymizer(k=2).fit_transform([[30], [31], [52], [53]]).tolist()
    [[30.5], [30.5], [52.5], [52.5]]
    """

    def __init__(
        self,
        qi: Sequence[str | int] | None = None,
        *,
        k: int = 5,
        suppress: float | None = None,
        hierarchies: Mapping[str, object] | None = None,
        keep: Sequence[str] = (),
        method: str | None = None,
        numbers: bool = True,
    ) -> None:
        self.qi = qi
        self.k = k
        self.suppress = suppress
        self.hierarchies = hierarchies
        self.keep = keep
        self.method = method
        self.numbers = numbers

    def fit(self, X: object, y: object = None) -> Self:  # noqa: ARG002, N803 - as scikit-learn names them.
        """Choose the level of each column by the rows; what they become is kept, and they are not."""
        k = whole_number(self.k, "k")
        frame = self._frame(X, reset=True, least=k)
        keep = [str(name) for name in self.keep]
        known = frame.columns if self.qi is None else [str(name) for name in self.qi]
        known = [name for name in known if name not in keep]
        method = self.method or ("optimal" if len(known) <= MOST_SEARCHED else "datafly")
        if not issubclass(TABLE_ANONYMIZERS.get(method), TableSearch):
            raise InputError.of("a search of levels, which has a label for each value", option="method", value=method)
        asked = ReleaseRequest(
            k=k, suppress=self.suppress, hierarchies=self.hierarchies, keep=keep, method=method, keep_order=True
        )
        done = anonymize_table(Table(frame, known, name="X"), asked)
        assert done.release is not None  # noqa: S101 - a search of levels releases rows.
        self.levels_ = done.levels or {}
        self.columns_ = [name for name in frame.columns if name in {*known, *keep}]
        self.quasi_identifiers_ = [name for name in frame.columns if name in known]
        self._numbers = [name for name in done.number_columns if name in known]
        self._labels = {
            name: dict(zip(one["value"].to_list(), one["label"].to_list(), strict=True))
            for name, one in done.release.mapping.items()
        }
        self._missing = {name: done.hierarchies[name].label_of_missing(level) for name, level in self.levels_.items()}
        self._ranges = {name: _ranges(self._labels[name]) for name in self._numbers}
        sizes = done.table.group_by(self.quasi_identifiers_).len(KEPT).sort(KEPT, *self.quasi_identifiers_)
        # The rows hidden are a class of their own, and have to be as many.
        n_hidden, n_more = frame.height - done.table.height, 0
        while 0 < n_hidden < k and n_more < sizes.height:
            n_hidden, n_more = n_hidden + int(sizes[KEPT][n_more]), n_more + 1
        self._kept = sizes[n_more:]
        self.n_hidden_, self.k_ = n_hidden, min([*self._kept[KEPT].to_list(), *([n_hidden] if n_hidden else [])])
        middles = with_middles(self._kept, self._numbers)
        self._means = {name: _mean(middles[name], self._kept[KEPT]) for name in self._numbers}
        return self

    def transform(self, X: object) -> Any:  # noqa: N803
        """Return the rows generalized as those that it was fitted on."""
        check_is_fitted(self, "columns_")
        frame = self._frame(X, reset=False)
        labels = {name: self._labels_of(name, frame[name]) for name in self.quasi_identifiers_}
        recoded = frame.select(self.columns_).with_columns(**labels)
        known = recoded.select(self.quasi_identifiers_).with_row_index(ROW)
        found = known.join(self._kept, on=self.quasi_identifiers_, how="left", nulls_equal=True).sort(ROW)
        is_kept = found[KEPT].is_not_null()
        hidden = [pl.when(is_kept).then(pl.col(name)).otherwise(pl.lit(SUPPRESSED)) for name in labels]
        recoded = recoded.with_columns(hidden)
        if self.numbers:
            recoded = with_middles(recoded, self._numbers)
            recoded = recoded.with_columns(pl.col(name).fill_null(self._means[name]) for name in self._numbers)
        if hasattr(X, "columns"):
            without = self._numbers if self.numbers else ()
            return as_original(recoded, kind_of(X), has_index=True, without=without)
        return recoded.to_numpy() if set(self._numbers) >= set(self.columns_) else recoded.to_numpy().astype(object)

    def get_feature_names_out(self, input_features: object = None) -> Any:
        """Return the names of the columns that come out."""
        check_is_fitted(self, "columns_")
        given = _check_feature_names_in(self, input_features)
        return given[[self._all.index(name) for name in self.columns_]]

    def __sklearn_tags__(self) -> object:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        return tags

    def _frame(self, data: object, *, reset: bool, least: int = 1) -> pl.DataFrame:
        """Read rows; scikit-learn checks them and remembers their columns."""
        if hasattr(data, "columns"):
            validate_data(self, data, reset=reset, skip_check_array=True)
            frame = as_frame(data)
            if frame.height < least:
                raise InputError.of(f"{least:,} rows or more, for classes of so many", value=f"{frame.height:,}")
        else:
            found = validate_data(
                self, data, reset=reset, dtype=None, ensure_all_finite="allow-nan", ensure_min_samples=least
            )
            names = [str(at) for at in range(found.shape[1])]
            columns = [found[:, at].tolist() for at in range(found.shape[1])]
            frame = pl.DataFrame([pl.Series(name, one) for name, one in zip(names, columns, strict=True)])
        frame = frame.with_columns(pl.selectors.float().fill_nan(None))
        if reset:
            self._all = frame.columns
        for column in self.columns_ if not reset else ():
            check_column(column, frame.columns, "a fitted column", "X")
        return frame

    def _labels_of(self, name: str, values: pl.Series) -> pl.Series:
        """Return the label of each value; one that was not there gets that of the range that it lies in, or none."""
        texts = Table(values.to_frame(), [name]).frame[name].cast(pl.String)
        labels = dict(self._labels[name])
        for text in texts.drop_nulls().unique().to_list():
            if text not in labels:
                labels[text] = self._label_of_unseen(name, text)
        mapped = [self._missing[name] if text is None else labels[text] for text in texts]
        return pl.Series(name, mapped, dtype=pl.String)

    def _label_of_unseen(self, name: str, text: str) -> str:
        # Where nothing is said of any value, nothing is said of new ones.
        if self._missing[name] is not None:
            return str(self._missing[name])
        number = read_number(text) if name in self._ranges else None
        if number is None:
            return SUPPRESSED
        at = float(number)
        return next((label for label, one in self._ranges.get(name, []) if _holds(one, at)), SUPPRESSED)


def _ranges(labels: Mapping[str, str]) -> list[tuple[str, Label]]:
    return [(label, parse_label(label)) for label in dict.fromkeys(labels.values())]


def _holds(label: Label, number: float) -> bool:
    is_above = label.low is None or number > label.low or (label.has_low and number == label.low)
    is_below = label.high is None or number < label.high or (label.has_high and number == label.high)
    return is_above and is_below and (label.low is not None or label.high is not None)


def _mean(middles: pl.Series, sizes: pl.Series) -> float:
    """Return the mean of the middles over the rows, 0 where no label has one."""
    weights = sizes.to_numpy() * middles.is_not_null().to_numpy()
    return float(np.average(middles.fill_null(0.0).to_numpy(), weights=weights)) if weights.any() else 0.0
