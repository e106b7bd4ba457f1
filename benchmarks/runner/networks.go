package runner

import (
	"fmt"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/benchmarks/families"
)

// The suites of docs/networks.md compare networks with Gaussian processes.
var (
	networksMethods  = []string{"gp", "svgp", "dkl", "ibnn", "fsp-laplace", "fsp-laplace-published", "gfsvi", "fvi", "laplace", "ensemble"}
	networksControls = []string{"svgp", "dkl", "ibnn"}
	networksAliases  = []Alias{{Name: "fsp-laplace-published", Method: "fsp-laplace:preset=published"}}
)

// The classes of tasks.
const (
	classPrior   = "prior"
	classRough   = "rough"
	classNetwork = "network"
	classLabels  = "labels"
)

// networksDensity has tasks of at most 1000 rows.
func networksDensity() Suite {
	set := func(name, class string, dim, rows int, f target) Dataset {
		return Dataset{Name: name, Class: class, Dim: dim, Draw: drawing{name, dim, rows, f, false}.table}
	}
	labels := func(name string, dim, rows int, f target) Dataset {
		return Dataset{Name: name, Class: classLabels, Dim: dim, Labels: true, Draw: drawing{name, dim, rows, f, true}.table}
	}
	stated := set("stated-prior", classPrior, 2, 60, process("matern52", 0.3))
	stated.Draw = exactly(stated.Draw)
	stated.Prior = []string{
		"kernel=matern52", fmt.Sprintf("lengthscale=%v", 2*side*0.3), "variance=1", fmt.Sprintf("noise=%v", deviation*deviation), "mean=zero",
	}
	return Suite{
		Name:    "networks/density",
		Summary: "networks beside Gaussian processes: predictions from at most 1000 rows",
		Datasets: []Dataset{
			stated,
			set("learned-prior", classPrior, 5, 150, process("matern52", 1)),
			set("changing", classRough, 2, 150, changing),
			set("jump", classRough, 2, 150, jump),
			set("cells", classRough, 4, 300, cells),
			set("network-10", classNetwork, 10, 300, network),
			set("network-50", classNetwork, 50, 500, network),
			set("network-200", classNetwork, 200, 1000, network),
			{Name: "moons", Class: classLabels, Dim: 2, Labels: true, Draw: moons},
			labels("prior-labels", 2, 100, process("matern52", 0.3)),
			labels("network-labels", 10, 300, network),
		},
		Methods: networksMethods,
		Aliases: networksAliases,
		Seeds:   10,

		Baseline: "gp",
		Controls: networksControls,
	}
}

// networksLarge has tasks of up to 20 000 rows.
func networksLarge() Suite {
	s := Suite{
		Name:    "networks/large",
		Summary: "networks beside Gaussian processes: predictions from 1000 to 20 000 rows",
		Methods: networksMethods,
		Aliases: networksAliases,
		Seeds:   5,

		Baseline: "gp",
		Controls: networksControls,
	}
	for _, rows := range []int{1000, 5000, 20000} {
		for _, f := range []struct {
			name string
			dim  int
			f    target
		}{{"prior-4", 4, features("matern32", 0.5)}, {"network-8", 8, network}} {
			name := fmt.Sprintf("%s-%d", f.name, rows)
			s.Datasets = append(s.Datasets, Dataset{Name: name, Class: fmt.Sprintf("%d rows", rows), Dim: f.dim, Draw: drawing{name, f.dim, rows, f.f, false}.table})
		}
	}
	return s
}

// networksRegret has sequential optimisations.
func networksRegret() Suite {
	s := Suite{
		Name:    "networks/regret",
		Summary: "networks beside Gaussian processes: 50 evaluations one after another",
		Methods: append(append([]string(nil), networksMethods...), Sobol),
		Aliases: networksAliases,
		Seeds:   10,
	}
	add := func(name, class string, draw func(seed uint64) benchmarks.Objective) {
		s.Problems = append(s.Problems, Problem{Objective: name, Class: class, Make: draw, Budget: 50, Initial: 10})
	}
	add("draw-matern52-3", classPrior, draws("matern52(lengthscale=0.3)", 3))
	for _, name := range []string{"nested-boxes", "chirp"} {
		f, err := families.Lookup(name)
		if err != nil {
			panic("runner: " + err.Error())
		}
		dim := f.Dims[0]
		add(f.Problem(dim), classRough, func(seed uint64) benchmarks.Objective { return f.Instance(seed, dim) })
	}
	for _, dim := range []int{10, 50} {
		add(fmt.Sprintf("network-draw-%d", dim), classNetwork, networkDraws(dim))
	}
	return s
}

// networksBatches has batches of 100 by Thompson sampling.
func networksBatches() Suite {
	s := Suite{
		Name:    "networks/batches",
		Summary: "networks beside Gaussian processes: batches of 100 by Thompson sampling",
		Seeds:   5,
	}
	for _, name := range networksMethods {
		method := name + ":acquisition=ts"
		for _, a := range networksAliases {
			if a.Name == name {
				method = a.Method + ";acquisition=ts"
			}
		}
		s.Aliases = append(s.Aliases, Alias{Name: name + "-ts", Method: method})
		s.Methods = append(s.Methods, name+"-ts")
	}
	s.Methods = append(s.Methods, Sobol)
	add := func(p Problem) {
		p.Budget, p.Initial, p.Batch = 500, 100, 100
		s.Problems = append(s.Problems, p)
	}
	add(Problem{Objective: "hartmann6"})
	add(Problem{Objective: "draw-matern52-4", Make: draws("matern52(lengthscale=0.3)", 4)})
	add(Problem{Objective: "network-draw-10", Make: networkDraws(10)})
	return s
}

// networkDraws returns a function that draws a network of dim inputs for each seed.
func networkDraws(dim int) func(seed uint64) benchmarks.Objective {
	return each(func(seed uint64) benchmarks.Objective { return benchmarks.NetworkDraw(dim, seed) })
}
