"""The engine of the fuzzy classifier: one ellipsoidal region for each class (kaieda2004)."""
