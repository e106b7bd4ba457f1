package families

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/space"
)

func tuning() []Family {
	table := func(name, summary string, dim int) Family {
		return Family{Name: name, Class: Tuning, Summary: summary, Dims: []int{dim}, Fixed: true, whole: func(d *drawing) benchmarks.Objective { return tuned(d, name) }}
	}
	three := func(name, summary string) Family {
		return Family{Name: name, Class: Tuning, Summary: summary, Dims: []int{10}, Fixed: true, whole: func(d *drawing) benchmarks.Objective { return classifiers(d, name) }}
	}
	lookup := func(name, summary string, dim int) Family {
		return Family{Name: name, Class: Tuning, Summary: summary, Dims: []int{dim}, Fixed: true, whole: func(d *drawing) benchmarks.Objective { return measured(d, name) }}
	}
	return []Family{
		table("svm-digits", "support vector machine on digits", 6),
		table("svm-cancer", "support vector machine on breast cancer", 6),
		table("boosting-cancer", "gradient boosting on breast cancer", 6),
		table("boosting-concrete", "gradient boosting on the strength of concrete", 6),
		table("mlp-digits", "network with one hidden layer on digits", 7),
		table("kernel-yacht", "kernel ridge regression on the resistance of yachts", 5),
		three("classifiers-digits", "choice and settings of three classifiers on digits"),
		three("classifiers-cancer", "choice and settings of three classifiers on breast cancer"),
		lookup("nanoparticles", "measured spectra of silver nanoparticles, nearest experiment", 5),
		lookup("barrels", "measured toughness of printed barrels, nearest experiment", 4),
	}
}

// tuned is the interpolated error of a learning algorithm. Half of the instances take
// the error at the nearest levels, so that it has plateaus.
func tuned(d *drawing, name string) benchmarks.Objective {
	c := d.cut(name, d.rng.IntN(2) == 0)
	value, at := c.minimum()
	return benchmarks.Objective{Minimum: value, Minimizers: [][]float64{at}, NoiseFree: true, Func: c.at}.On(newSpace(c.parameters("")))
}

// classifiers has a category for the classifier and the settings of all three. Only
// the settings of the chosen classifier have an effect.
func classifiers(d *drawing, name string) benchmarks.Objective {
	parts := []string{"svm", "neighbours", "forest"}
	params := []space.Parameter{space.Categorical("classifier", "svm", "neighbours", "forest")}
	rounded := d.rng.IntN(2) == 0
	o := benchmarks.Objective{Minimum: math.Inf(1), NoiseFree: true}
	best := make([]float64, 1)
	cuts, first := make([]cut, len(parts)), make([]int, len(parts))
	for i, part := range parts {
		c := d.cut(name+"-"+part, rounded)
		cuts[i], first[i] = c, len(params)
		params = append(params, c.parameters(part+"_")...)
		value, at := c.minimum()
		if value < o.Minimum {
			o.Minimum, best[0] = value, float64(i)
		}
		best = append(best, at...)
	}
	o.Minimizers = [][]float64{best}
	o.Func = func(x []float64) float64 {
		i := int(x[0])
		return cuts[i].at(x[first[i]:])
	}
	return o.On(newSpace(params))
}

// Conditional returns an instance of a family of classifiers, such as classifiers-digits. The settings of a
// classifier are active only if it is chosen. The coordinates of inactive parameters are NaN.
func Conditional(family string, number uint64) benchmarks.Objective {
	f, err := Lookup(family)
	if err != nil {
		panic(err)
	}
	o := f.Instance(number, f.Dims[0])
	params := slices.Clone(o.Space.Parameters())
	for i, p := range params {
		if part, _, ok := strings.Cut(p.Name, "_"); ok {
			params[i] = p.If(space.Equal("classifier", part))
			if o.Minimizers[0][0] != float64(slices.Index(params[0].Values, any(part))) {
				o.Minimizers[0][i] = math.NaN()
			}
		}
	}
	o.Name, o.Summary = family+"-conditional", o.Summary+", of which only the chosen one has settings"
	return o.On(newSpace(params))
}

// experiments holds measured values, averaged over repeats. make.py in the folder
// tables writes it.
type experiments struct {
	Source string      `json:"source"`
	Names  []string    `json:"names"`
	Rows   [][]float64 `json:"rows"` // inputs and the value, which is minimised
}

var (
	nanoparticles = sync.OnceValue(func() experiments { return read[experiments]("nanoparticles") })
	barrels       = sync.OnceValue(func() experiments { return read[experiments]("barrels") })
)

// measured returns the value of the nearest of 80 % of the experiments, in units of the
// range of each input.
func measured(d *drawing, name string) benchmarks.Objective {
	e := nanoparticles()
	if name == "barrels" {
		e = barrels()
	}
	rows := make([][]float64, 0, len(e.Rows))
	for _, i := range d.rng.Perm(len(e.Rows))[:len(e.Rows)*4/5] {
		rows = append(rows, e.Rows[i])
	}
	n := len(e.Names)
	best := slices.MinFunc(rows, func(a, b []float64) int { return cmp.Compare(a[n], b[n]) })
	params, width := make([]space.Parameter, n), make([]float64, n)
	for j, input := range e.Names {
		by := func(a, b []float64) int { return cmp.Compare(a[j], b[j]) }
		lo, hi := slices.MinFunc(rows, by)[j], slices.MaxFunc(rows, by)[j]
		params[j], width[j] = space.Float(input, lo, hi), hi-lo
	}
	return benchmarks.Objective{
		Minimum: best[n], Minimizers: [][]float64{best[:n]}, NoiseFree: true,
		Func: func(x []float64) float64 {
			nearest, value := math.Inf(1), 0.0
			for _, row := range rows {
				var far float64
				for j, v := range x {
					t := (v - row[j]) / width[j]
					far += t * t
				}
				if far < nearest {
					nearest, value = far, row[n]
				}
			}
			return value
		},
	}.On(newSpace(params))
}
