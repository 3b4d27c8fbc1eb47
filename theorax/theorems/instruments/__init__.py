"""Instruments: samplers, solvers and estimators against exact facts."""
