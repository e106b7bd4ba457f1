"""The options of a study by their names in the study file.

Written by python/generate.py from the schema of study files. Do not edit.
"""

# ruff: noqa: E501

from __future__ import annotations

from typing import TYPE_CHECKING


OBJECTIVE = frozenset({"goal", "noise_free", "noise_sd", "standard_error"})
"""Keys of the objective that are also options."""


SETTINGS = frozenset({"averaged", "exact", "isotropic", "kernel", "lengthscale", "mean", "noise", "restarts", "variance"})
"""Settings of the surrogate model that are also options."""


METHOD = frozenset({"acquisition", "averaged", "design", "exact", "isotropic", "kernel", "lengthscale", "local", "maximizer", "mean", "noise", "restarts", "surrogate", "variance", "warp"})
"""Options of the method by which points are chosen."""


HELP = {
    "acquisition": "Acquisition function: a name, or a mapping with the name and settings.",
    "batch": "Number of trials suggested together; default none, and no worker waits for another.",
    "budget": "Total number of trials; default 50.",
    "builtin": "Name of a built-in objective, in place of a command and parameters.",
    "command": "Program to run for each trial, with {name} for the value of a parameter: a line, or the list of its arguments.",
    "constraints": "Conditions on the parameters that hold at every point, such as layers * width <= 4096.",
    "defaults": "Value of each added parameter in trials that are older than the parameter.",
    "design": "Point set of the initial trials; default sobol.",
    "earlier": "Evaluations made before the study, as a list or as the name of a CSV table: they do not count against the budget.",
    "end": "Conditions that end a run before the budget is used up.",
    "failures": "expected: failures of the first trials do not end a run.",
    "first": "Points to try first, as mappings from parameters to values; parameters that are left out are completed by the initial design.",
    "initial": "Number of trials of the initial design; default 2 per parameter and 2, or 1 per parameter and 3 with several objectives; at most 20.",
    "local": "Local search: auto, every second suggestion of gp comes from a model of the trials near the best one; none, all suggestions come from the model of all trials; default auto.",
    "maximizer": "Settings of the maximisation of the acquisition function.",
    "name": "Name of the study: 1 to 100 letters, digits, dots, dashes and underscores.",
    "objectives": "The numbers to optimise; default {name: value, goal: minimize}.",
    "optimum": "Belief about the optimum, by parameter: its density weighs the search, less with every trial.",
    "prior_mean": "Prior mean function of the objective, such as 3 + 2*log(x); default a constant that is estimated.",
    "require": "Outcome constraints on reported numbers, such as latency <= 20: learned from the trials.",
    "seed": "Seed of all random numbers: the same seed gives the same trials; default 0.",
    "shell": "Run the command by the shell.",
    "stop": "Rule that stops poor trials early: a name, or a mapping with the rule and settings.",
    "surrogate": "Surrogate model: a name, or a mapping with the name and settings.",
    "timeout": "A trial that takes longer fails: a time such as 90s or 2h.",
    "warp": "Output transform: auto, the logarithm of the distance to the best value if that raises the likelihood of the values enough and no prior is stated, and of numbers of outcome constraints about their bounds; none, no logarithm; default auto.",
    "workers": "Number of concurrent evaluations; default 1.",
    "goal": "minimize or maximize.",
    "noise_free": "Equal points have equal values.",
    "noise_sd": "Standard deviation of the noise of a value, in its unit, if it is known.",
    "standard_error": "Name of the reported number that is the standard error of a value.",
    "averaged": "largest number of observations with which predictions that are shown are averaged over hyperparameters; 1 turns it off; default 40.",
    "exact": "largest number of observations with an exact posterior; with more, it is approximated with this number of inducing points; default 1500.",
    "isotropic": "one lengthscale for all inputs instead of one per input; default false.",
    "kernel": "kernel expression, e.g. rbf*periodic+linear; default matern52.",
    "lengthscale": "fixes the lengthscales: one number, or one per input; default learned.",
    "mean": "mean of the prior: constant, which is learned, or zero; default constant.",
    "noise": "fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.",
    "restarts": "starts of the hyperparameter fit (2 from 500 observations; 10 for a kernel of several parts or with a learned period); default 3, 2 or 10.",
    "variance": "fixes the output variance of every term of the kernel, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.",
}
"""The description of each option."""

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike
    from typing import Any, Literal, TypedDict, Union

    from pandas import DataFrame
    from typing_extensions import Required

    SurrogateName = Literal["gp", "fsp-laplace", "auto", "gfsvi", "tfsvi", "gwi-net", "gwi-svgp", "fvi", "svgp", "laplace", "dkl", "rff", "ibnn", "ensemble", "map", "mfvi", "dropout", "vip", "hmc"]

    GPSurrogate = TypedDict(
        "GPSurrogate",
        {
            "name": Literal["gp"],
            "averaged": int,
            "exact": int,
            "isotropic": bool,
            "kernel": str,
            "lengthscale": Union[Union[float, Sequence[float]], Literal["learned"]],
            "mean": Literal["constant", "zero"],
            "noise": Union[float, Literal["learned"]],
            "restarts": int,
            "variance": Union[float, Literal["learned"]],
        },
        total=False,
    )
    """Gaussian process, exact up to 1500 observations."""

    FSPLaplaceSurrogate = TypedDict(
        "FSPLaplaceSurrogate",
        {
            "name": Required[Literal["fsp-laplace"]],
            "activation": Literal["tanh", "relu", "gelu", "erf", "sin"],
            "bias": float,
            "box": Literal["search", "data"],
            "context": int,
            "covariance-context": int,
            "factor": Literal["ridge", "cholesky", "lanczos"],
            "held-out": float,
            "hidden": Union[int, Sequence[int]],
            "isotropic": bool,
            "kernel": str,
            "lengthscale": Union[Union[float, Sequence[float]], Literal["learned"]],
            "mean": Literal["constant", "zero"],
            "noise": Union[float, Literal["learned"]],
            "noise-start": float,
            "preset": Literal["default", "published"],
            "rate": float,
            "restarts": int,
            "scaling": Literal["prior", "data"],
            "steps": int,
            "trainer": Literal["gauss-newton", "adam"],
            "variance": Union[float, Literal["learned"]],
        },
        total=False,
    )
    """Bayesian neural network with a Gaussian-process prior over functions, by FSP-Laplace."""

    AutoSurrogate = TypedDict(
        "AutoSurrogate",
        {
            "name": Required[Literal["auto"]],
            "isotropic": bool,
            "kernel": str,
            "lengthscale": Union[Union[float, Sequence[float]], Literal["learned"]],
            "mean": Literal["constant", "zero"],
            "noise": Union[float, Literal["learned"]],
            "restarts": int,
            "variance": Union[float, Literal["learned"]],
        },
        total=False,
    )
    """gp or fsp-laplace, selected by predictions of later observations."""

    GfsviSurrogate = TypedDict(
        "GfsviSurrogate",
        {
            "name": Required[Literal["gfsvi"]],
            "activation": Literal["tanh", "relu", "gelu", "erf", "sin"],
            "batch": int,
            "bias": float,
            "box": Literal["search", "data"],
            "context": int,
            "covariance": Literal["low-rank", "diagonal"],
            "gamma": float,
            "held-out": float,
            "hidden": Union[int, Sequence[int]],
            "isotropic": bool,
            "kernel": str,
            "lengthscale": Union[Union[float, Sequence[float]], Literal["learned"]],
            "mean": Literal["constant", "zero"],
            "measure": Literal["all", "box"],
            "noise": Union[float, Literal["learned"]],
            "preset": Literal["default", "published"],
            "prior-noise": bool,
            "rank": int,
            "rate": float,
            "restarts": int,
            "start": Literal["fitted", "random"],
            "steps": int,
            "variance": Union[float, Literal["learned"]],
        },
        total=False,
    )
    """Bayesian neural network with a Gaussian-process prior over functions, by generalised variational inference."""

    TfsviSurrogate = TypedDict(
        "TfsviSurrogate",
        {
            "name": Required[Literal["tfsvi"]],
            "activation": Literal["tanh", "relu", "gelu", "erf", "sin"],
            "batch": int,
            "bias": float,
            "box": Literal["search", "data"],
            "context": int,
            "covariance": Literal["output", "diagonal"],
            "divergence": Literal["full", "diagonal"],
            "draws": int,
            "hidden": Union[int, Sequence[int]],
            "jitter": float,
            "measure": Literal["half", "box"],
            "noise": Union[float, Literal["learned"]],
            "preset": Literal["default", "published"],
            "prior": Literal["bnn", "fixed"],
            "prior-scale": Union[float, Literal["learned"]],
            "rate": float,
            "samples": int,
            "sets": int,
            "spread": Union[float, Literal["learned"]],
            "start": Literal["fitted", "random"],
            "steps": int,
            "stop-gradient": bool,
        },
        total=False,
    )
    """Bayesian neural network by variational inference with a divergence between functions."""

    GWINETSurrogate = TypedDict(
        "GWINETSurrogate",
        {
            "name": Required[Literal["gwi-net"]],
            "activation": Literal["tanh", "relu", "gelu", "erf", "sin"],
            "batch": int,
            "bias": float,
            "distance": Literal["w2", "w2-squared"],
            "held-out": float,
            "hidden": Union[int, Sequence[int]],
            "inducing": int,
            "isotropic": bool,
            "kernel": str,
            "learn-noise": bool,
            "lengthscale": Union[Union[float, Sequence[float]], Literal["learned"]],
            "mean": Literal["constant", "zero"],
            "measure": Literal["all", "data"],
            "noise": Union[float, Literal["learned"]],
            "points": int,
            "preset": Literal["default", "published"],
            "rate": float,
            "restarts": int,
            "selection": Literal["kmeans", "pivoted"],
            "start": Literal["fitted", "random"],
            "steps": int,
            "variance": Union[float, Literal["learned"]],
        },
        total=False,
    )
    """network with the uncertainty of a sparse Gaussian process, by Gaussian Wasserstein inference."""

    GWISvgpSurrogate = TypedDict(
        "GWISvgpSurrogate",
        {
            "name": Required[Literal["gwi-svgp"]],
            "batch": int,
            "distance": Literal["w2", "w2-squared"],
            "held-out": float,
            "inducing": int,
            "isotropic": bool,
            "kernel": str,
            "learn-noise": bool,
            "lengthscale": Union[Union[float, Sequence[float]], Literal["learned"]],
            "mean": Literal["constant", "zero"],
            "measure": Literal["all", "data"],
            "noise": Union[float, Literal["learned"]],
            "points": int,
            "preset": Literal["default", "published"],
            "rate": float,
            "restarts": int,
            "selection": Literal["kmeans", "pivoted"],
            "steps": int,
            "variance": Union[float, Literal["learned"]],
        },
        total=False,
    )
    """sparse Gaussian process, by Gaussian Wasserstein inference."""

    FVISurrogate = TypedDict(
        "FVISurrogate",
        {
            "name": Required[Literal["fvi"]],
            "activation": Literal["tanh", "relu", "gelu", "erf", "sin"],
            "anneal": float,
            "batch": int,
            "bias": float,
            "box": Literal["search", "data"],
            "changes": float,
            "context": int,
            "draws": int,
            "eigenvalues": float,
            "hidden": Union[int, Sequence[int]],
            "inject": float,
            "isotropic": bool,
            "kernel": str,
            "lengthscale": Union[Union[float, Sequence[float]], Literal["learned"]],
            "mean": Literal["constant", "zero"],
            "noise": Union[float, Literal["learned"]],
            "preset": Literal["default", "published"],
            "prior": Literal["gp", "piecewise-constant", "piecewise-linear"],
            "range": Union[float, Sequence[float]],
            "rate": float,
            "restarts": int,
            "samples": int,
            "score": Literal["whitened", "plain"],
            "start": Literal["fitted", "random"],
            "steps": int,
            "variance": Union[float, Literal["learned"]],
            "weight": Literal["all", "batch"],
        },
        total=False,
    )
    """Bayesian neural network under any prior on functions that can be drawn from, by functional variational inference."""

    SvgpSurrogate = TypedDict(
        "SvgpSurrogate",
        {
            "name": Required[Literal["svgp"]],
            "batch": int,
            "bound": Literal["collapsed", "minibatch"],
            "inducing": int,
            "isotropic": bool,
            "kernel": str,
            "learn-inducing": bool,
            "lengthscale": Union[Union[float, Sequence[float]], Literal["learned"]],
            "mean": Literal["constant", "zero"],
            "noise": Union[float, Literal["learned"]],
            "rate": float,
            "restarts": int,
            "selection": Literal["kmeans", "pivoted"],
            "steps": int,
            "variance": Union[float, Literal["learned"]],
        },
        total=False,
    )
    """sparse variational Gaussian process, for many observations."""

    LaplaceSurrogate = TypedDict(
        "LaplaceSurrogate",
        {
            "name": Required[Literal["laplace"]],
            "activation": Literal["tanh", "relu", "gelu", "erf", "sin"],
            "batch": int,
            "curvature": Literal["full", "kron", "diagonal"],
            "held-out": float,
            "hidden": Union[int, Sequence[int]],
            "noise": Union[float, Literal["learned"]],
            "precision": Union[float, Literal["learned"]],
            "preset": Literal["default", "published"],
            "rate": float,
            "restarts": int,
            "steps": int,
            "trainer": Literal["gauss-newton", "adam"],
        },
        total=False,
    )
    """Bayesian neural network with a Gaussian prior on its weights, by the linearised Laplace approximation."""

    DKLSurrogate = TypedDict(
        "DKLSurrogate",
        {
            "name": Required[Literal["dkl"]],
            "activation": Literal["tanh", "relu", "gelu", "erf", "sin"],
            "batch": int,
            "decay": float,
            "features": int,
            "hidden": Union[int, Sequence[int]],
            "inducing": int,
            "isotropic": bool,
            "kernel": str,
            "lengthscale": Union[Union[float, Sequence[float]], Literal["learned"]],
            "mean": Literal["constant", "zero"],
            "noise": Union[float, Literal["learned"]],
            "pretrain": int,
            "rate": float,
            "restarts": int,
            "steps": int,
            "trainer": Literal["lbfgs", "adam"],
            "variance": Union[float, Literal["learned"]],
        },
        total=False,
    )
    """deep kernel learning: a Gaussian process on features of a neural network."""

    RFFSurrogate = TypedDict(
        "RFFSurrogate",
        {
            "name": Required[Literal["rff"]],
            "features": int,
            "isotropic": bool,
            "kernel": str,
            "lengthscale": Union[Union[float, Sequence[float]], Literal["learned"]],
            "mean": Literal["constant", "zero"],
            "noise": Union[float, Literal["learned"]],
            "restarts": int,
            "variance": Union[float, Literal["learned"]],
        },
        total=False,
    )
    """Bayesian linear regression on random features of a kernel."""

    IbnnSurrogate = TypedDict(
        "IbnnSurrogate",
        {
            "name": Required[Literal["ibnn"]],
            "bias": float,
            "depth": int,
            "learn": bool,
            "mean": Literal["constant", "zero"],
            "noise": Union[float, Literal["learned"]],
            "restarts": int,
            "weight": float,
        },
        total=False,
    )
    """infinitely wide Bayesian neural network: a Gaussian process with the arc-cosine kernel."""

    EnsembleSurrogate = TypedDict(
        "EnsembleSurrogate",
        {
            "name": Required[Literal["ensemble"]],
            "activation": Literal["tanh", "relu", "gelu", "erf", "sin"],
            "batch": int,
            "hidden": Union[int, Sequence[int]],
            "members": int,
            "noise": Union[float, Literal["learned"]],
            "precision": Union[float, Literal["learned"]],
            "rate": float,
            "steps": int,
            "subset": float,
            "trainer": Literal["gauss-newton", "adam"],
        },
        total=False,
    )
    """deep ensemble of independently initialised networks."""

    MAPSurrogate = TypedDict(
        "MAPSurrogate",
        {
            "name": Required[Literal["map"]],
            "activation": Literal["tanh", "relu", "gelu", "erf", "sin"],
            "batch": int,
            "hidden": Union[int, Sequence[int]],
            "noise": Union[float, Literal["learned"]],
            "precision": Union[float, Literal["learned"]],
            "rate": float,
            "steps": int,
            "trainer": Literal["gauss-newton", "adam"],
        },
        total=False,
    )
    """one network at a maximum of the posterior of its weights, without model uncertainty."""

    MfviSurrogate = TypedDict(
        "MfviSurrogate",
        {
            "name": Required[Literal["mfvi"]],
            "activation": Literal["tanh", "relu", "gelu", "erf", "sin"],
            "batch": int,
            "draws": int,
            "hidden": Union[int, Sequence[int]],
            "noise": Union[float, Literal["learned"]],
            "precision": Union[float, Literal["learned"]],
            "preset": Literal["default", "published"],
            "rate": float,
            "samples": int,
            "start": Literal["map", "random"],
            "steps": int,
        },
        total=False,
    )
    """Bayesian neural network with independent Gaussian weights, by variational inference."""

    DropoutSurrogate = TypedDict(
        "DropoutSurrogate",
        {
            "name": Required[Literal["dropout"]],
            "activation": Literal["tanh", "relu", "gelu", "erf", "sin"],
            "batch": int,
            "draws": int,
            "drop": float,
            "hidden": Union[int, Sequence[int]],
            "noise": Union[float, Literal["learned"]],
            "precision": Union[float, Literal["learned"]],
            "rate": float,
            "samples": int,
            "start": Literal["map", "random"],
            "steps": int,
        },
        total=False,
    )
    """neural network with Monte Carlo dropout."""

    VIPSurrogate = TypedDict(
        "VIPSurrogate",
        {
            "name": Required[Literal["vip"]],
            "activation": Literal["tanh", "relu", "gelu", "erf", "sin"],
            "functions": int,
            "hidden": Union[int, Sequence[int]],
            "noise": Union[float, Literal["learned"]],
            "prior": Literal["layers", "weights"],
            "steps": int,
        },
        total=False,
    )
    """variational implicit process: linear regression on functions drawn from a Bayesian neural network."""

    HMCSurrogate = TypedDict(
        "HMCSurrogate",
        {
            "name": Required[Literal["hmc"]],
            "accept": float,
            "activation": Literal["tanh", "relu", "gelu", "erf", "sin"],
            "chains": int,
            "depth": int,
            "draws": int,
            "hidden": Union[int, Sequence[int]],
            "noise": Union[float, Literal["learned"]],
            "precision": Union[float, Literal["learned"]],
            "samples": int,
            "start": Literal["map", "random"],
            "warmup": int,
        },
        total=False,
    )
    """Bayesian neural network sampled by Hamiltonian Monte Carlo, a slow reference."""

    Surrogate = Union[SurrogateName, GPSurrogate, FSPLaplaceSurrogate, AutoSurrogate, GfsviSurrogate, TfsviSurrogate, GWINETSurrogate, GWISvgpSurrogate, FVISurrogate, SvgpSurrogate, LaplaceSurrogate, DKLSurrogate, RFFSurrogate, IbnnSurrogate, EnsembleSurrogate, MAPSurrogate, MfviSurrogate, DropoutSurrogate, VIPSurrogate, HMCSurrogate]

    AcquisitionName = Literal["auto", "logei", "lognei", "ei", "pi", "lcb", "mes", "ts", "qei", "qlogei", "lognehvi", "lognparego"]

    AutoAcquisition = TypedDict(
        "AutoAcquisition",
        {
            "name": Literal["auto"],
            "joint": bool,
            "samples": int,
        },
        total=False,
    )
    """logei if the fitted noise is small, else lognei; lognehvi or lognparego for several objectives."""

    LogeiAcquisition = TypedDict(
        "LogeiAcquisition",
        {
            "name": Required[Literal["logei"]],
        },
        total=False,
    )
    """logarithm of the expected improvement."""

    LogneiAcquisition = TypedDict(
        "LogneiAcquisition",
        {
            "name": Required[Literal["lognei"]],
            "joint": bool,
            "samples": int,
        },
        total=False,
    )
    """qlogei for noisy observations: improvement on the sampled best of the evaluated points."""

    EIAcquisition = TypedDict(
        "EIAcquisition",
        {
            "name": Required[Literal["ei"]],
        },
        total=False,
    )
    """expected improvement."""

    PIAcquisition = TypedDict(
        "PIAcquisition",
        {
            "name": Required[Literal["pi"]],
        },
        total=False,
    )
    """probability of improvement."""

    LCBAcquisition = TypedDict(
        "LCBAcquisition",
        {
            "name": Required[Literal["lcb"]],
            "beta": float,
        },
        total=False,
    )
    """lower confidence bound."""

    MESAcquisition = TypedDict(
        "MESAcquisition",
        {
            "name": Required[Literal["mes"]],
            "samples": int,
        },
        total=False,
    )
    """max-value entropy search: information about the minimum."""

    TSAcquisition = TypedDict(
        "TSAcquisition",
        {
            "name": Required[Literal["ts"]],
        },
        total=False,
    )
    """Thompson sampling: the minimum of a function drawn from the posterior."""

    QEIAcquisition = TypedDict(
        "QEIAcquisition",
        {
            "name": Required[Literal["qei"]],
            "joint": bool,
            "samples": int,
        },
        total=False,
    )
    """expected improvement of a batch, by Monte Carlo."""

    QlogeiAcquisition = TypedDict(
        "QlogeiAcquisition",
        {
            "name": Required[Literal["qlogei"]],
            "joint": bool,
            "samples": int,
        },
        total=False,
    )
    """logarithm of the smoothed expected improvement of a batch, by Monte Carlo."""

    LognehviAcquisition = TypedDict(
        "LognehviAcquisition",
        {
            "name": Required[Literal["lognehvi"]],
            "samples": int,
        },
        total=False,
    )
    """logarithm of the noisy expected hypervolume improvement of two to four objectives."""

    LognparegoAcquisition = TypedDict(
        "LognparegoAcquisition",
        {
            "name": Required[Literal["lognparego"]],
            "samples": int,
        },
        total=False,
    )
    """lognei of a random scalarisation of several objectives."""

    Acquisition = Union[AcquisitionName, AutoAcquisition, LogeiAcquisition, LogneiAcquisition, EIAcquisition, PIAcquisition, LCBAcquisition, MESAcquisition, TSAcquisition, QEIAcquisition, QlogeiAcquisition, LognehviAcquisition, LognparegoAcquisition]

    Maximizer = TypedDict(
        "Maximizer",
        {
            "iterations": int,
            "raw": int,
            "starts": int,
        },
        total=False,
    )
    """Settings of the maximisation of the acquisition function."""

    Objective = TypedDict(
        "Objective",
        {
            "name": Required[str],
            "goal": Literal["minimize", "maximize"],
            "noise_free": bool,
            "noise_sd": float,
            "reference": float,
            "standard_error": str,
        },
        total=False,
    )
    """The number to optimise and the direction."""

    Stop = TypedDict(
        "Stop",
        {
            "eta": float,
            "max_steps": float,
            "min_steps": float,
            "rule": Required[Literal["none", "asha", "median"]],
            "startup": int,
        },
        total=False,
    )
    """Rule that stops poor trials early."""

    class MethodOptions(TypedDict, total=False):
        """Options of the method by which points are chosen."""

        acquisition: Acquisition
        """Acquisition function: a name, or a mapping with the name and settings."""
        design: Literal["sobol", "halton", "lhs", "uniform"]
        """Point set of the initial trials; default sobol."""
        local: Literal["auto", "none"]
        """Local search: auto, every second suggestion of gp comes from a model of the trials near the best one; none, all suggestions come from the model of all trials; default auto."""
        maximizer: Maximizer
        """Settings of the maximisation of the acquisition function."""
        surrogate: Surrogate
        """Surrogate model: a name, or a mapping with the name and settings."""
        warp: Literal["auto", "none"]
        """Output transform: auto, the logarithm of the distance to the best value if that raises the likelihood of the values enough and no prior is stated, and of numbers of outcome constraints about their bounds; none, no logarithm; default auto."""
        averaged: int
        """largest number of observations with which predictions that are shown are averaged over hyperparameters; 1 turns it off; default 40."""
        exact: int
        """largest number of observations with an exact posterior; with more, it is approximated with this number of inducing points; default 1500."""
        isotropic: bool
        """one lengthscale for all inputs instead of one per input; default false."""
        kernel: str
        """kernel expression, e.g. rbf*periodic+linear; default matern52."""
        lengthscale: Union[Union[float, Sequence[float]], Literal["learned"]]
        """fixes the lengthscales: one number, or one per input; default learned."""
        mean: Literal["constant", "zero"]
        """mean of the prior: constant, which is learned, or zero; default constant."""
        noise: Union[float, Literal["learned"]]
        """fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned."""
        restarts: int
        """starts of the hyperparameter fit (2 from 500 observations; 10 for a kernel of several parts or with a learned period); default 3, 2 or 10."""
        variance: Union[float, Literal["learned"]]
        """fixes the output variance of every term of the kernel, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned."""

    class Options(MethodOptions, total=False):
        """Options of a study and settings of the surrogate model."""

        batch: int
        """Number of trials suggested together; default none, and no worker waits for another."""
        budget: int
        """Total number of trials; default 50."""
        builtin: str
        """Name of a built-in objective, in place of a command and parameters."""
        command: Union[str, Sequence[str]]
        """Program to run for each trial, with {name} for the value of a parameter: a line, or the list of its arguments."""
        constraints: Sequence[str]
        """Conditions on the parameters that hold at every point, such as layers * width <= 4096."""
        defaults: Mapping[str, Any]
        """Value of each added parameter in trials that are older than the parameter."""
        earlier: Union[str, PathLike[str], Sequence[Mapping[str, Any]], DataFrame]
        """Evaluations made before the study, as a list or as the name of a CSV table: they do not count against the budget."""
        end: Any
        """Conditions that end a run before the budget is used up."""
        failures: Literal["expected"]
        """expected: failures of the first trials do not end a run."""
        first: Sequence[Mapping[str, Any]]
        """Points to try first, as mappings from parameters to values; parameters that are left out are completed by the initial design."""
        initial: int
        """Number of trials of the initial design; default 2 per parameter and 2, or 1 per parameter and 3 with several objectives; at most 20."""
        name: str
        """Name of the study: 1 to 100 letters, digits, dots, dashes and underscores."""
        objectives: Sequence[Union[str, Objective]]
        """The numbers to optimise; default {name: value, goal: minimize}."""
        optimum: Mapping[str, Mapping[str, Any]]
        """Belief about the optimum, by parameter: its density weighs the search, less with every trial."""
        prior_mean: str
        """Prior mean function of the objective, such as 3 + 2*log(x); default a constant that is estimated."""
        require: Sequence[str]
        """Outcome constraints on reported numbers, such as latency <= 20: learned from the trials."""
        seed: int
        """Seed of all random numbers: the same seed gives the same trials; default 0."""
        shell: bool
        """Run the command by the shell."""
        stop: Union[Literal["asha", "median", "none"], Stop]
        """Rule that stops poor trials early: a name, or a mapping with the rule and settings."""
        timeout: str
        """A trial that takes longer fails: a time such as 90s or 2h."""
        workers: int
        """Number of concurrent evaluations; default 1."""
        goal: Literal["minimize", "maximize"]
        """minimize or maximize."""
        noise_free: bool
        """Equal points have equal values."""
        noise_sd: float
        """Standard deviation of the noise of a value, in its unit, if it is known."""
        standard_error: str
        """Name of the reported number that is the standard error of a value."""
