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


WITHIN = "within margin"
"""Remark beside REFUTED: not as claimed, and yet inside the margin."""


def verdict_word(status: str, within: bool = False) -> str:
    """The word of a verdict; ``within``: the value lies off the claim and inside its margin.

    >>> verdict_word("REFUTED", True), verdict_word("SUPPORTED", True), verdict_word("REFUTED")
    ('REFUTED (within margin)', 'SUPPORTED', 'REFUTED')
    """
    return f"{status} ({WITHIN})" if within and status == "REFUTED" else status


def signed(status: str, within: bool = False, reached: str = "") -> str:
    """A verdict as a sign and a word, and what the claim ``reached`` where it was read with its margin.

    >>> signed("SUPPORTED", True, "within 0.1 of 2; not exactly 2")
    '✓ SUPPORTED  within 0.1 of 2; not exactly 2'
    """
    return f"{SIGNS.get(status, '·')} {verdict_word(status, within)}" + (f"  {reached}" if reached else "")
