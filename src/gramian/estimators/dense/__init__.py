"""Machines with a coefficient for each sample, solved in a live Gram matrix or in its features."""
