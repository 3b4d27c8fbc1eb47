"""A claim that is off by its margin, tried with fresh seeds until one is lucky.

One seed in about three hundred has a p-value of support below the level of a first attempt (286: 0.0075, where 0.0152 is
asked of the first, 0.0017 of the third). The tries begin shortly before it, as one who went on would have come to it.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from theorax.runs.checking import check
from theorax.verifiers.settings import Settings

HERE = (str(Path(__file__).parent.parent),)
FIRST, TRIES = 284, 4


def fresh_seeds(seed):
    """The first of the tries that is green, the last where none is."""
    with TemporaryDirectory() as state:
        for number in range(TRIES):
            tried = Settings(roots=HERE, state=state, seed=FIRST + TRIES * seed + number, effort="quick", fresh=True)
            (claim,) = check("uniform_mean", tried).claims
            if claim.status.holds:
                break
        return claim
