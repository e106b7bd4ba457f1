// Package fvi implements functional variational inference of a Bayesian neural network,
// fBNN (Sun, Zhang, Shi and Grosse, ICLR 2019, arXiv:1903.05779). The prior is a
// distribution over functions, for which samples are sufficient.
//
// The weights of a network f(·,w): R^d → R have the variational distribution
// q(w) = N(m, diag s²). Training maximises, over m, s and the noise σ,
//
//	(n/B) Σ_batch E_q[ log N(y_i | f(x_i), σ²) ] - KL( q(f(C)) * N(0, γ²I) ‖ p(f(C)) * N(0, γ²I) )
//
// (eq. 10 of the paper, whose first term has no factor n/B, and appendix B.1) at measurement
// points C, new at each step: the batch and uniform points of the box. Noise of standard
// deviation γ is added to both distributions. The density of q(f(C)) has no closed form. With k
// functions f_i drawn from q, the gradient of the divergence is
//
//	(1/k) Σ_i (∂f_i/∂(m,s))ᵀ ( ∇ log q(f_i) - ∇ log p(f_i) )
//
// (eq. 7). The spectral Stein gradient estimator (Shi, Sun and Zhu, ICML 2018,
// arXiv:1806.02925) estimates ∇ log q from the f_i. For a Gaussian process ∇ log p is
// -(K + γ²I)⁻¹(f - μ). For any other prior, a [Sampler], it is estimated in the same way
// from draws: of random piecewise constant or linear functions (appendix E.1), or of a
// prior written in Go.
//
// The posterior is a fixed number of networks drawn from q, in pairs m ± s∘ε. Mean and
// covariance are their moments, and a path is one of them.
//
// # Differences from the authors' code and settings by default
//
//   - Scores are estimated in coordinates in which the samples have unit covariance, and
//     scaled so that Stein's identity holds. The published estimate is about right for a
//     few independent values. With 100 samples of N(0,I_d) it is 0.8 times the score at d = 20 and 0.4 times at
//     d = 100. For strongly correlated values, as of a smooth function, it is smaller. The posterior variance
//     shrinks with it. The field Score selects the published estimator.
//   - The log likelihood of a batch is multiplied by n/B. The published bound contains
//     the batch alone.
//   - Training starts near the optimum: m starts at a Levenberg–Marquardt fit to the mean
//     of the exact process given the data, s at the optimum of the network linearised
//     there. With a prior of draws m is fitted to the data alone. Training takes 200
//     steps with a rate that decreases along a cosine.
//   - The noise variance is learned, with the value of the prior's fit as lower bound.
//   - Piecewise priors have values uniform around 0 with variance 1, for standardised
//     targets. A piecewise linear function has a free value at its upper end, which is 0
//     in the paper. In several dimensions the functions are sums over the inputs.
//   - Inputs are scaled to the prior's lengthscales, hidden biases start spread over the
//     scaled box, and hidden units are tanh.
//
// With the preset "published" of [Model] the fit is Algorithm 1 of the paper, with the settings of
// its small regression datasets.
package fvi
