"""Kernels of the Gaussian limits: the fast ones of pixels against the sums as they are written."""

import numpy as np

from theorax.theorems.pseudo_iid_gp import _limit, _pixels


def test_pixels_of_equal_variance_have_the_kernel_of_layers():
    K = np.array([[1.5, 0.6], [0.6, 1.5]])
    for activation in (_limit.RELU, _limit.PHI):
        fast = _pixels.products(activation, K)
        for i, j in ((0, 0), (0, 1)):
            # A dozen roundings of numbers below two.
            assert abs(fast[i, j] - float(_limit.F(activation, K[0, 0], K[i, j]))) < 12 * 2.0**-51


def test_both_sums_as_they_are_written():
    weight, bias, pixels, taps = 0.5, 0.1, _pixels.PIXELS, _pixels.TAPS
    before = _pixels.products(_limit.RELU, _pixels.limit(1, _limit.RELU, weight, bias, True))
    found = {shift: _pixels.limit(2, _limit.RELU, weight, bias, shift) for shift in (True, False)}
    alone = _pixels.products(_limit.RELU, _pixels.limit(1, _limit.RELU, weight, bias, False))
    for image, mu in ((0, 0), (0, 3), (1, 7)):
        for other, nu in ((0, 0), (1, 2), (1, 7)):
            over_taps = sum(
                before[image * pixels + (mu + beta) % pixels, other * pixels + (nu + beta) % pixels]
                for beta in range(taps)
            )
            shared = {(mu + beta) % pixels for beta in range(taps)} & {(nu + beta) % pixels for beta in range(taps)}
            over_pixels = sum(alone[image * pixels + place, other * pixels + place] for place in shared)
            for shift, literal in ((True, over_taps), (False, over_pixels)):
                value = found[shift][image * pixels + mu, other * pixels + nu]
                assert abs(value - bias - weight * literal) < 8 * 2.0**-50
