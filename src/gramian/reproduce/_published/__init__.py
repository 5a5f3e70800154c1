"""Figures that the papers publish: the only numbers in `gramian.reproduce` typed in by hand."""
