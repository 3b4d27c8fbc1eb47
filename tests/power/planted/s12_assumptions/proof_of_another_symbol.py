"""The step sqrt(t^2) = t is proved of a positive symbol; the claim's letter of that name has either sign."""

from sympy import Derivative, Symbol, sqrt

from theorax.language import Inequality, Parameter, Step, Theorem, lemma

t = Parameter("t", "a number")
under = Inequality(sqrt(t**2), at_most=t + 3, over={t: (-1, 1)})


@lemma
def root():
    """Every t."""
    other = Symbol("t", positive=True)
    yield Step("slope of the root of the square", Derivative(sqrt(other**2) + 3, other), 1)


theorem = Theorem(place="nowhere", label="derived", claims=dict(under=under), proofs=(root,))
