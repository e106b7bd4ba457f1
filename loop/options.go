package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

const (
	DefaultBudget     = 50
	maxDefaultInitial = 20
)

// Options configures a Study, Propose and Recommend. The zero value minimises a
// noisy objective with an exact Gaussian process and acquisition.Auto.
type Options struct {
	// Surrogate models the objective. Nil is gp.Model with its defaults. A fit of a
	// surrogate.WarmStarter starts from the state of the previous fit.
	Surrogate surrogate.Model
	// Acquisition chooses points. Nil is acquisition.Auto.
	Acquisition acquisition.Acquisition
	// Maximizer configures the search for the maximum of the acquisition function.
	Maximizer acquisition.MaximizeOptions

	// Initial is the number of trials before the acquisition function chooses.
	// Trials that were added or enqueued count. 0 is 2(k+1), at most 20 and at most
	// the number of points of the space, with k the number of parameters that are
	// not fixed.
	Initial int
	// Design spreads the initial trials. Empty is Sobol.
	Design InitialDesign
	// Batch is the number of trials that Run asks together after the initial design.
	// 0 is 1. Suggestions depend on it.
	Batch int
	// Seed is the root of all random streams.
	Seed uint64
	// Maximize searches for the largest value instead of the smallest.
	Maximize bool
	// NoiseFree declares that equal points have equal values. No point is then asked
	// twice, and the value to improve on is the best observed value instead of the
	// best posterior mean at an evaluated point.
	NoiseFree bool

	// Warp selects the output transform. Empty is WarpAuto.
	Warp Warp

	// Budget is the number of evaluations of Minimize. 0 is 50.
	Budget int
	// Workers is the number of concurrent evaluations of Minimize. 0 is 1.
	Workers int

	// OnEvent, if not nil, is called for every event of a Study, one at a time, from
	// several goroutines. It may call Save, Trials and Best. It must not call
	// methods that emit events: Ask, Tell, Fail, Add, Run, Recommend.
	OnEvent func(Event)
}

// withDefaults returns o with defaults in place of zero values, or an error that
// wraps ErrOptions and names every fault.
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
		o.Design = Sobol
	}
	switch o.Warp {
	case "":
		o.Warp = WarpAuto
	case WarpAuto, WarpNone:
	default:
		faults = append(faults, fmt.Sprintf("Warp is %q, want %s or %s", o.Warp, WarpAuto, WarpNone))
	}
	if designs[o.Design] == nil {
		faults = append(faults, fmt.Sprintf("Design is %q, want %s", o.Design, designNames()))
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

// defaultInitial returns the default of Options.Initial.
func defaultInitial(s *space.Space) int {
	free := slices.DeleteFunc(s.Parameters(), func(p space.Parameter) bool { return p.Kind == space.KindFixed })
	return min(2*(len(free)+1), maxDefaultInitial, points(s))
}

// sign returns the factor that turns the user's values into values to be minimised.
func (o *Options) sign() float64 {
	if o.Maximize {
		return -1
	}
	return 1
}
