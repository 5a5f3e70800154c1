"""Andelić, Schafföner, Katz, Krüger and Wendemuth: order-recursive orthogonal least squares.

The text of this paper that we hold has lost every digit, so that none of its figures can be typed
in: not the errors and shares of centres of its Tables 2 to 4, nor the sizes of its experiments.
"""

WHY_NONE = (
    "The text of andelic2007 that we hold has lost every digit: its figures cannot be set beside "
    "ours, and sizes that it states are our choice here."
)
