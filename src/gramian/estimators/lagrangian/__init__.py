"""The Lagrangian support vector machine (duan2008)."""
