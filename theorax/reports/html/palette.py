"""The colours of the report, light and dark.

Text and signs have the contrast that level AA asks for (World Wide Web Consortium 2023, WCAG 2.2); a test computes it.
"""

from __future__ import annotations

from collections.abc import Mapping

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
