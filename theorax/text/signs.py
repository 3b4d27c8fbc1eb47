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


ALONE = "on its own, not over the run"
"""Remark beside REFUTED: among so many claims, one refutation of this strength may be chance."""


def verdict_word(status: str, within: bool = False, alone: bool = False) -> str:
    """The word of a verdict; ``within``: the value lies off the claim and inside its margin.

    ``alone``: the refutation does not hold over the run.

    >>> verdict_word("REFUTED", True), verdict_word("SUPPORTED", True), verdict_word("REFUTED")
    ('REFUTED (within margin)', 'SUPPORTED', 'REFUTED')
    >>> verdict_word("REFUTED", alone=True)
    'REFUTED on its own, not over the run'
    """
    if status != "REFUTED":
        return status
    return status + f" {ALONE}" * alone + f" ({WITHIN})" * within


def signed(status: str, within: bool = False, reached: str = "", alone: bool = False) -> str:
    """A verdict as a sign and a word, and what the claim ``reached`` where it was read with its margin.

    >>> signed("SUPPORTED", True, "within 0.1 of 2; not exactly 2")
    '✓ SUPPORTED  within 0.1 of 2; not exactly 2'
    """
    return f"{SIGNS.get(status, '·')} {verdict_word(status, within, alone)}" + (f"  {reached}" if reached else "")
