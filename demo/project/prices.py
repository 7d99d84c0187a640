"""Prices of a small shop."""

from __future__ import annotations


def total(prices: list[float], discount: float = 0.0) -> float:
    """Return the sum of ``prices`` less ``discount``, a part between 0 and 1."""
    return sum(prices) * (1 - discount)
