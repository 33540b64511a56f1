"""What an attacker knows: a share of the purchases, items only by their first characters."""

from __future__ import annotations

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.seeds import generator
from tokumei.data.history import History

# The contests cut items to two characters: an attacker saw the kind of thing, not the article.
KNOWN_ITEM_CHARACTERS = 2


def draw_knowledge(original: History, share: float, *, seed: int) -> History:
    """Draw the rows an attacker knows, each with the same chance; unknown rows are missing in every column."""
    if not 0 <= share <= 1:
        raise InputError.of("a share from 0 to 1", column="share", value=share)
    rows = generator(seed, "knowledge", str(share)).permutation(original.n_rows)
    is_known = pl.Series(rows < round(share * original.n_rows))
    seen = original.frame.with_columns(item=pl.col("item").str.slice(0, KNOWN_ITEM_CHARACTERS))
    return History(seen.with_columns(pl.when(is_known).then(pl.all())), f"{original.name}, {share:.0%} known")
