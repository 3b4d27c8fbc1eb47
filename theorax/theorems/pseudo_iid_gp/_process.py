"""Two units at two inputs: the letters in which a deep network sees its Gaussian limit, and the claims of its law.

Units i and k of a layer at the inputs, or places in them, x and y tend to N(0, delta_ik K). Outputs are Gaussian given
the layers before them, so that their law is seen through their random covariance S: what is not Gaussian in them at a
finite width is how much S varies. Hidden units are seen raw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from jaxtyping import Array, Float
from sympy import Expr, Matrix, Rational, eye, sqrt
from sympy.physics.quantum import TensorProduct

from theorax.language import (
    Absolute,
    Corrections,
    Expansion,
    GaussianVector,
    Hypothesis,
    Measured,
    Relative,
    Size,
)
from theorax.numerics.extents import Extent

HIDDEN, OUTPUT = 3, 4  # the last hidden layer and the output, counted from one
GAUSSIAN_FIRST = Hypothesis("the first layer is iid Gaussian")
BIASES = Hypothesis("layers and biases are independent, biases iid Gaussian")
ENVELOPE = Hypothesis(
    "|phi(z)| is at most c + M |z|",
    unbroken="polynomials break it and keep the limit; for exp(z^2/2) the kernel itself is infinite",
)
Fields = dict[str, Any]  # of a claim
EDGEWORTH = Expansion(
    (1,), rest=Rational(1, 50), order=2, reference=16, reason="an Edgeworth expansion at fixed frequencies"
)


@final
@dataclass(frozen=True)
class Process:
    """The limit at two units and two places; ``kernel`` is K of a layer at x and y, ``unit`` what the units are called."""

    size: Size
    kernel: Callable[[int], Matrix]
    unit: str = "unit"
    output: str = "output"
    place: str = ""

    @cached_property
    def hidden(self) -> tuple[Measured, ...]:
        """Two units of the last hidden layer at x and y, and as many such pairs as there are."""
        where = f"of the last hidden layer, at {self.place}"
        return tuple(Measured(f"h{i}{x}", f"{self.unit} {i} {where}{x}", sample=True) for i in "ik" for x in "xy")

    @cached_property
    def outputs(self) -> tuple[Measured, ...]:
        """Two outputs at x and y."""
        return tuple(Measured(f"f{i}{x}", f"{self.output} {i} at {self.place}{x}") for i in "ik" for x in "xy")

    @cached_property
    def covariances(self) -> tuple[Measured, ...]:
        """Sxx, Sxy, Syy."""
        return tuple(
            Measured(f"S{x}{y}", f"covariance of an output at {self.place}{x} and {y} given the hidden layers")
            for x, y in ("xx", "xy", "yy")
        )

    def at(self, layer: int, between: Expr | int = 0, scale: Expr | int = 1) -> GaussianVector:
        """The limit in this layer, ``between`` the correlation of the units."""
        return at_two_units(self.kernel(layer), between, scale)

    def kernels(self, reason: str) -> Fields:
        """Fields that limits of means over the units of a layer share; ``reason`` is that of the margin."""
        return dict(as_=self.size, approach=self.small(Rational(1, 12), "kernels"), margin=Relative(1, 8, reason))

    def law_of_outputs(self, **wrong: GaussianVector) -> Fields:
        """Their joint law, with these wrong ones beside it."""
        Sxx, Sxy, Syy = self.covariances
        given = TensorProduct(eye(2), Matrix([[Sxx, Sxy], [Sxy, Syy]]))
        return self._law(self.outputs, OUTPUT, EDGEWORTH, wrong, given=given)

    def law_of_hidden(self, **wrong: GaussianVector) -> Fields:
        """The joint law of the hidden units."""
        approach = self.small(Rational(1, 20), "characteristic functions")
        return self._law(self.hidden, HIDDEN, approach, wrong, mean_law=True)

    def _law(
        self, of: Any, layer: int, approach: Corrections, wrong: Mapping[str, GaussianVector], **more: Any
    ) -> Fields:
        return dict(
            of=of,
            to=self.at(layer),
            as_=self.size,
            approach=approach,
            excludes=(self.at(layer, Rational(1, 4)), self.at(layer, scale=Rational(5, 4))),
            spread=Rational(9, 50),
            wrong={f"{self.unit}s of correlation 1/2": self.at(layer, Rational(1, 2)), **wrong},
            **more,
        )

    def order_of_outputs(self) -> Fields:
        """Order at which an output becomes Gaussian: its excess kurtosis at x is 3 Var Sxx/K^2, of the order of |S - K|^2."""
        Sxx, Sxy, Syy = self.covariances
        K = self.kernel(OUTPUT)
        off = (Sxx - K[0, 0]) ** 2 + 2 * (Sxy - K[0, 1]) ** 2 + (Syy - K[1, 1]) ** 2
        return dict(
            of=off / K[0, 0] ** 2,
            like=1 / self.size,
            as_=self.size,
            approach=Corrections(
                size=Rational(1, 4),
                slowest=1,
                reference=16,
                reason=f"even functions of S - K expand in 1/{self.size}; two bias-free ReLU layers have variance "
                f"10/{self.size} (1 + 5/(2 {self.size})), at 16 a sixth above 10/{self.size}",
            ),
            margin=Absolute(1, 2, "a scale that all units share has the order zero, S - K itself one half"),
            spread=Rational(4, 3),
            wrong={"the order of S - K itself": dict(like=1 / sqrt(self.size))},
        )

    def small(self, size: Expr, of: str) -> Corrections:
        """Corrections of this size at 16; moments of a layer are rational in its size, for tanh smooth in its inverse."""
        n = self.size
        reason = f"{of} expand in 1/{n}; at {n} = 16 they lie nearer than this to their limits, on other seeds"
        return Corrections(size=size, slowest=1, rest=Rational(1, 50), order=2, reference=16, reason=reason)


def at_two_units(K: Matrix, between: Expr | int = 0, scale: Expr | int = 1) -> GaussianVector:
    """Two units of this correlation at two places with the kernel K, all variances times ``scale``."""
    return GaussianVector(scale * TensorProduct(Matrix([[1, between], [between, 1]]), K))


def seen(
    x: Float[Array, " units"], y: Float[Array, " units"], fx: Float[Array, " 2"], fy: Float[Array, " 2"], n: Extent
) -> dict[str, Array]:
    """The letters of hidden units and of outputs at x and y; units of even and of odd number are i and k."""
    samples = dict(hix=x[::2], hiy=y[::2], hkx=x[1::2], hky=y[1::2])
    samples |= {f"{name}_valid": n.mask[::2] for name in samples}
    return samples | dict(fix=fx[0], fiy=fy[0], fkx=fx[1], fky=fy[1])
