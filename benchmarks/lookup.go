package benchmarks

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/functionspace/bo/internal/didyoumean"
)

// ErrUnknown is wrapped by the error of Lookup.
var ErrUnknown = errors.New("unknown objective")

// MaxDim is the largest dimension that Lookup accepts.
const MaxDim = 1000

// fixed holds the objectives with a fixed dimension.
var fixed = map[string]func() Objective{
	"beale":           Beale,
	"branin":          Branin,
	"brusselator":     func() Objective { return Brusselator(0) },
	"cosine8":         Cosine8,
	"goldstein-price": GoldsteinPrice,
	"hartmann3":       Hartmann3,
	"hartmann6":       Hartmann6,
	"polynomial":      Polynomial,
	"shekel":          Shekel,
	"six-hump-camel":  SixHumpCamel,
}

// families holds the objectives of any dimension from 2.
var families = map[string]func(d int) Objective{
	"ackley":          Ackley,
	"griewank":        Griewank,
	"levy":            Levy,
	"michalewicz":     Michalewicz,
	"network":         func(d int) Objective { return NetworkDraw(d, 0) },
	"rastrigin":       Rastrigin,
	"rosenbrock":      Rosenbrock,
	"styblinski-tang": StyblinskiTang,
}

// Names returns the names that Lookup accepts, sorted, families without a dimension.
func Names() []string {
	var names []string
	for name := range fixed {
		names = append(names, name)
	}
	for name := range families {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

var withDim = regexp.MustCompile(`^(.*[a-z])-?([0-9]+)$`)

// Lookup returns the objective of a name. A family takes its dimension at the end, as
// in ackley10 or ackley-10, and has two dimensions without it. The error for another
// name wraps ErrUnknown and suggests a near name.
func Lookup(name string) (Objective, error) {
	if f, ok := fixed[name]; ok {
		return f(), nil
	}
	if f, ok := families[name]; ok {
		return f(2), nil
	}
	family := name
	if m := withDim.FindStringSubmatch(name); m != nil {
		if f, ok := families[m[1]]; ok {
			d, err := strconv.Atoi(m[2])
			if err != nil || d < 2 || d > MaxDim {
				return Objective{}, fmt.Errorf("%w %q: %s has 2 to %d dimensions", ErrUnknown, name, m[1], MaxDim)
			}
			return f(d), nil
		}
		if _, ok := fixed[didyoumean.Name(name, Names())]; !ok {
			family = m[1]
		}
	}
	return Objective{}, fmt.Errorf("%w %q%s", ErrUnknown, name, didyoumean.Hint(family, Names()))
}
