package runner

import (
	"slices"

	"github.com/functionspace/bo/internal/random"
)

// folds is the number of folds of the tables in the papers on GFSVI and FSP-Laplace.
const folds = 5

// heldOut is the number of rows outside a fold for each row that is held out to choose settings, as in the GFSVI paper.
const heldOut = 10

// foldRows returns the rows outside and inside a fold of a table, in random order. Seeds 1 to 5 number the folds, and further
// seeds the folds of further partitions.
func foldRows(table string, n int, seed uint64) (other, fold []int) {
	order := random.New((seed-1)/folds, "folds of "+table, 0).Perm(n)
	k := int(seed-1) % folds
	lo, hi := k*n/folds, (k+1)*n/folds
	return slices.Concat(order[:lo], order[hi:]), order[lo:hi]
}

// folds returns the folds of the table, and a tenth of the other rows of each.
func (t *Table) folds() (test, held [][]int) {
	for seed := range uint64(folds) {
		other, fold := foldRows(t.Name, len(t.Y), seed+1)
		order := random.New(seed, "held-out rows of "+t.Name, 0).Perm(len(other))
		var out []int
		for _, i := range order[:len(other)/heldOut] {
			out = append(out, other[i])
		}
		test, held = append(test, fold), append(held, out)
	}
	return test, held
}

// Choice is a method with several settings. Held-out rows choose one of them for each dataset.
type Choice struct {
	Method   string   // in the syntax of ParseMethod
	Settings []string // key=value;key=value
}

// Methods returns the method with each of the settings.
func (c Choice) Methods() []string {
	list := make([]string, len(c.Settings))
	for i, s := range c.Settings {
		list[i] = withSettings(c.Method, s)
	}
	return list
}

// uciFolds compares methods by the papers' protocol on the tables of the UCI repository. The papers also choose the learning
// rate. This suite does so for the preset of fsp-laplace alone.
func uciFolds() Suite {
	kernels := []string{"kernel=matern52", "kernel=rbf", "kernel=matern32", "kernel=matern12", "kernel=rq"}
	activations := []string{"activation=tanh", "activation=relu"}
	var weights []string
	for _, a := range activations {
		for _, p := range []string{"1", "0.1", "10"} {
			weights = append(weights, a+";precision="+p)
		}
	}
	s := Suite{
		Name:     "paper/uci",
		Summary:  "the tables of uci with the folds of the papers and a setting chosen on held-out rows, after GFSVI and FSP-Laplace; needs --data",
		Datasets: uciTables(),
		Choices: []Choice{
			{"gp", kernels}, {"svgp", kernels}, {"fsp-laplace", kernels}, {"gfsvi", kernels}, {"laplace", activations}, {"mfvi", activations},
			{"fsp-laplace:preset=published", asInRegressions(kernels, ";isotropic=false;held-out=0.1", ";isotropic=false;held-out=0.1;noise-start=1",
				";isotropic=false;held-out=0.1;noise-start=1;rate=0.001;steps=50000")},
			{"laplace:preset=published", asInRegressions(weights, ";held-out=0.1")},
			{"mfvi:preset=published", weights},
		},
	}
	for i := range s.Datasets {
		s.Datasets[i].Seeds, s.Datasets[i].Folds = folds, true
	}
	for _, c := range s.Choices {
		s.Methods = append(s.Methods, c.Methods()...)
	}
	return s
}

// asInRegressions returns the first setting unchanged, then every setting with each of the others. A preset of the FSP-Laplace
// paper follows its experiments on optimisation, and with the others its regressions.
func asInRegressions(settings []string, others ...string) []string {
	list := settings[:1:1]
	for _, more := range others {
		for _, s := range settings {
			list = append(list, s+more)
		}
	}
	return list
}
