package runner

import (
	"sync"

	"github.com/functionspace/bo/benchmarks"
)

// fspLaplaceFigure3 has the tasks, initial points, batches and rounds of Cinquin et
// al. 2024 (FSP-Laplace, figure 3, after Li et al. 2024). Each method runs as
// published, as far as settings allow, and by its defaults.
// docs/benchmarks/paper-fsp-laplace-fig3.md lists the differences.
func fspLaplaceFigure3() Suite {
	const (
		// Expected improvement of a batch with 128 base samples; 16 raw batches, 2
		// gradient ascents of at most 10 iterations.
		qei    = "acquisition=qei;acquisition.samples=128;acquisition.joint=true;maximizer.raw=16;maximizer.starts=2;maximizer.iterations=10;warp=none"
		kernel = "isotropic=true;mean=zero"
		louder = "noise-start=1"
	)
	network := sync.OnceValue(func() benchmarks.Objective { return benchmarks.NetworkDraw(10, 0) })
	return Suite{
		Name:    "paper/fsp-laplace-fig3",
		Summary: "the optimisation tasks of the FSP-Laplace paper, as published and by defaults",
		Problems: []Problem{
			{Objective: "branin", Budget: 10 + 9*5, Initial: 10, Batch: 5},
			{Objective: "brusselator", Make: benchmarks.Brusselator, Budget: 5 + 30, Initial: 5},
			{Objective: "ackley4", Budget: 10 + 19*10, Initial: 10, Batch: 10},
			{Objective: "hartmann6", Budget: 10 + 19*10, Initial: 10, Batch: 10},
			{Objective: "polynomial", Budget: 10 + 20*10, Initial: 10, Batch: 10},
			{Objective: "network10", Make: func(uint64) benchmarks.Objective { return network() }, Budget: 10 + 20*10, Initial: 10, Batch: 10},
		},
		Methods: []string{
			"fsp-laplace-published", "fsp-laplace", "laplace-published", "laplace",
			"gp-published", "gp", "fvi-published", "fvi", Sobol,
		},
		Seeds:     5,
		Maximised: true,
		Aliases: []Alias{
			{
				Name:   "fsp-laplace-published",
				Method: "fsp-laplace:trainer=adam;factor=lanczos;box=data;scaling=data;bias=0;" + kernel + ";" + qei,
				On:     map[string]string{"brusselator": louder, "polynomial": louder, "network10": louder},
			},
			{
				Name:   "laplace-published",
				Method: "laplace:trainer=adam;restarts=1;" + qei,
				On: map[string]string{
					"branin": "curvature=kron", "brusselator": "curvature=kron",
					"ackley4": "curvature=diagonal;precision=11.1", "hartmann6": "curvature=diagonal;precision=1",
					"polynomial": "curvature=diagonal;precision=0.1", "network10": "curvature=diagonal;precision=0.1",
				},
			},
			{Name: "gp-published", Method: "gp:mean=zero;" + qei},
			{
				Name: "fvi-published",
				Method: "fvi:start=random;bias=0;hidden=50,50;score=plain;eigenvalues=1;draws=100;inject=0.1;context=400;box=data;" +
					"batch=1000;steps=500;rate=0.005;" + kernel + ";" + qei,
				On: map[string]string{"branin": "lengthscale=1;variance=1"},
			},
		},
	}
}
