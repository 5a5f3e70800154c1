"""What every estimator shares: samples with ids that come and go, and the contract of fit."""
