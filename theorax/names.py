"""Names that a user mistyped with the nearest ones that exist, and counts with their nouns."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """Up to ``count`` known names that resemble ``word``, the likeliest first.

    >>> nearest("rank_colapse_width", ["rank_collapse_width", "outlier_identity"])
    ('rank_collapse_width',)
    """
    from difflib import get_close_matches

    names = list(known)
    close = get_close_matches(word, names, n=count, cutoff=0.6)
    # A word typed in part ("collapse") is far from every id by edits, yet means the ids that contain it.
    inside = [name for name in names if len(word) >= 3 and word.lower() in name.lower() and name not in close]
    return tuple((close + inside)[:count])


def many(count: int, one: str, several: str | None = None) -> str:
    """A number with its noun, in the singular or the plural.

    >>> many(0, "size"), many(1, "size"), many(2, "size"), many(2, "entry", "entries")
    ('0 sizes', '1 size', '2 sizes', '2 entries')
    """
    return f"{count} {one if count == 1 else several or f'{one}s'}"


def with_article(noun: str) -> str:
    """A noun with its article, by its first letter.

    >>> with_article("rate"), with_article("identity")
    ('a rate', 'an identity')
    """
    return f"{'an' if noun[0] in 'aeio' else 'a'} {noun}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: a full stop, or a question that names the nearest ones.

    >>> did_you_mean("quik", ["quick", "standard"])
    '; did you mean `quick`?'
    >>> did_you_mean("zzz", ["quick"])
    '.'
    """
    names = nearest(word, known)
    if not names:
        return "."
    quoted = [f"`{name}`" for name in names]
    listed = quoted[0] if len(quoted) == 1 else ", ".join(quoted[:-1]) + " or " + quoted[-1]
    return f"; did you mean {listed}?"
