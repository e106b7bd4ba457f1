package runner

import (
	"sync"

	"github.com/functionspace/bo/benchmarks"
)

// The published search and surrogate model of Cinquin et al. 2024 (FSP-Laplace, figure 3).
const (
	// Expected improvement of a batch with 128 base samples; 16 raw batches, 2
	// gradient ascents of at most 10 iterations; untransformed values.
	figure3Search = "acquisition=qei;acquisition.samples=128;acquisition.joint=true;maximizer.raw=16;maximizer.starts=2;maximizer.iterations=10;warp=none"
	figure3Model  = "fsp-laplace:preset=published"
)

// figure3Noise has the published start of the noise on the tasks where it is not the default.
func figure3Noise() map[string]string {
	const louder = "noise-start=1"
	return map[string]string{"brusselator": louder, "polynomial": louder, "network10": louder}
}

// figure3Tasks returns the tasks of figure 3, after Li et al. 2024.
func figure3Tasks() []Problem {
	network := sync.OnceValue(func() benchmarks.Objective { return benchmarks.NetworkDraw(10, 0) })
	return []Problem{
		{Objective: "branin", Budget: 10 + 9*5, Initial: 10, Batch: 5},
		{Objective: "brusselator", Make: benchmarks.Brusselator, Budget: 5 + 30, Initial: 5},
		{Objective: "ackley4", Budget: 10 + 19*10, Initial: 10, Batch: 10},
		{Objective: "hartmann6", Budget: 10 + 19*10, Initial: 10, Batch: 10},
		{Objective: "polynomial", Budget: 10 + 20*10, Initial: 10, Batch: 10},
		{Objective: "network10", Make: func(uint64) benchmarks.Objective { return network() }, Budget: 10 + 20*10, Initial: 10, Batch: 10},
	}
}

// fspLaplaceFigure3 has the tasks, initial points, batches and rounds of figure 3. Each
// method runs as published, as far as settings allow, and by its defaults.
// docs/benchmarks/paper-fsp-laplace-fig3.md lists the differences.
func fspLaplaceFigure3() Suite {
	low, high := []string{"branin", "brusselator", "ackley4", "hartmann6"}, []string{"polynomial", "network10"}
	pde := []string{"brusselator"}
	return Suite{
		Name:     "paper/fsp-laplace-fig3",
		Summary:  "the optimisation tasks of the FSP-Laplace paper, as published and by defaults",
		Problems: figure3Tasks(),
		Methods: []string{
			"fsp-laplace-published", "fsp-laplace", "laplace-published", "laplace",
			"gp-published", "gp", "fvi-published", "fvi", Sobol,
		},
		Seeds:     5,
		Maximised: true,
		Aliases: []Alias{
			{Name: "fsp-laplace-published", Method: figure3Model + ";" + figure3Search, On: figure3Noise()},
			{
				Name:   "laplace-published",
				Method: "laplace:trainer=adam;restarts=1;" + figure3Search,
				On: map[string]string{
					"branin": "curvature=kron", "brusselator": "curvature=kron",
					"ackley4": "curvature=diagonal;precision=11.1", "hartmann6": "curvature=diagonal;precision=1",
					"polynomial": "curvature=diagonal;precision=0.1", "network10": "curvature=diagonal;precision=0.1",
				},
			},
			{Name: "gp-published", Method: "gp:mean=zero;" + figure3Search},
			{
				Name: "fvi-published",
				Method: "fvi:start=random;bias=0;hidden=50,50;score=plain;eigenvalues=1;draws=100;inject=0.1;context=400;box=data;" +
					"batch=1000;steps=500;rate=0.005;isotropic=true;mean=zero;" + figure3Search,
				On: map[string]string{"branin": "lengthscale=1;variance=1"},
			},
		},
		Claims: []Claim{
			{Text: "paper: above Laplace on the low-dimensional tasks", Method: "fsp-laplace-published", Than: "laplace-published", Problems: low},
			{Text: "the same, faster", Method: "fsp-laplace-published", Than: "laplace-published", Problems: low, Half: true},
			{Text: "the same, default surrogate and search", Method: "fsp-laplace", Than: "laplace-published", Problems: low},
			{Text: "the same, both with defaults", Method: "fsp-laplace", Than: "laplace", Problems: low},
			{Text: "paper: strongly above the Gaussian process on the PDE", Method: "fsp-laplace-published", Than: "gp-published", Problems: pde},
			{Text: "the same, default surrogate and search", Method: "fsp-laplace", Than: "gp-published", Problems: pde},
			{Text: "the same, both with defaults", Method: "fsp-laplace", Than: "gp", Problems: pde},
			{Text: "paper: comparable to Laplace on the other tasks", Method: "fsp-laplace-published", Than: "laplace-published", Problems: high, Equal: true},
			{Text: "paper: comparable to the Gaussian process on the other tasks", Method: "fsp-laplace-published", Than: "gp-published", Problems: high, Equal: true},
			{Text: "the same, both with defaults", Method: "fsp-laplace", Than: "gp", Problems: high, Equal: true},
			{Text: "defaults against published settings", Method: "fsp-laplace", Than: "fsp-laplace-published"},
			{Text: "defaults against published settings", Method: "laplace", Than: "laplace-published"},
			{Text: "defaults against published settings", Method: "gp", Than: "gp-published"},
		},
	}
}

// fspLaplaceCrossed crosses surrogate model and search on the tasks of figure 3, so that a
// difference is attributed to one of them. The search is the acquisition function, its
// maximisation and the output transform. All surrogate models run without a local model,
// which only the default gp has. The published model states a zero mean, so it has neither a
// local model nor the output transform with any search.
func fspLaplaceCrossed() Suite {
	const global = "local=none"
	return Suite{
		Name:     "paper/fsp-laplace-crossed",
		Summary:  "surrogate model and search crossed on the tasks of the FSP-Laplace paper",
		Problems: figure3Tasks(),
		Methods:  []string{"fsp-laplace-global", "fsp-laplace-qei", "gp-global", "gp-qei", "gp", Sobol},
		Seeds:    5,
		Aliases: []Alias{
			{Name: "fsp-laplace-global", Method: "fsp-laplace:" + global},
			{Name: "fsp-laplace-qei", Method: "fsp-laplace:" + figure3Search},
			{Name: "gp-global", Method: "gp:" + global},
			{Name: "gp-qei", Method: "gp:" + figure3Search + ";" + global},
			{Name: "fsp-laplace-published", Method: figure3Model + ";" + figure3Search, On: figure3Noise()},
			{Name: "fsp-laplace-published-model", Method: figure3Model, On: figure3Noise()},
		},
		Maximised: true,
		Claims: []Claim{
			{Text: "surrogate, default search", Method: "fsp-laplace-global", Than: "gp-global"},
			{Text: "surrogate, published search", Method: "fsp-laplace-qei", Than: "gp-qei"},
			{Text: "search, fsp-laplace", Method: "fsp-laplace-global", Than: "fsp-laplace-qei"},
			{Text: "search, gp", Method: "gp-global", Than: "gp-qei"},
			{Text: "local model, gp", Method: "gp", Than: "gp-global"},
			{Text: "default against published fsp-laplace, default search", Method: "fsp-laplace-global", Than: "fsp-laplace-published-model"},
			{Text: "default against published fsp-laplace, published search", Method: "fsp-laplace-qei", Than: "fsp-laplace-published"},
			{Text: "search, published fsp-laplace", Method: "fsp-laplace-published-model", Than: "fsp-laplace-published"},
		},
	}
}
