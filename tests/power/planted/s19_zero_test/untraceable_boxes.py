"""False bounds of functions that floats cannot trace: they have no enclosure either, and no claim may crash. Planted, S19."""

from sympy import LambertW, Rational, Si, besselj, polygamma, zeta

from theorax.language import *

t = Parameter("t", "a number")
UNIT = {t: (Rational(1, 2), 1)}
TINY = Absolute(1, 10**6, "stated")

bessel = Inequality(besselj(0, t), at_most=Rational(1, 2), over=UNIT)
sine_integral = Inequality(Si(t), at_least=1, over=UNIT)
lambert = Inequality(LambertW(t), at_most=Rational(1, 10), over=UNIT)
riemann = Inequality(zeta(t + 1), at_most=1, over=UNIT)
digamma = Inequality(polygamma(1, t), at_most=1, over=UNIT)
least = Optimum(besselj(1, t), over=UNIT, at={t: 1}, margin=TINY)

H = hypotheses(exact=Hypothesis("t is a real number", unbroken="the box holds nothing else"))
theorem = Theorem(
    place="nowhere",
    label="derived",
    hypotheses=H,
    claims=dict(
        bessel=bessel, sine_integral=sine_integral, lambert=lambert, riemann=riemann, digamma=digamma, least=least
    ),
)
