"""The sign that stands beside the word of a verdict."""

SIGNS = {
    "PROVED": "✓",
    "CERTIFIED": "✓",
    "SUPPORTED": "✓",
    "REFUTED": "✗",
    "INCONCLUSIVE": "?",
    "VACUOUS": "○",
    "BLOCKED": "■",
    "ERROR": "!",
}


def signed(status: str) -> str:
    """A verdict as a sign and a word."""
    return f"{SIGNS.get(status, '·')} {status}"
