"""The kernel fuzzy classifier with ellipsoidal regions (kaieda2004)."""
