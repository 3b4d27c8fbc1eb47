"""The psi2 norm of a law with finitely many values, by bisection."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp

STEPS = 60


class FiniteLaw(eqx.Module):
    """The values of X^2 and their probabilities."""

    squares: jax.Array
    weights: jax.Array

    def moment(self, square):
        """E exp(X^2/t^2) at t^2 = ``square``; infinite where a power overflows."""
        kept = self.weights > 0
        return jnp.where(kept, self.weights * jnp.exp(jnp.where(kept, self.squares, 0) / square), 0).sum()

    def squared_norm(self):
        """The t^2 with E exp(X^2/t^2) = 2, and a bound of its relative error.

        The mean falls in t. It is at least two at t^2 = E X^2, as e^y >= 1 + y, and at most two at max X^2/log 2.
        """
        low = jnp.log((self.weights * self.squares).sum()) - 2.0**-20
        high = jnp.log(jnp.where(self.weights > 0, self.squares, 0).max() / jnp.log(2.0)) + 2.0**-20

        def halve(ends, _):
            low, high = ends
            middle = (low + high) / 2
            above = self.moment(jnp.exp(middle)) > 2
            return (jnp.where(above, middle, low), jnp.where(above, high, middle)), None

        low, high = jax.lax.scan(halve, (low, high), length=STEPS)[0]
        # The exponent at the root is at most some hundreds, so that its rounding moves the root by far less than 2^-36.
        return jnp.exp((low + high) / 2), (high - low) + 2.0**-36
