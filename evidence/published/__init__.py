"""Figures that the papers publish: the only numbers in `evidence` typed in by hand."""
