"""Guards: what a check looks at besides the test, so that every word rests on numbers that could have been others.

A guard withholds support or says what was not looked at; it never turns a word green, and a refutation stands. Each is
a function of the evidence of one claim in a module of its own; `GUARDS` names all of them.
"""

from theorax.decide.guard_findings import Looked, all_looked
from theorax.verifiers.guards.branches_untaken import branches_untaken
from theorax.verifiers.guards.conventions import conventions
from theorax.verifiers.guards.derivatives import derivatives
from theorax.verifiers.guards.exact_instances import instances_left_open
from theorax.verifiers.guards.guard import DecidedClaim, Guard
from theorax.verifiers.guards.laws_given_variances import conditional_variance
from theorax.verifiers.guards.laws_of_samples import laws_of_samples
from theorax.verifiers.guards.light_tails import light_tails
from theorax.verifiers.guards.meaningless_margins import wide_margins
from theorax.verifiers.guards.measured_parameters import stand_ins
from theorax.verifiers.guards.padding import padding
from theorax.verifiers.guards.program_floats import program_floats
from theorax.verifiers.guards.randomness import randomness
from theorax.verifiers.guards.rounding_replayed import rounding
from theorax.verifiers.guards.sample_means import sample_means
from theorax.verifiers.guards.sizes import shared_sizes, swept, unread_sizes
from theorax.verifiers.guards.spread import constant_letters, constant_quantity, spread_of_draws

__all__ = ["GUARDS", "DecidedClaim", "Guard", "Looked", "look", "swept"]

GUARDS: tuple[Guard, ...] = (
    instances_left_open,
    light_tails,
    constant_letters,
    constant_quantity,
    spread_of_draws,
    randomness,
    rounding,
    program_floats,
    branches_untaken,
    derivatives,
    conventions,
    unread_sizes,
    shared_sizes,
    wide_margins,
    padding,
    conditional_variance,
    laws_of_samples,
    sample_means,
    stand_ins,
)


def look(claim: DecidedClaim) -> Looked:
    """Run every guard on one claim, and put together what they found."""
    return all_looked(guard(claim) for guard in GUARDS)
