"""Formulas: targets to coefficients, intercepts and leave-one-out values. Pure functions."""
