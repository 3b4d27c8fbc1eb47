"""Which colours of the report must be told apart from which, and how far two colours are apart."""

from __future__ import annotations

TEXT_RATIO = 4.5  # of contrast for text, as WCAG 2.2 asks at level AA
SIGN_RATIO = 3.0  # for lines and signs

TONES = ("good", "bad", "open", "idle")
TEXT_ON: tuple[tuple[str, str], ...] = (
    *((ink, ground) for ink in ("text", "quiet", "link", *TONES) for ground in ("page", "surface")),
    *((tone, f"{tone}-tint") for tone in TONES),
    *(("text", f"{tone}-tint") for tone in TONES),
    *(("page", tone) for tone in TONES),
    ("text", "mark"),
    ("text", "band"),
)
"""Text and what it stands on."""
SIGNS_ON: tuple[tuple[str, str], ...] = (
    ("stroke", "page"),
    ("stroke", "surface"),
    *((sign, ground) for sign in ("measured", "predicted") for ground in ("page", "band")),
    *((tone, f"{tone}-tint") for tone in TONES),
)
"""Lines and signs and what they stand on."""


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, from 1 to 21.

    >>> round(contrast("#000000", "#ffffff"), 1)
    21.0

    **Source:** World Wide Web Consortium 2023 (WCAG 2.2), relative luminance and contrast ratio.
    """
    first, second = sorted((_luminance(one), _luminance(other)))
    return (second + 0.05) / (first + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
