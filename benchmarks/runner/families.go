package runner

import (
	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/benchmarks/families"
)

// familySuites returns a suite for each half of the random families. The seed of a run
// is the number of the instance.
func familySuites() []Suite {
	development, confirmation := families.Split()
	return []Suite{
		familySuite("families/dev", "random instances of families by property: the development half", development),
		familySuite("families/confirm", "random instances of families by property: the confirmation half; log each use in LOOKS.md", confirmation),
	}
}

func familySuite(name, summary string, list []families.Family) Suite {
	s := Suite{Name: name, Summary: summary, Methods: []string{"gp", "fsp-laplace", Sobol}, Seeds: 4}
	for _, f := range list {
		for _, dim := range f.Dims {
			s.Problems = append(s.Problems, Problem{
				Objective: f.Problem(dim),
				Class:     string(f.Class),
				Make:      func(seed uint64) benchmarks.Objective { return f.Instance(seed, dim) },
				Budget:    10*dim + 50,
				Initial:   10,
			})
		}
	}
	return s
}

// conditionalSuite has the choice among three classifiers of which only the chosen one has settings. The
// instances are others than in the suites of families.
func conditionalSuite() Suite {
	s := Suite{
		Name:    "conditional",
		Summary: "choice among three classifiers, of which only the chosen one has settings",
		Methods: []string{"gp", Sobol},
		Seeds:   10,
	}
	for _, name := range []string{"classifiers-digits", "classifiers-cancer"} {
		s.Problems = append(s.Problems, Problem{
			Make:   func(seed uint64) benchmarks.Objective { return families.Conditional(name, 1000+seed) },
			Budget: 80, Initial: 10,
		})
	}
	return s
}
