"""The engine of the Lagrangian support vector machine."""

from gramian.engines.lagrangian._engine import LagrangianEngine, LagrangianPlan

__all__ = ["LagrangianEngine", "LagrangianPlan"]
