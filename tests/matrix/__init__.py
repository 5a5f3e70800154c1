"""Every capability with every configuration of every estimator: it works, or is refused."""
