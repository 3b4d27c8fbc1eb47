"""The colours of the report, light and dark, and which of them must be told apart from which."""

from __future__ import annotations

from collections.abc import Mapping

TEXT_RATIO = 4.5  # of contrast for text, as WCAG 2.2 asks at level AA
SIGN_RATIO = 3.0  # for lines and signs

LIGHT: Mapping[str, str] = {
    "page": "#ffffff",
    "surface": "#f4f6f8",
    "text": "#1a1e23",
    "quiet": "#535b65",
    "link": "#0b4fa0",
    "line": "#c8ced6",
    "stroke": "#5f6873",
    "good": "#0f6238",
    "good-tint": "#e2f3e8",
    "bad": "#9d1420",
    "bad-tint": "#fce6e6",
    "open": "#744700",
    "open-tint": "#fcefd4",
    "idle": "#4b4a6b",
    "idle-tint": "#ebebf5",
    "measured": "#0b4fa0",
    "predicted": "#9a3b00",
    "band": "#f6e3d3",
    "mark": "#ffe58a",
}
DARK: Mapping[str, str] = {
    "page": "#14171b",
    "surface": "#1d2126",
    "text": "#e7eaee",
    "quiet": "#aab2bd",
    "link": "#8fbaff",
    "line": "#3a414a",
    "stroke": "#8d97a3",
    "good": "#83dba6",
    "good-tint": "#17301f",
    "bad": "#ffa0a0",
    "bad-tint": "#3b1b1e",
    "open": "#f4c76f",
    "open-tint": "#372b12",
    "idle": "#bcbcdd",
    "idle-tint": "#28283c",
    "measured": "#8fbaff",
    "predicted": "#ffb27d",
    "band": "#3a2b20",
    "mark": "#6b5a12",
}
THEMES: Mapping[str, Mapping[str, str]] = {"light": LIGHT, "dark": DARK}

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


def variables() -> str:
    """The palette as custom properties of CSS: light, dark where the reader prefers it, light again on paper."""
    light, dark = declarations(LIGHT), declarations(DARK)
    return (
        f":root{{color-scheme:light dark;{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
        f"@media print{{:root{{color-scheme:light;{light}}}}}\n"
    )


def declarations(theme: Mapping[str, str]) -> str:
    """The colours of a theme as custom properties."""
    return ";".join(f"--{name}:{value}" for name, value in theme.items())
