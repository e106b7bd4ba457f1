from functionspace_bo.optuna import FunctionSpaceSampler

__all__ = ["FunctionSpaceSampler"]
