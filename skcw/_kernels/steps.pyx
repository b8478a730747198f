"""Doors to the steps of `steps.pxd`, for tests of a single one."""

from libc.math cimport INFINITY

import numpy as np


def solve_cw(double margin, double spread, double phi, double limit=INFINITY):
    """Return (alpha, beta) of Eq. (3), alpha cut at a limit."""
    return cw_step(margin, spread, phi, limit)


def solve_variance(double margin, double spread, double phi):
    """Return (alpha, beta) of Eqs. (7) and (8) of Crammer et al. (2009)."""
    return variance_step(margin, spread, phi)


def solve_arow(double margin, double spread, double distance, double r):
    """Return (alpha, beta) of Eq. (4)."""
    return arow_step(margin, spread, distance, r)


def solve_optimal_cw(
    double[::1] delta, double[::1] sigma, double margin, double phi,
    double limit=INFINITY,
):
    """Return (alpha, beta) of the CW step among diagonal covariances."""
    cdef double spread = _spread_after(&delta[0], &sigma[0], delta.shape[0], 1, 0.0)
    return optimal_cw_step(
        &delta[0], &sigma[0], delta.shape[0], 1, margin, spread, phi, limit
    )


def solve_k_constraints(double[:, ::1] gram, double[::1] loss, double budget):
    """Return the multipliers of the k-constraint PA step."""
    alpha = np.zeros(loss.shape[0])
    cdef double[::1] view = alpha
    hildreth(gram, loss, loss.shape[0], budget, view)
    return alpha
