"""Sparse machines by order-recursive orthogonal least squares (andelic2007)."""
