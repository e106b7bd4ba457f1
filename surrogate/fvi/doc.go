// Package fvi is a Bayesian neural network fitted by functional variational
// inference, fBNN (Sun, Zhang, Shi and Grosse, ICLR 2019, arXiv:1903.05779): its
// prior is on functions, and may be one of which there are draws alone.
//
// The weights of a network f(·,w): R^d → R have the variational distribution
// q(w) = N(m, diag s²). Training maximises, over m, s and the noise σ,
//
//	(n/B) Σ_batch E_q[ log N(y_i | f(x_i), σ²) ] - KL( q(f(C)) * N(0, γ²I) ‖ p(f(C)) * N(0, γ²I) )
//
// (eq. 10 of the paper and appendix B.1) at measurement points C, new at each step:
// the batch and uniform points of the box. Both sides have noise of standard
// deviation γ injected. The distribution q(f(C)) has no density that one could
// write down. Of k functions f_i drawn with it, the divergence has the gradient
//
//	(1/k) Σ_i (∂f_i/∂(m,s))ᵀ ( ∇ log q(f_i) - ∇ log p(f_i) )
//
// (eq. 7). ∇ log q is estimated from the f_i themselves by the spectral Stein
// gradient estimator (Shi, Sun and Zhu, ICML 2018, arXiv:1806.02925). ∇ log p is
// known for a Gaussian process, -(K + γ²I)⁻¹(f - μ), and estimated in the same way
// from draws of any other prior, a [Sampler]: here random piecewise constant or
// linear functions (appendix E.1), or one written in Go.
//
// The posterior is a fixed number of networks drawn from q, in pairs m ± s∘ε. Its
// mean and covariance are theirs, and each of its paths is one of them: functions
// that are coherent over the whole box.
//
// # What differs from the authors' code, and from their settings, by default
//
//   - Scores are estimated in coordinates in which the samples have unit
//     covariance, and multiplied by the number with which Stein's identity holds
//     for them. As published the estimate is about right for a few independent
//     values; of 100 samples of N(0,I_d) it has 0.8 of the score at d = 20 and 0.4
//     at d = 100, and less of values as dependent as those of smooth functions, and
//     the posterior's variance shrinks with it. Score brings the published one back.
//   - The likelihood of a batch stands for all observations (n/B). The published
//     bound is that of the batch alone.
//   - Training starts near the optimum: m goes by Levenberg–Marquardt steps to the
//     mean of the exact process given the data, s to the optimum for the network
//     linearised there; under a prior of draws m goes to the data alone. It takes
//     200 steps from there at a rate that falls along a cosine.
//   - The noise is learned, and never less than in the prior's fit.
//   - Piecewise priors have values uniform around 0 with variance 1, for
//     standardised targets, and a free value at the upper end of a piecewise linear
//     function, which the paper holds at 0. In several dimensions they are sums over
//     the inputs.
//   - Inputs are scaled to the prior's lengthscales, hidden biases start spread over
//     the scaled box, and hidden units are tanh.
package fvi
