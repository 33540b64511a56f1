"""A cache that is bounded by bytes: what was not asked for longest goes first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class BoundedCache(Generic[Key, Value]):
    """Keeps values as long as their sizes fit; one that is too large for all of it is never kept."""

    def __init__(self, *, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.n_bytes = 0
        self._kept: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key, make: Callable[[], tuple[Value, int]]) -> Value:
        """Return a cached value, or make and keep it with its size."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][0]
        # Made without the lock: others need not wait for it, and two who make it at once make the same.
        value, size = make()
        with self._lock:
            if key not in self._kept and size <= self.most_bytes:
                self._kept[key] = value, size
                self.n_bytes += size
            while self.n_bytes > self.most_bytes:
                _, (_, freed) = self._kept.popitem(last=False)
                self.n_bytes -= freed
        return value

    def __len__(self) -> int:
        return len(self._kept)
