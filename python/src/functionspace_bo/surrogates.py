"""Surrogate models in the convention of scikit-learn.

The parameters of an estimator are the settings of the surrogate model in `bo`, with _ for -; None
is the default. A setting with the name of a method has the suffix _setting. This module needs NumPy
and scikit-learn. Written by python/generate.py from the schema of study files. Do not edit.
"""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Union

from ._estimator import Classifier, Regressor

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class GaussianProcess(Regressor):
    """Gaussian process, exact up to 1500 observations.

    Args:
        averaged: largest number of observations with which predictions that are shown are averaged over hyperparameters; 1 turns it off; default 40.
        exact: largest number of observations with an exact posterior; with more, it is approximated with this number of inducing points; default 1500.
        isotropic: one lengthscale for all inputs instead of one per input; default false.
        kernel: kernel expression, e.g. rbf*periodic+linear; default matern52.
        lengthscale: fixes the lengthscales: one number, or one per input; default learned.
        mean: mean of the prior: constant, which is learned, or zero; default constant.
        noise: fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        restarts: starts of the hyperparameter fit (2 from 500 observations; 10 for a kernel of several parts or with a learned period); default 3, 2 or 10.
        variance: fixes the output variance of every term of the kernel, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        inputs: scaling of each input before the fit.
        bounds: bounds (min, max) of each input at which the model predicts; default the data.
        random_state: seed of all random numbers.
        outputs: scaling of the targets.
        noise_free: the targets are exact.
    """

    _name = "gp"

    def __init__(
        self,
        *,
        averaged: int | None = None,
        exact: int | None = None,
        isotropic: bool | None = None,
        kernel: str | None = None,
        lengthscale: Union[Union[float, Sequence[float]], Literal["learned"]] | None = None,
        mean: Literal["constant", "zero"] | None = None,
        noise: Union[float, Literal["learned"]] | None = None,
        restarts: int | None = None,
        variance: Union[float, Literal["learned"]] | None = None,
        inputs: Literal["raw", "unit", "zscore"] = "unit",
        bounds: ArrayLike | None = None,
        random_state: int | None = 0,
        outputs: Literal["raw", "zscore"] = "zscore",
        noise_free: bool = False,
    ) -> None:
        self.averaged = averaged
        self.exact = exact
        self.isotropic = isotropic
        self.kernel = kernel
        self.lengthscale = lengthscale
        self.mean = mean
        self.noise = noise
        self.restarts = restarts
        self.variance = variance
        self.inputs = inputs
        self.bounds = bounds
        self.random_state = random_state
        self.outputs = outputs
        self.noise_free = noise_free


class GaussianProcessClassifier(Classifier):
    """Gaussian process, exact up to 1500 observations for labels.

    Args:
        averaged: largest number of observations with which predictions that are shown are averaged over hyperparameters; 1 turns it off; default 40.
        exact: largest number of observations with an exact posterior; with more, it is approximated with this number of inducing points; default 1500.
        isotropic: one lengthscale for all inputs instead of one per input; default false.
        kernel: kernel expression, e.g. rbf*periodic+linear; default matern52.
        lengthscale: fixes the lengthscales: one number, or one per input; default learned.
        mean: mean of the prior: constant, which is learned, or zero; default constant.
        noise: fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        restarts: starts of the hyperparameter fit (2 from 500 observations; 10 for a kernel of several parts or with a learned period); default 3, 2 or 10.
        variance: fixes the output variance of every term of the kernel, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        inputs: scaling of each input before the fit.
        bounds: bounds (min, max) of each input at which the model predicts; default the data.
        random_state: seed of all random numbers.
    """

    _name = "gp"

    def __init__(
        self,
        *,
        averaged: int | None = None,
        exact: int | None = None,
        isotropic: bool | None = None,
        kernel: str | None = None,
        lengthscale: Union[Union[float, Sequence[float]], Literal["learned"]] | None = None,
        mean: Literal["constant", "zero"] | None = None,
        noise: Union[float, Literal["learned"]] | None = None,
        restarts: int | None = None,
        variance: Union[float, Literal["learned"]] | None = None,
        inputs: Literal["raw", "unit", "zscore"] = "unit",
        bounds: ArrayLike | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.averaged = averaged
        self.exact = exact
        self.isotropic = isotropic
        self.kernel = kernel
        self.lengthscale = lengthscale
        self.mean = mean
        self.noise = noise
        self.restarts = restarts
        self.variance = variance
        self.inputs = inputs
        self.bounds = bounds
        self.random_state = random_state


class FSPLaplace(Regressor):
    """Bayesian neural network with a Gaussian-process prior over functions, by FSP-Laplace.

    Args:
        activation: activation of the hidden units; default tanh.
        bias: standard deviation of the initial biases (published: 0); default 0.5.
        box: region of the context points: search, the search box and 5 % beyond; data, the range of the data and 50 % beyond (published: data); default search.
        context: context points in training (100 for up to 2 inputs, 225 for 3, 400 for more, for labels and for adam); default 100 to 400.
        covariance_context: context points for the covariance (lanczos: 10000); default context.
        factor: factor of the prior in the covariance (published: lanczos); default ridge.
        held_out: share of the observations that adam holds out to stop training early; with 0 the training observations stop it; default 0.
        hidden: widths of the hidden layers; default 50,50.
        isotropic: one lengthscale for all inputs instead of one per input (published: true); default false.
        kernel: kernel expression, e.g. rbf*periodic+linear; default matern52.
        lengthscale: fixes the lengthscales: one number, or one per input; default learned.
        mean: mean of the prior: constant, which is learned, or zero (published: zero); default constant.
        noise: fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        noise_start: initial noise standard deviation of adam; default 0.3.
        preset: default, or published: the algorithms and settings of the paper, except for settings beside it; default default.
        rate: learning rate of adam; default 0.005.
        restarts: starts of the hyperparameter fit (2 from 500 observations; 10 for a kernel of several parts or with a learned period); default 3, 2 or 10.
        scaling: scale of the network's inputs: prior, the distances over which the prior varies; data, unit standard deviation over the observations (published: data); default prior.
        steps: largest number of training steps (gauss-newton 25, adam 10000); default 25 or 10000.
        trainer: training method (published: adam); default gauss-newton.
        variance: fixes the output variance of every term of the kernel, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        inputs: scaling of each input before the fit.
        bounds: bounds (min, max) of each input at which the model predicts; default the data.
        random_state: seed of all random numbers.
        outputs: scaling of the targets.
        noise_free: the targets are exact.
    """

    _name = "fsp-laplace"

    def __init__(
        self,
        *,
        activation: Literal["tanh", "relu", "gelu", "erf", "sin"] | None = None,
        bias: float | None = None,
        box: Literal["search", "data"] | None = None,
        context: int | None = None,
        covariance_context: int | None = None,
        factor: Literal["ridge", "cholesky", "lanczos"] | None = None,
        held_out: float | None = None,
        hidden: Union[int, Sequence[int]] | None = None,
        isotropic: bool | None = None,
        kernel: str | None = None,
        lengthscale: Union[Union[float, Sequence[float]], Literal["learned"]] | None = None,
        mean: Literal["constant", "zero"] | None = None,
        noise: Union[float, Literal["learned"]] | None = None,
        noise_start: float | None = None,
        preset: Literal["default", "published"] | None = None,
        rate: float | None = None,
        restarts: int | None = None,
        scaling: Literal["prior", "data"] | None = None,
        steps: int | None = None,
        trainer: Literal["gauss-newton", "adam"] | None = None,
        variance: Union[float, Literal["learned"]] | None = None,
        inputs: Literal["raw", "unit", "zscore"] = "unit",
        bounds: ArrayLike | None = None,
        random_state: int | None = 0,
        outputs: Literal["raw", "zscore"] = "zscore",
        noise_free: bool = False,
    ) -> None:
        self.activation = activation
        self.bias = bias
        self.box = box
        self.context = context
        self.covariance_context = covariance_context
        self.factor = factor
        self.held_out = held_out
        self.hidden = hidden
        self.isotropic = isotropic
        self.kernel = kernel
        self.lengthscale = lengthscale
        self.mean = mean
        self.noise = noise
        self.noise_start = noise_start
        self.preset = preset
        self.rate = rate
        self.restarts = restarts
        self.scaling = scaling
        self.steps = steps
        self.trainer = trainer
        self.variance = variance
        self.inputs = inputs
        self.bounds = bounds
        self.random_state = random_state
        self.outputs = outputs
        self.noise_free = noise_free


class FSPLaplaceClassifier(Classifier):
    """Bayesian neural network with a Gaussian-process prior over functions, by FSP-Laplace for labels.

    Args:
        activation: activation of the hidden units; default tanh.
        bias: standard deviation of the initial biases (published: 0); default 0.5.
        box: region of the context points: search, the search box and 5 % beyond; data, the range of the data and 50 % beyond (published: data); default search.
        context: context points in training (100 for up to 2 inputs, 225 for 3, 400 for more, for labels and for adam); default 100 to 400.
        covariance_context: context points for the covariance (lanczos: 10000); default context.
        factor: factor of the prior in the covariance (published: lanczos); default ridge.
        held_out: share of the observations that adam holds out to stop training early; with 0 the training observations stop it; default 0.
        hidden: widths of the hidden layers; default 50,50.
        isotropic: one lengthscale for all inputs instead of one per input (published: true); default false.
        kernel: kernel expression, e.g. rbf*periodic+linear; default matern52.
        lengthscale: fixes the lengthscales: one number, or one per input; default learned.
        mean: mean of the prior: constant, which is learned, or zero (published: zero); default constant.
        noise: fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        noise_start: initial noise standard deviation of adam; default 0.3.
        preset: default, or published: the algorithms and settings of the paper, except for settings beside it; default default.
        rate: learning rate of adam; default 0.005.
        restarts: starts of the hyperparameter fit (2 from 500 observations; 10 for a kernel of several parts or with a learned period); default 3, 2 or 10.
        scaling: scale of the network's inputs: prior, the distances over which the prior varies; data, unit standard deviation over the observations (published: data); default prior.
        steps: largest number of training steps (gauss-newton 25, adam 10000); default 25 or 10000.
        trainer: training method (published: adam); default gauss-newton.
        variance: fixes the output variance of every term of the kernel, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        inputs: scaling of each input before the fit.
        bounds: bounds (min, max) of each input at which the model predicts; default the data.
        random_state: seed of all random numbers.
    """

    _name = "fsp-laplace"

    def __init__(
        self,
        *,
        activation: Literal["tanh", "relu", "gelu", "erf", "sin"] | None = None,
        bias: float | None = None,
        box: Literal["search", "data"] | None = None,
        context: int | None = None,
        covariance_context: int | None = None,
        factor: Literal["ridge", "cholesky", "lanczos"] | None = None,
        held_out: float | None = None,
        hidden: Union[int, Sequence[int]] | None = None,
        isotropic: bool | None = None,
        kernel: str | None = None,
        lengthscale: Union[Union[float, Sequence[float]], Literal["learned"]] | None = None,
        mean: Literal["constant", "zero"] | None = None,
        noise: Union[float, Literal["learned"]] | None = None,
        noise_start: float | None = None,
        preset: Literal["default", "published"] | None = None,
        rate: float | None = None,
        restarts: int | None = None,
        scaling: Literal["prior", "data"] | None = None,
        steps: int | None = None,
        trainer: Literal["gauss-newton", "adam"] | None = None,
        variance: Union[float, Literal["learned"]] | None = None,
        inputs: Literal["raw", "unit", "zscore"] = "unit",
        bounds: ArrayLike | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.activation = activation
        self.bias = bias
        self.box = box
        self.context = context
        self.covariance_context = covariance_context
        self.factor = factor
        self.held_out = held_out
        self.hidden = hidden
        self.isotropic = isotropic
        self.kernel = kernel
        self.lengthscale = lengthscale
        self.mean = mean
        self.noise = noise
        self.noise_start = noise_start
        self.preset = preset
        self.rate = rate
        self.restarts = restarts
        self.scaling = scaling
        self.steps = steps
        self.trainer = trainer
        self.variance = variance
        self.inputs = inputs
        self.bounds = bounds
        self.random_state = random_state


class Auto(Regressor):
    """gp or fsp-laplace, selected by predictions of later observations.

    Args:
        isotropic: one lengthscale for all inputs instead of one per input; default false.
        kernel: kernel expression, e.g. rbf*periodic+linear; default matern52.
        lengthscale: fixes the lengthscales: one number, or one per input; default learned.
        mean: mean of the prior: constant, which is learned, or zero; default constant.
        noise: fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        restarts: starts of the hyperparameter fit (2 from 500 observations; 10 for a kernel of several parts or with a learned period); default 3, 2 or 10.
        variance: fixes the output variance of every term of the kernel, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        inputs: scaling of each input before the fit.
        bounds: bounds (min, max) of each input at which the model predicts; default the data.
        random_state: seed of all random numbers.
        outputs: scaling of the targets.
        noise_free: the targets are exact.
    """

    _name = "auto"

    def __init__(
        self,
        *,
        isotropic: bool | None = None,
        kernel: str | None = None,
        lengthscale: Union[Union[float, Sequence[float]], Literal["learned"]] | None = None,
        mean: Literal["constant", "zero"] | None = None,
        noise: Union[float, Literal["learned"]] | None = None,
        restarts: int | None = None,
        variance: Union[float, Literal["learned"]] | None = None,
        inputs: Literal["raw", "unit", "zscore"] = "unit",
        bounds: ArrayLike | None = None,
        random_state: int | None = 0,
        outputs: Literal["raw", "zscore"] = "zscore",
        noise_free: bool = False,
    ) -> None:
        self.isotropic = isotropic
        self.kernel = kernel
        self.lengthscale = lengthscale
        self.mean = mean
        self.noise = noise
        self.restarts = restarts
        self.variance = variance
        self.inputs = inputs
        self.bounds = bounds
        self.random_state = random_state
        self.outputs = outputs
        self.noise_free = noise_free


class GFSVI(Regressor):
    """Bayesian neural network with a Gaussian-process prior over functions, by generalised variational inference.

    Args:
        activation: activation of the hidden units; default tanh.
        batch: observations in a step (published: 2000); default 500.
        bias: standard deviation of the initial biases (published: 0); default 0.5.
        box: region of the measurement points: search, the search box and 5 % beyond; data, the range of the data and 50 % beyond (published: data); default search.
        context: measurement points drawn from the box at each step (published: 500); default 100.
        covariance: covariance of the weights: low-rank, and a diagonal; diagonal (published: diagonal); default low-rank.
        gamma: regularisation of the divergence (published: 1e-10); default 1e-6.
        held_out: share of the observations held out to stop training early; 0 is none (published: 0.1); default 0.
        hidden: widths of the hidden layers (published: 30,30 and 100,100); default 30,30.
        isotropic: one lengthscale for all inputs instead of one per input; default false.
        kernel: kernel expression, e.g. rbf*periodic+linear; default matern52.
        lengthscale: fixes the lengthscales: one number, or one per input; default learned.
        mean: mean of the prior: constant, which is learned, or zero (published: zero); default constant.
        measure: measurement points of the divergence: all, points of the box and training inputs; box, points of the box only (published: box); default all.
        noise: fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        preset: default, or published: the algorithm and settings of the paper, except for settings beside it; default default.
        prior_noise: keep the noise variance of the prior's fit instead of learning it with the weights; default false.
        rank: columns of the low-rank part, with covariance=low-rank; default 100.
        rate: initial learning rate (fitted start: low-rank 0.0003, diagonal 0.003; random start: 0.005); default 0.0003, 0.003 or 0.005.
        restarts: starts of the hyperparameter fit (2 from 500 observations; 10 for a kernel of several parts or with a learned period); default 3, 2 or 10.
        start: initial distribution of the weights: fitted to the data, or random (published: random); default fitted.
        steps: training steps (fitted start: low-rank 100, diagonal 300, and a fifth of the observations up to 1000; random start: 10000); default 100, 300 or 10000.
        variance: fixes the output variance of every term of the kernel, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        inputs: scaling of each input before the fit.
        bounds: bounds (min, max) of each input at which the model predicts; default the data.
        random_state: seed of all random numbers.
        outputs: scaling of the targets.
        noise_free: the targets are exact.
    """

    _name = "gfsvi"

    def __init__(
        self,
        *,
        activation: Literal["tanh", "relu", "gelu", "erf", "sin"] | None = None,
        batch: int | None = None,
        bias: float | None = None,
        box: Literal["search", "data"] | None = None,
        context: int | None = None,
        covariance: Literal["low-rank", "diagonal"] | None = None,
        gamma: float | None = None,
        held_out: float | None = None,
        hidden: Union[int, Sequence[int]] | None = None,
        isotropic: bool | None = None,
        kernel: str | None = None,
        lengthscale: Union[Union[float, Sequence[float]], Literal["learned"]] | None = None,
        mean: Literal["constant", "zero"] | None = None,
        measure: Literal["all", "box"] | None = None,
        noise: Union[float, Literal["learned"]] | None = None,
        preset: Literal["default", "published"] | None = None,
        prior_noise: bool | None = None,
        rank: int | None = None,
        rate: float | None = None,
        restarts: int | None = None,
        start: Literal["fitted", "random"] | None = None,
        steps: int | None = None,
        variance: Union[float, Literal["learned"]] | None = None,
        inputs: Literal["raw", "unit", "zscore"] = "unit",
        bounds: ArrayLike | None = None,
        random_state: int | None = 0,
        outputs: Literal["raw", "zscore"] = "zscore",
        noise_free: bool = False,
    ) -> None:
        self.activation = activation
        self.batch = batch
        self.bias = bias
        self.box = box
        self.context = context
        self.covariance = covariance
        self.gamma = gamma
        self.held_out = held_out
        self.hidden = hidden
        self.isotropic = isotropic
        self.kernel = kernel
        self.lengthscale = lengthscale
        self.mean = mean
        self.measure = measure
        self.noise = noise
        self.preset = preset
        self.prior_noise = prior_noise
        self.rank = rank
        self.rate = rate
        self.restarts = restarts
        self.start = start
        self.steps = steps
        self.variance = variance
        self.inputs = inputs
        self.bounds = bounds
        self.random_state = random_state
        self.outputs = outputs
        self.noise_free = noise_free


class GFSVIClassifier(Classifier):
    """Bayesian neural network with a Gaussian-process prior over functions, by generalised variational inference for labels.

    Args:
        activation: activation of the hidden units; default tanh.
        batch: observations in a step (published: 2000); default 500.
        bias: standard deviation of the initial biases (published: 0); default 0.5.
        box: region of the measurement points: search, the search box and 5 % beyond; data, the range of the data and 50 % beyond (published: data); default search.
        context: measurement points drawn from the box at each step (published: 500); default 100.
        covariance: covariance of the weights: low-rank, and a diagonal; diagonal (published: diagonal); default low-rank.
        gamma: regularisation of the divergence (published: 1e-10); default 1e-6.
        held_out: share of the observations held out to stop training early; 0 is none (published: 0.1); default 0.
        hidden: widths of the hidden layers (published: 30,30 and 100,100); default 30,30.
        isotropic: one lengthscale for all inputs instead of one per input; default false.
        kernel: kernel expression, e.g. rbf*periodic+linear; default matern52.
        lengthscale: fixes the lengthscales: one number, or one per input; default learned.
        mean: mean of the prior: constant, which is learned, or zero (published: zero); default constant.
        measure: measurement points of the divergence: all, points of the box and training inputs; box, points of the box only (published: box); default all.
        noise: fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        preset: default, or published: the algorithm and settings of the paper, except for settings beside it; default default.
        prior_noise: keep the noise variance of the prior's fit instead of learning it with the weights; default false.
        rank: columns of the low-rank part, with covariance=low-rank; default 100.
        rate: initial learning rate (fitted start: low-rank 0.0003, diagonal 0.003; random start: 0.005); default 0.0003, 0.003 or 0.005.
        restarts: starts of the hyperparameter fit (2 from 500 observations; 10 for a kernel of several parts or with a learned period); default 3, 2 or 10.
        start: initial distribution of the weights: fitted to the data, or random (published: random); default fitted.
        steps: training steps (fitted start: low-rank 100, diagonal 300, and a fifth of the observations up to 1000; random start: 10000); default 100, 300 or 10000.
        variance: fixes the output variance of every term of the kernel, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        inputs: scaling of each input before the fit.
        bounds: bounds (min, max) of each input at which the model predicts; default the data.
        random_state: seed of all random numbers.
    """

    _name = "gfsvi"

    def __init__(
        self,
        *,
        activation: Literal["tanh", "relu", "gelu", "erf", "sin"] | None = None,
        batch: int | None = None,
        bias: float | None = None,
        box: Literal["search", "data"] | None = None,
        context: int | None = None,
        covariance: Literal["low-rank", "diagonal"] | None = None,
        gamma: float | None = None,
        held_out: float | None = None,
        hidden: Union[int, Sequence[int]] | None = None,
        isotropic: bool | None = None,
        kernel: str | None = None,
        lengthscale: Union[Union[float, Sequence[float]], Literal["learned"]] | None = None,
        mean: Literal["constant", "zero"] | None = None,
        measure: Literal["all", "box"] | None = None,
        noise: Union[float, Literal["learned"]] | None = None,
        preset: Literal["default", "published"] | None = None,
        prior_noise: bool | None = None,
        rank: int | None = None,
        rate: float | None = None,
        restarts: int | None = None,
        start: Literal["fitted", "random"] | None = None,
        steps: int | None = None,
        variance: Union[float, Literal["learned"]] | None = None,
        inputs: Literal["raw", "unit", "zscore"] = "unit",
        bounds: ArrayLike | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.activation = activation
        self.batch = batch
        self.bias = bias
        self.box = box
        self.context = context
        self.covariance = covariance
        self.gamma = gamma
        self.held_out = held_out
        self.hidden = hidden
        self.isotropic = isotropic
        self.kernel = kernel
        self.lengthscale = lengthscale
        self.mean = mean
        self.measure = measure
        self.noise = noise
        self.preset = preset
        self.prior_noise = prior_noise
        self.rank = rank
        self.rate = rate
        self.restarts = restarts
        self.start = start
        self.steps = steps
        self.variance = variance
        self.inputs = inputs
        self.bounds = bounds
        self.random_state = random_state


class TFSVI(Regressor):
    """Bayesian neural network by variational inference with a divergence between functions.

    Args:
        activation: activation of the hidden units; default tanh.
        batch: observations in a step (published: 1000000); default 500.
        bias: standard deviation of the initial hidden biases, in the first layer relative to spread (published: 0); default 0.5.
        box: region of the context points: search, the search box and 5 % beyond; data, the range of the data and 50 % beyond (published: data); default search.
        context: points of a context set (published: 10); default 20.
        covariance: covariance of the weights: output, full for the output layer and diagonal for the others; diagonal (published: diagonal); default output.
        divergence: divergence from the prior at the context points: full, of the joint Gaussians; diagonal, summed over the marginals (published: diagonal); default full.
        draws: draws of the weights for the likelihood at each step; default 5.
        hidden: widths of the hidden layers (published: 100,100); default 200.
        jitter: variance added to both sides of the divergence (full 1e-3, diagonal 1e-10); default 1e-3 or 1e-10.
        measure: context points: half of them training inputs, or all in the box; default half.
        noise: fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit (published: 0.01); default learned.
        preset: default, or published: the algorithm and settings of the paper, except for settings beside it; default default.
        prior: prior on functions: bnn, induced by normal weights; fixed, independent normal values (published: fixed); default bnn.
        prior_scale: standard deviation of the prior: of the weights (bnn; learned, or 0.2 if spread is not learned) or of the values (fixed; 1) (published: 3.1622776601683795); default learned or 1.
        rate: initial learning rate (0.03 after the regression, else 0.01); it falls along a cosine, or is constant as published (published: 0.0005); default 0.03 or 0.01.
        samples: networks drawn for predictions; default 100.
        sets: context sets drawn at each step; the set with the largest divergence enters the objective; default 1.
        spread: half the width of the box in the network's inputs (5 with a random start or a diagonal covariance; published: inputs have unit standard deviation); default learned.
        start: initial distribution of the weights: fitted to the data, or random (published: random); default fitted.
        steps: training steps of Adam (300; 1500 beyond 500 observations, with a random start or with a diagonal covariance; the last two take 500 from a warm start) (published: 200000); default 300 or 1500.
        stop_gradient: omit the gradient through the Jacobian; default false.
        inputs: scaling of each input before the fit.
        bounds: bounds (min, max) of each input at which the model predicts; default the data.
        random_state: seed of all random numbers.
        outputs: scaling of the targets.
        noise_free: the targets are exact.
    """

    _name = "tfsvi"

    def __init__(
        self,
        *,
        activation: Literal["tanh", "relu", "gelu", "erf", "sin"] | None = None,
        batch: int | None = None,
        bias: float | None = None,
        box: Literal["search", "data"] | None = None,
        context: int | None = None,
        covariance: Literal["output", "diagonal"] | None = None,
        divergence: Literal["full", "diagonal"] | None = None,
        draws: int | None = None,
        hidden: Union[int, Sequence[int]] | None = None,
        jitter: float | None = None,
        measure: Literal["half", "box"] | None = None,
        noise: Union[float, Literal["learned"]] | None = None,
        preset: Literal["default", "published"] | None = None,
        prior: Literal["bnn", "fixed"] | None = None,
        prior_scale: Union[float, Literal["learned"]] | None = None,
        rate: float | None = None,
        samples: int | None = None,
        sets: int | None = None,
        spread: Union[float, Literal["learned"]] | None = None,
        start: Literal["fitted", "random"] | None = None,
        steps: int | None = None,
        stop_gradient: bool | None = None,
        inputs: Literal["raw", "unit", "zscore"] = "unit",
        bounds: ArrayLike | None = None,
        random_state: int | None = 0,
        outputs: Literal["raw", "zscore"] = "zscore",
        noise_free: bool = False,
    ) -> None:
        self.activation = activation
        self.batch = batch
        self.bias = bias
        self.box = box
        self.context = context
        self.covariance = covariance
        self.divergence = divergence
        self.draws = draws
        self.hidden = hidden
        self.jitter = jitter
        self.measure = measure
        self.noise = noise
        self.preset = preset
        self.prior = prior
        self.prior_scale = prior_scale
        self.rate = rate
        self.samples = samples
        self.sets = sets
        self.spread = spread
        self.start = start
        self.steps = steps
        self.stop_gradient = stop_gradient
        self.inputs = inputs
        self.bounds = bounds
        self.random_state = random_state
        self.outputs = outputs
        self.noise_free = noise_free


class GWINet(Regressor):
    """network with the uncertainty of a sparse Gaussian process, by Gaussian Wasserstein inference.

    Args:
        activation: activation of the hidden units; default tanh.
        batch: observations in a step; default 1000.
        bias: standard deviation of the initial biases (published: 0); default 0.5.
        distance: Wasserstein distance from the prior in the loss; default w2.
        held_out: share of the observations held out to choose the number of steps and a temperature of the predictive variance; 0 is none (published: 0.1); default 0.
        hidden: widths of the hidden layers (published: 10,10); default 50,50.
        inducing: largest number of inducing points (published: square root of the number of observations); default 300.
        isotropic: one lengthscale for all inputs instead of one per input; default false.
        kernel: kernel expression, e.g. rbf*periodic+linear (published: rbf); default matern52.
        learn_noise: train the noise variance with the weights instead of keeping the fitted value; default false.
        lengthscale: fixes the lengthscales: one number, or one per input; default learned.
        mean: mean of the prior: constant, which is learned, or zero (published: zero); default constant.
        measure: points at which the distance is measured: all, training inputs and as many points of the search box; data, training inputs alone (published: data); default all.
        noise: fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        points: largest number of points at which the distance is measured; default 100.
        preset: default, or published: the algorithm and settings of the paper, except for settings beside it; default default.
        rate: learning rate at first (fitted start: 0.001; random start: 0.01), lowered to a hundredth along a cosine, or constant as published (published: 0.01); default 0.001 or 0.01.
        restarts: starts of the hyperparameter fit (2 from 500 observations; 10 for a kernel of several parts or with a learned period); default 3, 2 or 10.
        selection: choice of inducing points: kmeans, centres of clusters; pivoted, largest remaining variance (published: random observations for any value); default kmeans.
        start: initial network: fitted to the mean of the sparse process, or random (published: random); default fitted.
        steps: training steps (fitted start: 100, and a twentieth of the observations; random start: 1000; published: 1000 passes through the data); default 100 or 1000.
        variance: fixes the output variance of every term of the kernel, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        inputs: scaling of each input before the fit.
        bounds: bounds (min, max) of each input at which the model predicts; default the data.
        random_state: seed of all random numbers.
        outputs: scaling of the targets.
        noise_free: the targets are exact.
    """

    _name = "gwi-net"

    def __init__(
        self,
        *,
        activation: Literal["tanh", "relu", "gelu", "erf", "sin"] | None = None,
        batch: int | None = None,
        bias: float | None = None,
        distance: Literal["w2", "w2-squared"] | None = None,
        held_out: float | None = None,
        hidden: Union[int, Sequence[int]] | None = None,
        inducing: int | None = None,
        isotropic: bool | None = None,
        kernel: str | None = None,
        learn_noise: bool | None = None,
        lengthscale: Union[Union[float, Sequence[float]], Literal["learned"]] | None = None,
        mean: Literal["constant", "zero"] | None = None,
        measure: Literal["all", "data"] | None = None,
        noise: Union[float, Literal["learned"]] | None = None,
        points: int | None = None,
        preset: Literal["default", "published"] | None = None,
        rate: float | None = None,
        restarts: int | None = None,
        selection: Literal["kmeans", "pivoted"] | None = None,
        start: Literal["fitted", "random"] | None = None,
        steps: int | None = None,
        variance: Union[float, Literal["learned"]] | None = None,
        inputs: Literal["raw", "unit", "zscore"] = "unit",
        bounds: ArrayLike | None = None,
        random_state: int | None = 0,
        outputs: Literal["raw", "zscore"] = "zscore",
        noise_free: bool = False,
    ) -> None:
        self.activation = activation
        self.batch = batch
        self.bias = bias
        self.distance = distance
        self.held_out = held_out
        self.hidden = hidden
        self.inducing = inducing
        self.isotropic = isotropic
        self.kernel = kernel
        self.learn_noise = learn_noise
        self.lengthscale = lengthscale
        self.mean = mean
        self.measure = measure
        self.noise = noise
        self.points = points
        self.preset = preset
        self.rate = rate
        self.restarts = restarts
        self.selection = selection
        self.start = start
        self.steps = steps
        self.variance = variance
        self.inputs = inputs
        self.bounds = bounds
        self.random_state = random_state
        self.outputs = outputs
        self.noise_free = noise_free


class GWISVGP(Regressor):
    """sparse Gaussian process, by Gaussian Wasserstein inference.

    Args:
        batch: observations in a step; default 1000.
        distance: Wasserstein distance from the prior in the loss; default w2.
        held_out: share of the observations held out to choose the number of steps and a temperature of the predictive variance; 0 is none (published: 0.1); default 0.
        inducing: largest number of inducing points (published: square root of the number of observations); default 300.
        isotropic: one lengthscale for all inputs instead of one per input; default false.
        kernel: kernel expression, e.g. rbf*periodic+linear (published: rbf); default matern52.
        learn_noise: train the noise variance with the weights instead of keeping the fitted value; default false.
        lengthscale: fixes the lengthscales: one number, or one per input; default learned.
        mean: mean of the prior: constant, which is learned, or zero (published: zero); default constant.
        measure: points at which the distance is measured: all, training inputs and as many points of the search box; data, training inputs alone (published: data); default all.
        noise: fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        points: largest number of points at which the distance is measured; default 100.
        preset: default, or published: the algorithm and settings of the paper, except for settings beside it; default default.
        rate: learning rate at first (fitted start: 0.001; random start: 0.01), lowered to a hundredth along a cosine, or constant as published (published: 0.01); default 0.001 or 0.01.
        restarts: starts of the hyperparameter fit (2 from 500 observations; 10 for a kernel of several parts or with a learned period); default 3, 2 or 10.
        selection: choice of inducing points: kmeans, centres of clusters; pivoted, largest remaining variance (published: random observations for any value); default kmeans.
        steps: training steps (fitted start: 100, and a twentieth of the observations; random start: 1000; published: 1000 passes through the data); default 100 or 1000.
        variance: fixes the output variance of every term of the kernel, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        inputs: scaling of each input before the fit.
        bounds: bounds (min, max) of each input at which the model predicts; default the data.
        random_state: seed of all random numbers.
        outputs: scaling of the targets.
        noise_free: the targets are exact.
    """

    _name = "gwi-svgp"

    def __init__(
        self,
        *,
        batch: int | None = None,
        distance: Literal["w2", "w2-squared"] | None = None,
        held_out: float | None = None,
        inducing: int | None = None,
        isotropic: bool | None = None,
        kernel: str | None = None,
        learn_noise: bool | None = None,
        lengthscale: Union[Union[float, Sequence[float]], Literal["learned"]] | None = None,
        mean: Literal["constant", "zero"] | None = None,
        measure: Literal["all", "data"] | None = None,
        noise: Union[float, Literal["learned"]] | None = None,
        points: int | None = None,
        preset: Literal["default", "published"] | None = None,
        rate: float | None = None,
        restarts: int | None = None,
        selection: Literal["kmeans", "pivoted"] | None = None,
        steps: int | None = None,
        variance: Union[float, Literal["learned"]] | None = None,
        inputs: Literal["raw", "unit", "zscore"] = "unit",
        bounds: ArrayLike | None = None,
        random_state: int | None = 0,
        outputs: Literal["raw", "zscore"] = "zscore",
        noise_free: bool = False,
    ) -> None:
        self.batch = batch
        self.distance = distance
        self.held_out = held_out
        self.inducing = inducing
        self.isotropic = isotropic
        self.kernel = kernel
        self.learn_noise = learn_noise
        self.lengthscale = lengthscale
        self.mean = mean
        self.measure = measure
        self.noise = noise
        self.points = points
        self.preset = preset
        self.rate = rate
        self.restarts = restarts
        self.selection = selection
        self.steps = steps
        self.variance = variance
        self.inputs = inputs
        self.bounds = bounds
        self.random_state = random_state
        self.outputs = outputs
        self.noise_free = noise_free


class FVI(Regressor):
    """Bayesian neural network under any prior on functions that can be drawn from, by functional variational inference.

    Args:
        activation: activation of the hidden units (published: relu); default tanh.
        anneal: share of the steps in which the likelihood's weight rises from 0 (in the paper 0.5 for optimisation); default 0.
        batch: observations in a step; default 20.
        bias: standard deviation of the initial biases (published: 0); default 1.
        box: region of the measurement points: search, the search box and 5 % beyond; data, the range of the data and 50 % beyond (published: data); default search.
        changes: mean number of changes of a piecewise prior along an input; default 3.
        context: measurement points drawn from the box at each step, in addition to the batch (published: 5); default 20.
        draws: functions drawn at each step (published: 100); default 50.
        eigenvalues: share of the kernel's trace in the eigenvalues that the score estimator uses (in the paper 0.9 for piecewise priors); default 0.99.
        hidden: widths of the hidden layers (published: 50); default 30,30.
        inject: standard deviation of the noise injected into function values; default 0.01.
        isotropic: one lengthscale for all inputs instead of one per input; default false.
        kernel: kernel expression, e.g. rbf*periodic+linear (published: rbf); default matern52.
        lengthscale: fixes the lengthscales: one number, or one per input; default learned.
        mean: mean of the prior: constant, which is learned, or zero (published: zero); default constant.
        noise: fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        preset: default, or published: the algorithm and settings of the paper, except for settings beside it; default default.
        prior: prior on functions; default gp.
        range: two numbers: the values of a piecewise prior are uniform between them (in the paper: 0,1); default -1.7320508075688772,1.7320508075688772.
        rate: initial learning rate (0.003; 0.01 beyond 1000 observations, unless the start is random), ten times as large for log s after a fitted start; it falls along a cosine, or is constant as published (published: 0.001); default 0.003 or 0.01.
        restarts: starts of the hyperparameter fit (2 from 500 observations; 10 for a kernel of several parts or with a learned period); default 3, 2 or 10.
        samples: networks drawn for predictions; default 100.
        score_setting: estimate of scores from samples (published: plain); default whitened.
        start: initial distribution of the weights: fitted to the process or the data, or random (published: random); default fitted.
        steps: training steps of Adam (200; 600 for a piecewise prior; beyond 1000 observations one for each, from 4000 to 10000; 10000 with a random start; half of these from a warm start; published: 2000 passes through the data); default 200 to 10000.
        variance: fixes the output variance of every term of the kernel, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        weight: weight of the likelihood of a batch: all, number of observations over batch size; batch, 1 (published: batch); default all.
        inputs: scaling of each input before the fit.
        bounds: bounds (min, max) of each input at which the model predicts; default the data.
        random_state: seed of all random numbers.
        outputs: scaling of the targets.
        noise_free: the targets are exact.
    """

    _name = "fvi"

    def __init__(
        self,
        *,
        activation: Literal["tanh", "relu", "gelu", "erf", "sin"] | None = None,
        anneal: float | None = None,
        batch: int | None = None,
        bias: float | None = None,
        box: Literal["search", "data"] | None = None,
        changes: float | None = None,
        context: int | None = None,
        draws: int | None = None,
        eigenvalues: float | None = None,
        hidden: Union[int, Sequence[int]] | None = None,
        inject: float | None = None,
        isotropic: bool | None = None,
        kernel: str | None = None,
        lengthscale: Union[Union[float, Sequence[float]], Literal["learned"]] | None = None,
        mean: Literal["constant", "zero"] | None = None,
        noise: Union[float, Literal["learned"]] | None = None,
        preset: Literal["default", "published"] | None = None,
        prior: Literal["gp", "piecewise-constant", "piecewise-linear"] | None = None,
        range: Union[float, Sequence[float]] | None = None,
        rate: float | None = None,
        restarts: int | None = None,
        samples: int | None = None,
        score_setting: Literal["whitened", "plain"] | None = None,
        start: Literal["fitted", "random"] | None = None,
        steps: int | None = None,
        variance: Union[float, Literal["learned"]] | None = None,
        weight: Literal["all", "batch"] | None = None,
        inputs: Literal["raw", "unit", "zscore"] = "unit",
        bounds: ArrayLike | None = None,
        random_state: int | None = 0,
        outputs: Literal["raw", "zscore"] = "zscore",
        noise_free: bool = False,
    ) -> None:
        self.activation = activation
        self.anneal = anneal
        self.batch = batch
        self.bias = bias
        self.box = box
        self.changes = changes
        self.context = context
        self.draws = draws
        self.eigenvalues = eigenvalues
        self.hidden = hidden
        self.inject = inject
        self.isotropic = isotropic
        self.kernel = kernel
        self.lengthscale = lengthscale
        self.mean = mean
        self.noise = noise
        self.preset = preset
        self.prior = prior
        self.range = range
        self.rate = rate
        self.restarts = restarts
        self.samples = samples
        self.score_setting = score_setting
        self.start = start
        self.steps = steps
        self.variance = variance
        self.weight = weight
        self.inputs = inputs
        self.bounds = bounds
        self.random_state = random_state
        self.outputs = outputs
        self.noise_free = noise_free


class SVGP(Regressor):
    """sparse variational Gaussian process, for many observations.

    Args:
        batch: observations of a minibatch; default 1000.
        bound: objective: collapsed, all data at every step (up to 10000 observations); minibatch, a part of the data; default by size.
        inducing: largest number of inducing points (a seventh of the observations, from 300 to 1000; 300 beyond 10000 observations); default 300 to 1000.
        isotropic: one lengthscale for all inputs instead of one per input; default false.
        kernel: kernel expression, e.g. rbf*periodic+linear; default matern52.
        learn_inducing: optimise the inducing points together with the hyperparameters; default false.
        lengthscale: fixes the lengthscales: one number, or one per input; default learned.
        mean: mean of the prior: constant, which is learned, or zero; default constant.
        noise: fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        rate: learning rate of adam on minibatches; default 0.01.
        restarts: starts of the hyperparameter fit (2 from 500 observations; 10 for a kernel of several parts or with a learned period); default 3, 2 or 10.
        selection: inducing points: kmeans, centres of clusters; pivoted, points of largest remaining variance; default kmeans.
        steps: largest number of steps (collapsed 100, minibatch 1000); default 100 or 1000.
        variance: fixes the output variance of every term of the kernel, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        inputs: scaling of each input before the fit.
        bounds: bounds (min, max) of each input at which the model predicts; default the data.
        random_state: seed of all random numbers.
        outputs: scaling of the targets.
        noise_free: the targets are exact.
    """

    _name = "svgp"

    def __init__(
        self,
        *,
        batch: int | None = None,
        bound: Literal["collapsed", "minibatch"] | None = None,
        inducing: int | None = None,
        isotropic: bool | None = None,
        kernel: str | None = None,
        learn_inducing: bool | None = None,
        lengthscale: Union[Union[float, Sequence[float]], Literal["learned"]] | None = None,
        mean: Literal["constant", "zero"] | None = None,
        noise: Union[float, Literal["learned"]] | None = None,
        rate: float | None = None,
        restarts: int | None = None,
        selection: Literal["kmeans", "pivoted"] | None = None,
        steps: int | None = None,
        variance: Union[float, Literal["learned"]] | None = None,
        inputs: Literal["raw", "unit", "zscore"] = "unit",
        bounds: ArrayLike | None = None,
        random_state: int | None = 0,
        outputs: Literal["raw", "zscore"] = "zscore",
        noise_free: bool = False,
    ) -> None:
        self.batch = batch
        self.bound = bound
        self.inducing = inducing
        self.isotropic = isotropic
        self.kernel = kernel
        self.learn_inducing = learn_inducing
        self.lengthscale = lengthscale
        self.mean = mean
        self.noise = noise
        self.rate = rate
        self.restarts = restarts
        self.selection = selection
        self.steps = steps
        self.variance = variance
        self.inputs = inputs
        self.bounds = bounds
        self.random_state = random_state
        self.outputs = outputs
        self.noise_free = noise_free


class Laplace(Regressor):
    """Bayesian neural network with a Gaussian prior on its weights, by the linearised Laplace approximation.

    Args:
        activation: activation of the hidden units; default tanh.
        batch: observations in a step of adam; default 500.
        curvature: approximation of the Hessian: full; kron, Kronecker factors for each layer; diagonal; default full.
        held_out: share of the observations that preset=published holds out to stop training early; with 0 the training observations stop it; default 0.
        hidden: widths of the hidden layers; default 50,50.
        noise: fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        precision: fixes the precision of the Gaussian prior on the weights (published: 1); default learned.
        preset: default, or published: the baseline of the FSP-Laplace paper, except for settings beside it; default default.
        rate: learning rate of adam, by default lowered to 0 along a cosine, with the published preset constant; default 0.005.
        restarts: number of training runs, of which the fit keeps the run with the largest evidence (2 up to 1000 observations, else 1); a warm start replaces the first run (published: 1); default 2 or 1.
        steps: largest number of training steps (gauss-newton 100; adam two for each observation, from 5000 to 20000) (published: 10000); default 100, or 5000 to 20000.
        trainer: training method (gauss-newton up to 1000 observations, adam beyond) (published: adam); default by size.
        inputs: scaling of each input before the fit.
        bounds: bounds (min, max) of each input at which the model predicts; default the data.
        random_state: seed of all random numbers.
        outputs: scaling of the targets.
        noise_free: the targets are exact.
    """

    _name = "laplace"

    def __init__(
        self,
        *,
        activation: Literal["tanh", "relu", "gelu", "erf", "sin"] | None = None,
        batch: int | None = None,
        curvature: Literal["full", "kron", "diagonal"] | None = None,
        held_out: float | None = None,
        hidden: Union[int, Sequence[int]] | None = None,
        noise: Union[float, Literal["learned"]] | None = None,
        precision: Union[float, Literal["learned"]] | None = None,
        preset: Literal["default", "published"] | None = None,
        rate: float | None = None,
        restarts: int | None = None,
        steps: int | None = None,
        trainer: Literal["gauss-newton", "adam"] | None = None,
        inputs: Literal["raw", "unit", "zscore"] = "unit",
        bounds: ArrayLike | None = None,
        random_state: int | None = 0,
        outputs: Literal["raw", "zscore"] = "zscore",
        noise_free: bool = False,
    ) -> None:
        self.activation = activation
        self.batch = batch
        self.curvature = curvature
        self.held_out = held_out
        self.hidden = hidden
        self.noise = noise
        self.precision = precision
        self.preset = preset
        self.rate = rate
        self.restarts = restarts
        self.steps = steps
        self.trainer = trainer
        self.inputs = inputs
        self.bounds = bounds
        self.random_state = random_state
        self.outputs = outputs
        self.noise_free = noise_free


class LaplaceClassifier(Classifier):
    """Bayesian neural network with a Gaussian prior on its weights, by the linearised Laplace approximation for labels.

    Args:
        activation: activation of the hidden units; default tanh.
        batch: observations in a step of adam; default 500.
        curvature: approximation of the Hessian: full; kron, Kronecker factors for each layer; diagonal; default full.
        held_out: share of the observations that preset=published holds out to stop training early; with 0 the training observations stop it; default 0.
        hidden: widths of the hidden layers; default 50,50.
        noise: fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        precision: fixes the precision of the Gaussian prior on the weights (published: 1); default learned.
        preset: default, or published: the baseline of the FSP-Laplace paper, except for settings beside it; default default.
        rate: learning rate of adam, by default lowered to 0 along a cosine, with the published preset constant; default 0.005.
        restarts: number of training runs, of which the fit keeps the run with the largest evidence (2 up to 1000 observations, else 1); a warm start replaces the first run (published: 1); default 2 or 1.
        steps: largest number of training steps (gauss-newton 100; adam two for each observation, from 5000 to 20000) (published: 10000); default 100, or 5000 to 20000.
        trainer: training method (gauss-newton up to 1000 observations, adam beyond) (published: adam); default by size.
        inputs: scaling of each input before the fit.
        bounds: bounds (min, max) of each input at which the model predicts; default the data.
        random_state: seed of all random numbers.
    """

    _name = "laplace"

    def __init__(
        self,
        *,
        activation: Literal["tanh", "relu", "gelu", "erf", "sin"] | None = None,
        batch: int | None = None,
        curvature: Literal["full", "kron", "diagonal"] | None = None,
        held_out: float | None = None,
        hidden: Union[int, Sequence[int]] | None = None,
        noise: Union[float, Literal["learned"]] | None = None,
        precision: Union[float, Literal["learned"]] | None = None,
        preset: Literal["default", "published"] | None = None,
        rate: float | None = None,
        restarts: int | None = None,
        steps: int | None = None,
        trainer: Literal["gauss-newton", "adam"] | None = None,
        inputs: Literal["raw", "unit", "zscore"] = "unit",
        bounds: ArrayLike | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.activation = activation
        self.batch = batch
        self.curvature = curvature
        self.held_out = held_out
        self.hidden = hidden
        self.noise = noise
        self.precision = precision
        self.preset = preset
        self.rate = rate
        self.restarts = restarts
        self.steps = steps
        self.trainer = trainer
        self.inputs = inputs
        self.bounds = bounds
        self.random_state = random_state


class DKL(Regressor):
    """deep kernel learning: a Gaussian process on features of a neural network.

    Args:
        activation: activation of the hidden units (published: relu); default tanh.
        batch: observations in a step of adam; default 250.
        decay: precision of the prior on the scaled weights, which limits overfitting (published: 0); default 1.
        features: number of features; by default the network's output is added to each input (published: 2); default one per input.
        hidden: widths of the hidden layers (published: 1000,500,50); default 50,50.
        inducing: largest number of inducing points on the features, beyond 1000 observations; default 300.
        isotropic: one lengthscale for all inputs instead of one per input; default false.
        kernel: kernel expression, e.g. rbf*periodic+linear; default matern52.
        lengthscale: fixes the lengthscales: one number, or one per input; default learned.
        mean: mean of the prior: constant, which is learned, or zero; default constant.
        noise: fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        pretrain: steps of adam on squared errors first, through a linear output that is dropped; features must be set; default 0.
        rate: learning rate of adam, lowered to 0 along a cosine; default 0.005.
        restarts: starts of the hyperparameter fit (2 from 500 observations; 10 for a kernel of several parts or with a learned period); default 3, 2 or 10.
        steps: largest number of training steps (lbfgs 200, adam 1000); default 200 or 1000.
        trainer: training method: lbfgs, all data at every step (up to 500 observations); adam, as published; default by size.
        variance: fixes the output variance of every term of the kernel, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        inputs: scaling of each input before the fit.
        bounds: bounds (min, max) of each input at which the model predicts; default the data.
        random_state: seed of all random numbers.
        outputs: scaling of the targets.
        noise_free: the targets are exact.
    """

    _name = "dkl"

    def __init__(
        self,
        *,
        activation: Literal["tanh", "relu", "gelu", "erf", "sin"] | None = None,
        batch: int | None = None,
        decay: float | None = None,
        features: int | None = None,
        hidden: Union[int, Sequence[int]] | None = None,
        inducing: int | None = None,
        isotropic: bool | None = None,
        kernel: str | None = None,
        lengthscale: Union[Union[float, Sequence[float]], Literal["learned"]] | None = None,
        mean: Literal["constant", "zero"] | None = None,
        noise: Union[float, Literal["learned"]] | None = None,
        pretrain: int | None = None,
        rate: float | None = None,
        restarts: int | None = None,
        steps: int | None = None,
        trainer: Literal["lbfgs", "adam"] | None = None,
        variance: Union[float, Literal["learned"]] | None = None,
        inputs: Literal["raw", "unit", "zscore"] = "unit",
        bounds: ArrayLike | None = None,
        random_state: int | None = 0,
        outputs: Literal["raw", "zscore"] = "zscore",
        noise_free: bool = False,
    ) -> None:
        self.activation = activation
        self.batch = batch
        self.decay = decay
        self.features = features
        self.hidden = hidden
        self.inducing = inducing
        self.isotropic = isotropic
        self.kernel = kernel
        self.lengthscale = lengthscale
        self.mean = mean
        self.noise = noise
        self.pretrain = pretrain
        self.rate = rate
        self.restarts = restarts
        self.steps = steps
        self.trainer = trainer
        self.variance = variance
        self.inputs = inputs
        self.bounds = bounds
        self.random_state = random_state
        self.outputs = outputs
        self.noise_free = noise_free


class RFF(Regressor):
    """Bayesian linear regression on random features of a kernel.

    Args:
        features: number of random features; default 500.
        isotropic: one lengthscale for all inputs instead of one per input; default false.
        kernel: kernel expression, e.g. rbf*periodic+linear; default matern52.
        lengthscale: fixes the lengthscales: one number, or one per input; default learned.
        mean: mean of the prior: constant, which is learned, or zero; default constant.
        noise: fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        restarts: starts of the hyperparameter fit (2 from 500 observations; 10 for a kernel of several parts or with a learned period); default 3, 2 or 10.
        variance: fixes the output variance of every term of the kernel, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        inputs: scaling of each input before the fit.
        bounds: bounds (min, max) of each input at which the model predicts; default the data.
        random_state: seed of all random numbers.
        outputs: scaling of the targets.
        noise_free: the targets are exact.
    """

    _name = "rff"

    def __init__(
        self,
        *,
        features: int | None = None,
        isotropic: bool | None = None,
        kernel: str | None = None,
        lengthscale: Union[Union[float, Sequence[float]], Literal["learned"]] | None = None,
        mean: Literal["constant", "zero"] | None = None,
        noise: Union[float, Literal["learned"]] | None = None,
        restarts: int | None = None,
        variance: Union[float, Literal["learned"]] | None = None,
        inputs: Literal["raw", "unit", "zscore"] = "unit",
        bounds: ArrayLike | None = None,
        random_state: int | None = 0,
        outputs: Literal["raw", "zscore"] = "zscore",
        noise_free: bool = False,
    ) -> None:
        self.features = features
        self.isotropic = isotropic
        self.kernel = kernel
        self.lengthscale = lengthscale
        self.mean = mean
        self.noise = noise
        self.restarts = restarts
        self.variance = variance
        self.inputs = inputs
        self.bounds = bounds
        self.random_state = random_state
        self.outputs = outputs
        self.noise_free = noise_free


class IBNN(Regressor):
    """infinitely wide Bayesian neural network: a Gaussian process with the arc-cosine kernel.

    Args:
        bias: variance of the biases (published: 1.6 for 200 inputs and more); default 1.3.
        depth: hidden layers; default 3.
        learn: fit the variances of weights and biases to the data; default false.
        mean: mean of the prior: constant, which is learned, or zero; default constant.
        noise: fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        restarts: starts of the hyperparameter fit (2 from 500 observations); default 3 or 2.
        weight: variance of the weights times their fan-in; default 10.
        inputs: scaling of each input before the fit.
        bounds: bounds (min, max) of each input at which the model predicts; default the data.
        random_state: seed of all random numbers.
        outputs: scaling of the targets.
        noise_free: the targets are exact.
    """

    _name = "ibnn"

    def __init__(
        self,
        *,
        bias: float | None = None,
        depth: int | None = None,
        learn: bool | None = None,
        mean: Literal["constant", "zero"] | None = None,
        noise: Union[float, Literal["learned"]] | None = None,
        restarts: int | None = None,
        weight: float | None = None,
        inputs: Literal["raw", "unit", "zscore"] = "unit",
        bounds: ArrayLike | None = None,
        random_state: int | None = 0,
        outputs: Literal["raw", "zscore"] = "zscore",
        noise_free: bool = False,
    ) -> None:
        self.bias = bias
        self.depth = depth
        self.learn = learn
        self.mean = mean
        self.noise = noise
        self.restarts = restarts
        self.weight = weight
        self.inputs = inputs
        self.bounds = bounds
        self.random_state = random_state
        self.outputs = outputs
        self.noise_free = noise_free


class Ensemble(Regressor):
    """deep ensemble of independently initialised networks.

    Args:
        activation: activation of the hidden units; default tanh.
        batch: observations in a step of adam; default 500.
        hidden: widths of the hidden layers; default 50,50.
        members: number of networks; default 10.
        noise: fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        precision: fixes the precision of the Gaussian prior on the weights; default learned.
        rate: learning rate of adam, lowered to 0 along a cosine; default 0.005.
        steps: largest number of training steps (gauss-newton 100; adam two for each observation, from 5000 to 20000); default 100, or 5000 to 20000.
        subset: share of the observations on which each network trains (published: 0.8); default 1.
        trainer: training method (gauss-newton up to 1000 observations, adam beyond); default by size.
        inputs: scaling of each input before the fit.
        bounds: bounds (min, max) of each input at which the model predicts; default the data.
        random_state: seed of all random numbers.
        outputs: scaling of the targets.
        noise_free: the targets are exact.
    """

    _name = "ensemble"

    def __init__(
        self,
        *,
        activation: Literal["tanh", "relu", "gelu", "erf", "sin"] | None = None,
        batch: int | None = None,
        hidden: Union[int, Sequence[int]] | None = None,
        members: int | None = None,
        noise: Union[float, Literal["learned"]] | None = None,
        precision: Union[float, Literal["learned"]] | None = None,
        rate: float | None = None,
        steps: int | None = None,
        subset: float | None = None,
        trainer: Literal["gauss-newton", "adam"] | None = None,
        inputs: Literal["raw", "unit", "zscore"] = "unit",
        bounds: ArrayLike | None = None,
        random_state: int | None = 0,
        outputs: Literal["raw", "zscore"] = "zscore",
        noise_free: bool = False,
    ) -> None:
        self.activation = activation
        self.batch = batch
        self.hidden = hidden
        self.members = members
        self.noise = noise
        self.precision = precision
        self.rate = rate
        self.steps = steps
        self.subset = subset
        self.trainer = trainer
        self.inputs = inputs
        self.bounds = bounds
        self.random_state = random_state
        self.outputs = outputs
        self.noise_free = noise_free


class MAP(Regressor):
    """one network at a maximum of the posterior of its weights, without model uncertainty.

    Args:
        activation: activation of the hidden units; default tanh.
        batch: observations in a step of adam; default 500.
        hidden: widths of the hidden layers; default 50,50.
        noise: fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        precision: fixes the precision of the Gaussian prior on the weights; default learned.
        rate: learning rate of adam, lowered to 0 along a cosine; default 0.005.
        steps: largest number of training steps (gauss-newton 100; adam two for each observation, from 5000 to 20000); default 100, or 5000 to 20000.
        trainer: training method (gauss-newton up to 1000 observations, adam beyond); default by size.
        inputs: scaling of each input before the fit.
        bounds: bounds (min, max) of each input at which the model predicts; default the data.
        random_state: seed of all random numbers.
        outputs: scaling of the targets.
        noise_free: the targets are exact.
    """

    _name = "map"

    def __init__(
        self,
        *,
        activation: Literal["tanh", "relu", "gelu", "erf", "sin"] | None = None,
        batch: int | None = None,
        hidden: Union[int, Sequence[int]] | None = None,
        noise: Union[float, Literal["learned"]] | None = None,
        precision: Union[float, Literal["learned"]] | None = None,
        rate: float | None = None,
        steps: int | None = None,
        trainer: Literal["gauss-newton", "adam"] | None = None,
        inputs: Literal["raw", "unit", "zscore"] = "unit",
        bounds: ArrayLike | None = None,
        random_state: int | None = 0,
        outputs: Literal["raw", "zscore"] = "zscore",
        noise_free: bool = False,
    ) -> None:
        self.activation = activation
        self.batch = batch
        self.hidden = hidden
        self.noise = noise
        self.precision = precision
        self.rate = rate
        self.steps = steps
        self.trainer = trainer
        self.inputs = inputs
        self.bounds = bounds
        self.random_state = random_state
        self.outputs = outputs
        self.noise_free = noise_free


class MFVI(Regressor):
    """Bayesian neural network with independent Gaussian weights, by variational inference.

    Args:
        activation: activation of the hidden units; default tanh.
        batch: observations in a step (published: 2000); default 500.
        draws: networks drawn at each step (published: 10); default 4.
        hidden: widths of the hidden layers (published: 30,30); default 50,50.
        noise: fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        precision: fixes the precision of the Gaussian prior on the weights (published: 1.7777777777777777); default learned.
        preset: default, or published: the baseline of the GFSVI paper, except for settings beside it; default default.
        rate: learning rate, by default lowered to 0 along a cosine, with the published preset constant; default 0.005.
        samples: number of networks in the posterior; default 100.
        start: initial weights: a maximum of the posterior (map), or random (published: random); default map.
        steps: training steps of adam (published: 10000); default 1000.
        inputs: scaling of each input before the fit.
        bounds: bounds (min, max) of each input at which the model predicts; default the data.
        random_state: seed of all random numbers.
        outputs: scaling of the targets.
        noise_free: the targets are exact.
    """

    _name = "mfvi"

    def __init__(
        self,
        *,
        activation: Literal["tanh", "relu", "gelu", "erf", "sin"] | None = None,
        batch: int | None = None,
        draws: int | None = None,
        hidden: Union[int, Sequence[int]] | None = None,
        noise: Union[float, Literal["learned"]] | None = None,
        precision: Union[float, Literal["learned"]] | None = None,
        preset: Literal["default", "published"] | None = None,
        rate: float | None = None,
        samples: int | None = None,
        start: Literal["map", "random"] | None = None,
        steps: int | None = None,
        inputs: Literal["raw", "unit", "zscore"] = "unit",
        bounds: ArrayLike | None = None,
        random_state: int | None = 0,
        outputs: Literal["raw", "zscore"] = "zscore",
        noise_free: bool = False,
    ) -> None:
        self.activation = activation
        self.batch = batch
        self.draws = draws
        self.hidden = hidden
        self.noise = noise
        self.precision = precision
        self.preset = preset
        self.rate = rate
        self.samples = samples
        self.start = start
        self.steps = steps
        self.inputs = inputs
        self.bounds = bounds
        self.random_state = random_state
        self.outputs = outputs
        self.noise_free = noise_free


class Dropout(Regressor):
    """neural network with Monte Carlo dropout.

    Args:
        activation: activation of the hidden units; default tanh.
        batch: observations in a step; default 500.
        draws: networks drawn at each step; default 4.
        drop: probability that a hidden unit is set to 0; default 0.05.
        hidden: widths of the hidden layers; default 50,50.
        noise: fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        precision: fixes the precision of the Gaussian prior on the weights; default learned.
        rate: learning rate, lowered to 0 along a cosine; default 0.005.
        samples: number of networks in the posterior; default 100.
        start: initial weights: map, a maximum of the posterior; random, as published; default map.
        steps: training steps of adam; default 1000.
        inputs: scaling of each input before the fit.
        bounds: bounds (min, max) of each input at which the model predicts; default the data.
        random_state: seed of all random numbers.
        outputs: scaling of the targets.
        noise_free: the targets are exact.
    """

    _name = "dropout"

    def __init__(
        self,
        *,
        activation: Literal["tanh", "relu", "gelu", "erf", "sin"] | None = None,
        batch: int | None = None,
        draws: int | None = None,
        drop: float | None = None,
        hidden: Union[int, Sequence[int]] | None = None,
        noise: Union[float, Literal["learned"]] | None = None,
        precision: Union[float, Literal["learned"]] | None = None,
        rate: float | None = None,
        samples: int | None = None,
        start: Literal["map", "random"] | None = None,
        steps: int | None = None,
        inputs: Literal["raw", "unit", "zscore"] = "unit",
        bounds: ArrayLike | None = None,
        random_state: int | None = 0,
        outputs: Literal["raw", "zscore"] = "zscore",
        noise_free: bool = False,
    ) -> None:
        self.activation = activation
        self.batch = batch
        self.draws = draws
        self.drop = drop
        self.hidden = hidden
        self.noise = noise
        self.precision = precision
        self.rate = rate
        self.samples = samples
        self.start = start
        self.steps = steps
        self.inputs = inputs
        self.bounds = bounds
        self.random_state = random_state
        self.outputs = outputs
        self.noise_free = noise_free


class VIP(Regressor):
    """variational implicit process: linear regression on functions drawn from a Bayesian neural network.

    Args:
        activation: activation of the hidden units; default tanh.
        functions: number of functions drawn from the prior (100; 500 beyond 1000 observations); default 100 or 500.
        hidden: widths of the hidden layers; default 20,20.
        noise: fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        prior: learned prior: layers, a scale for the weights and one for the biases of each layer; weights, a mean and a scale for each weight (as published); default layers.
        steps: largest number of iterations on the evidence; default 50.
        inputs: scaling of each input before the fit.
        bounds: bounds (min, max) of each input at which the model predicts; default the data.
        random_state: seed of all random numbers.
        outputs: scaling of the targets.
        noise_free: the targets are exact.
    """

    _name = "vip"

    def __init__(
        self,
        *,
        activation: Literal["tanh", "relu", "gelu", "erf", "sin"] | None = None,
        functions: int | None = None,
        hidden: Union[int, Sequence[int]] | None = None,
        noise: Union[float, Literal["learned"]] | None = None,
        prior: Literal["layers", "weights"] | None = None,
        steps: int | None = None,
        inputs: Literal["raw", "unit", "zscore"] = "unit",
        bounds: ArrayLike | None = None,
        random_state: int | None = 0,
        outputs: Literal["raw", "zscore"] = "zscore",
        noise_free: bool = False,
    ) -> None:
        self.activation = activation
        self.functions = functions
        self.hidden = hidden
        self.noise = noise
        self.prior = prior
        self.steps = steps
        self.inputs = inputs
        self.bounds = bounds
        self.random_state = random_state
        self.outputs = outputs
        self.noise_free = noise_free


class HMC(Regressor):
    """Bayesian neural network sampled by Hamiltonian Monte Carlo, a slow reference.

    Args:
        accept: target of the mean acceptance probability; default 0.8.
        activation: activation of the hidden units; default tanh.
        chains: number of chains; default 4.
        depth: a trajectory has fewer than 2^depth steps; default 8.
        draws: draws of a chain after warm-up; default 100.
        hidden: widths of the hidden layers; default 50.
        noise: fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit; default learned.
        precision: fixes the precision of the Gaussian prior on the weights; default learned.
        samples: largest number of networks in the posterior; default 100.
        start: start of a chain: map, its own local maximum of the posterior; random, initial weights of training; default map.
        warmup: draws of a chain to adapt step size and mass, which are discarded; default 100.
        inputs: scaling of each input before the fit.
        bounds: bounds (min, max) of each input at which the model predicts; default the data.
        random_state: seed of all random numbers.
        outputs: scaling of the targets.
        noise_free: the targets are exact.
    """

    _name = "hmc"

    def __init__(
        self,
        *,
        accept: float | None = None,
        activation: Literal["tanh", "relu", "gelu", "erf", "sin"] | None = None,
        chains: int | None = None,
        depth: int | None = None,
        draws: int | None = None,
        hidden: Union[int, Sequence[int]] | None = None,
        noise: Union[float, Literal["learned"]] | None = None,
        precision: Union[float, Literal["learned"]] | None = None,
        samples: int | None = None,
        start: Literal["map", "random"] | None = None,
        warmup: int | None = None,
        inputs: Literal["raw", "unit", "zscore"] = "unit",
        bounds: ArrayLike | None = None,
        random_state: int | None = 0,
        outputs: Literal["raw", "zscore"] = "zscore",
        noise_free: bool = False,
    ) -> None:
        self.accept = accept
        self.activation = activation
        self.chains = chains
        self.depth = depth
        self.draws = draws
        self.hidden = hidden
        self.noise = noise
        self.precision = precision
        self.samples = samples
        self.start = start
        self.warmup = warmup
        self.inputs = inputs
        self.bounds = bounds
        self.random_state = random_state
        self.outputs = outputs
        self.noise_free = noise_free


__all__ = [
    "Auto",
    "DKL",
    "Dropout",
    "Ensemble",
    "FSPLaplace",
    "FSPLaplaceClassifier",
    "FVI",
    "GFSVI",
    "GFSVIClassifier",
    "GWINet",
    "GWISVGP",
    "GaussianProcess",
    "GaussianProcessClassifier",
    "HMC",
    "IBNN",
    "Laplace",
    "LaplaceClassifier",
    "MAP",
    "MFVI",
    "RFF",
    "SVGP",
    "TFSVI",
    "VIP",
]
