package runner

import (
	"sync"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/prior"
)

// fbnnOptimization is the optimisation task of Sun et al. 2019 (functional
// variational Bayesian neural networks, appendix E.5): max-value entropy search on
// functions of three inputs drawn from Gaussian processes, another function for each seed.
// Methods with a kernel have the kernel of the draw up to its scale. All methods
// treat the values as noisy. docs/benchmarks/paper-fbnn-bo.md lists the differences.
func fbnnOptimization() Suite {
	const mes = "acquisition=mes;acquisition.samples=10"
	draw := func(name, of, known string) Problem {
		return Problem{Objective: name, Make: draws(of, 3), Prior: []string{"kernel=" + known}, HideNoiseFree: true, Budget: 60, Initial: 10}
	}
	return Suite{
		Name:    "paper/fbnn-bo",
		Summary: "functions of three inputs drawn from known priors, after the fBNN paper",
		Problems: []Problem{
			draw("draw-rbf", "rbf(lengthscale=0.3)", "rbf(lengthscale=0.3)"),
			draw("draw-arccos", "arccos(weight=10,bias=1)", "constant*arccos(weight=10,bias=1)"),
			draw("draw-matern12", "matern12(lengthscale=1)", "matern12(lengthscale=1)"),
		},
		Methods: []string{"fvi-mes", "mfvi-mes", "rff-mes", "fsp-laplace-mes", "gfsvi-mes", "gp-mes", Sobol},
		Seeds:   10,
		Aliases: []Alias{
			{Name: "fvi-mes", Method: "fvi:" + mes},
			{Name: "mfvi-mes", Method: "mfvi:" + mes},
			{Name: "rff-mes", Method: "rff:kernel=rbf;" + mes},
			{Name: "fsp-laplace-mes", Method: "fsp-laplace:" + mes},
			{Name: "gfsvi-mes", Method: "gfsvi:" + mes},
			{Name: "gp-mes", Method: "gp:" + mes},
			{
				Name: "fvi-published",
				Method: "fvi:start=random;bias=0;hidden=100,100,100,100,100;activation=relu;score=plain;draws=100;weight=batch;" +
					"batch=30;context=30;steps=20000;anneal=0.5;rate=0.001;" + mes,
			},
			{Name: "mfvi-published", Method: "mfvi:start=random;hidden=100;activation=relu;steps=20000;" + mes},
		},
		Claims: fbnnClaims(),
	}
}

// fbnnClaims returns the statements of the paper about its figure 5, with the methods of bo.
func fbnnClaims() []Claim {
	claims := []Claim{{Text: "paper: random features are ahead under the RBF prior", Method: "rff-mes", Than: "fvi-mes", Problems: []string{"draw-rbf"}}}
	for _, problem := range []string{"draw-arccos", "draw-matern12"} {
		claims = append(claims, Claim{Text: "paper: fBNN is ahead of random features", Method: "fvi-mes", Than: "rff-mes", Problems: []string{problem}})
	}
	for _, method := range []string{"fvi-mes", "rff-mes"} {
		for _, problem := range []string{"draw-rbf", "draw-arccos", "draw-matern12"} {
			claims = append(claims, Claim{Text: "paper: far ahead of mean-field inference", Method: method, Than: "mfvi-mes", Problems: []string{problem}})
		}
	}
	return claims
}

// draws returns a function that draws the objective of a seed from a prior of dim inputs,
// once per seed.
func draws(expr string, dim int) func(seed uint64) benchmarks.Objective {
	return each(func(seed uint64) benchmarks.Objective {
		kernel, err := prior.Parse(expr, dim)
		if err != nil {
			panic("runner: " + err.Error())
		}
		return benchmarks.PriorDraw(kernel, seed)
	})
}

// each returns draw with its results stored, so that it draws the objective of a seed once.
func each(draw func(seed uint64) benchmarks.Objective) func(seed uint64) benchmarks.Objective {
	var made sync.Map // map from seeds to functions that return the objective
	return func(seed uint64) benchmarks.Objective {
		f, _ := made.LoadOrStore(seed, sync.OnceValue(func() benchmarks.Objective { return draw(seed) }))
		return f.(func() benchmarks.Objective)()
	}
}
