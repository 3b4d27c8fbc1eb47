"""Words of the kinds that exact arithmetic decides: identities, optima, impossibilities."""

from __future__ import annotations

from theorax.decide.kinds import DecidedQuantity, KindWords, Meanings, QuantityForm

__all__ = ["IDENTITY", "IMPOSSIBILITY", "OPTIMUM"]

IDENTITY = KindWords(
    "identity",
    DecidedQuantity("largest difference of the two sides", "difference", QuantityForm.ERROR, is_difference=True),
    meanings=Meanings(
        supported="the sides agree wherever they were compared, which could have refuted them",
        refuted="the sides differ",
        inconclusive="neither a difference of the sides nor their agreement was made certain",
    ),
)
OPTIMUM = KindWords("optimum")
IMPOSSIBILITY = KindWords("impossibility")
