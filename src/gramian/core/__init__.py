"""What every family of estimators stands on."""
