package loop

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// Defaults of Options.
const (
	DefaultBudget     = 50
	DefaultDesign     = "sobol"
	maxDefaultInitial = 20
)

// Options states how a Study works. The zero value minimises a noisy objective
// with an exact Gaussian process and acquisition.Auto.
type Options struct {
	// Surrogate models the objective. Nil is gp.Model with its defaults. A
	// surrogate.WarmStarter starts each fit from the one before.
	Surrogate surrogate.Model
	// Acquisition chooses points. Nil is acquisition.Auto.
	Acquisition acquisition.Acquisition
	// Maximizer tunes the search for the acquisition function's maximum.
	Maximizer acquisition.MaximizeOptions

	// Initial is the number of trials before the surrogate chooses: trials that
	// were added or enqueued count. 0 is 2(k+1), at most 20, with k the number
	// of parameters that are not fixed; a finite space has at most its size.
	Initial int
	// Design is how the initial trials are spread: "sobol" (scrambled, the
	// default), "halton", "lhs" or "uniform".
	Design string
	// Batch is the number of trials that Run asks together once the initial
	// design is done. 0 is 1. Suggestions depend on it.
	Batch int
	// Seed is the root of all random numbers.
	Seed uint64
	// Maximize looks for the largest value instead of the smallest.
	Maximize bool
	// NoiseFree says that equal points have equal values: none is asked twice,
	// and the value to beat is the best observed instead of the best posterior
	// mean at an evaluated point.
	NoiseFree bool

	// Warp is WarpAuto, the default: where the values are much likelier for it, the
	// surrogate sees log(1 + d/m) of each, d its distance to the best one and m the
	// median distance (docs/adr/0015), unless its prior is stated (prior.Spec.Stated),
	// which is a prior on the values as they are; or WarpNone: values as they are.
	Warp string

	// Budget is the number of evaluations of Minimize. 0 is DefaultBudget.
	Budget int
	// Workers is the number of evaluations that Minimize has running at once.
	// 0 is 1.
	Workers int

	// OnEvent, if not nil, is called for every event, one at a time, from
	// several goroutines. It may call Save, Trials and Best, and must not call
	// what itself makes events: Ask, Tell, Fail, Add, Run, Recommend.
	OnEvent func(Event)
}

// designs are point sets of n rows in the unit cube.
var designs = map[string]func(n, dim int, rng *rand.Rand) *mat.Dense{
	"sobol":   space.Sobol,
	"halton":  space.Halton,
	"lhs":     space.LatinHypercube,
	"uniform": space.Uniform,
}

// withDefaults returns o with the zero values replaced.
func (o Options) withDefaults(s *space.Space) (Options, error) {
	var faults []string
	for _, f := range []struct {
		name  string
		value int
	}{{"Initial", o.Initial}, {"Batch", o.Batch}, {"Budget", o.Budget}, {"Workers", o.Workers}} {
		if f.value < 0 {
			faults = append(faults, fmt.Sprintf("%s is %d, want 0 or more", f.name, f.value))
		}
	}
	if o.Design == "" {
		o.Design = DefaultDesign
	}
	switch o.Warp {
	case "":
		o.Warp = WarpAuto
	case WarpAuto, WarpNone:
	default:
		faults = append(faults, fmt.Sprintf("Warp is %q, want %s or %s", o.Warp, WarpAuto, WarpNone))
	}
	if designs[o.Design] == nil {
		faults = append(faults, fmt.Sprintf("Design is %q, want halton, lhs, sobol or uniform", o.Design))
	}
	if faults != nil {
		return o, fmt.Errorf("%w: %s", ErrOptions, strings.Join(faults, "; "))
	}
	if o.Surrogate == nil {
		o.Surrogate = gp.Model{}
	}
	if o.Acquisition == nil {
		o.Acquisition = acquisition.Auto{}
	}
	if o.Initial == 0 {
		o.Initial = defaultInitial(s)
	}
	o.Batch, o.Workers = max(1, o.Batch), max(1, o.Workers)
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	return o, nil
}

func defaultInitial(s *space.Space) int {
	free := slices.DeleteFunc(s.Parameters(), func(p space.Parameter) bool { return p.Kind == space.KindFixed })
	n := min(2*(len(free)+1), maxDefaultInitial)
	if size, finite := s.Size(); finite {
		n = min(n, size)
	}
	return n
}

// sign is what user values are multiplied by to be minimised.
func (o *Options) sign() float64 {
	if o.Maximize {
		return -1
	}
	return 1
}
