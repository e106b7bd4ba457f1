"""Bayesian optimisation: minimise an expensive function with few evaluations.

from functionspace_bo import Float, Int, minimize

result = minimize(f, {"lr": Float(1e-5, 0.1, log=True), "layers": Int(1, 8)}, budget=60)
print(result.best.value, result.best.params)
"""

from ._html import HTMLReport
from ._minimize import minimize
from ._served import ServedStudy
from ._space import Bool, Categorical, Fixed, Float, Int, Ordinal
from ._store import StoredStudy
from ._study import Study
from ._trial import (
    Estimate,
    FrontEstimate,
    GivenEstimate,
    Pareto,
    PointPrediction,
    Prediction,
    Recommendation,
    Result,
    Selection,
    Step,
    Trial,
)
from .errors import (
    BoError,
    CommandError,
    ExhaustedError,
    ExistsError,
    FailuresError,
    FitError,
    NoValueError,
    ProcessError,
    RequestError,
    StoppedError,
    StudyError,
    TrialError,
)

__version__ = "0.1.0.dev0"

__all__ = [
    "BoError",
    "Bool",
    "Categorical",
    "CommandError",
    "Estimate",
    "ExhaustedError",
    "ExistsError",
    "FailuresError",
    "FitError",
    "Fixed",
    "Float",
    "FrontEstimate",
    "GivenEstimate",
    "HTMLReport",
    "Int",
    "NoValueError",
    "Ordinal",
    "Pareto",
    "PointPrediction",
    "Prediction",
    "ProcessError",
    "Recommendation",
    "RequestError",
    "Result",
    "Selection",
    "ServedStudy",
    "Step",
    "StoppedError",
    "StoredStudy",
    "Study",
    "StudyError",
    "Trial",
    "TrialError",
    "__version__",
    "minimize",
]
