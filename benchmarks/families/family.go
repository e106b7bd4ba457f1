package families

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
)

// Class is a property that makes problems hard.
type Class string

// The classes.
const (
	Separable     Class = "separable"
	Moderate      Class = "moderate"
	Ill           Class = "ill"
	OneSided      Class = "one-sided"
	Plateaus      Class = "plateaus"
	Global        Class = "multimodal-global"
	Weak          Class = "multimodal-weak"
	NonStationary Class = "non-stationary"
	FewActive     Class = "few-active"
	Noise         Class = "noise"
	Mixed         Class = "mixed"
	Tuning        Class = "tuning"
	Wide          Class = "wide"
)

// Family is a set of random problems of one class.
type Family struct {
	Name    string
	Class   Class
	Summary string
	Dims    []int // numbers of parameters in the suites; the only ones if Fixed
	Fixed   bool  // other numbers of parameters are not possible

	// Exactly one of these is set. build returns a function of [-5,5]^d with minimum 0;
	// whole returns a complete objective.
	build func(d *drawing) part
	whole func(d *drawing) benchmarks.Objective
	// noise, if not nil, returns an observed value for the noise-free value f, whose
	// median over the box is about 1.
	noise func(x []float64, f float64, rng *rand.Rand) float64
}

// part is a function with its minimiser, at which it is exactly 0.
type part struct {
	f  func(x []float64) float64
	at []float64
}

// side is half the width of the box.
const side = 5.0

// All returns the families in the order of the classes.
func All() []Family {
	return slices.Concat(
		separable(), moderate(), ill(), oneSided(), plateaus(), multimodal(), weak(),
		nonStationary(), fewActive(), noisy(), mixed(), tuning(), wide(),
	)
}

// Lookup returns the family of a name.
func Lookup(name string) (Family, error) {
	for _, f := range All() {
		if f.Name == name {
			return f, nil
		}
	}
	return Family{}, fmt.Errorf("%w: family %q", benchmarks.ErrUnknown, name)
}

// Problem returns the name of the problems with dim parameters.
func (f Family) Problem(dim int) string { return fmt.Sprintf("%s-%d", f.Name, dim) }

// Instance returns an instance with dim ≥ 2 parameters. It panics for another dim of a
// Fixed family.
func (f Family) Instance(number uint64, dim int) benchmarks.Objective {
	if dim < 2 || f.Fixed && !slices.Contains(f.Dims, dim) {
		panic(fmt.Sprintf("families: %s with %d parameters", f.Name, dim))
	}
	d := &drawing{rng: random.New(number, "instance of "+f.Name, dim), dim: dim, number: number}
	var o benchmarks.Objective
	if f.whole != nil {
		o = f.whole(d)
	} else {
		o = f.continuous(d)
	}
	o.Name, o.Summary = f.Problem(dim), f.Summary
	return o
}

// continuous returns an objective on the box [-5,5]^d.
func (f Family) continuous(d *drawing) benchmarks.Objective {
	p := f.build(d)
	typical := d.median(p.f)
	var transform func(float64) float64
	if f.noise != nil {
		transform = func(g float64) float64 { return g }
	} else {
		transform = d.transform()
	}
	inner := benchmarks.Objective{
		NoiseFree: true,
		Func:      func(x []float64) float64 { return transform(p.f(x) / typical) },
	}
	if f.noise != nil {
		inner = benchmarks.Perturbed(inner, d.number, f.noise)
	}
	params := make([]space.Parameter, d.dim)
	for i := range params {
		params[i] = space.Float(fmt.Sprintf("x%d", i+1), -side, side)
	}
	return d.rescaled(inner, p.at).On(newSpace(params))
}

// newSpace returns the space of valid parameters.
func newSpace(params []space.Parameter) *space.Space {
	s, err := space.New(params...)
	if err != nil {
		panic("families: " + err.Error())
	}
	return s
}

// rescaled returns offset + scale·o for an objective whose minimum, at a given point,
// is 0. The scale is log-uniform between 0.01 and 1000.
func (d *drawing) rescaled(o benchmarks.Objective, at []float64) benchmarks.Objective {
	scale := math.Pow(10, d.between(-2, 3))
	offset := 10 * scale * d.rng.NormFloat64()
	f := o.Func
	o.Func = func(x []float64) float64 { return offset + scale*f(x) }
	if latent := o.Latent; latent != nil {
		o.Latent = func(x []float64) float64 { return offset + scale*latent(x) }
	}
	o.Minimum, o.Minimizers = offset, [][]float64{at}
	return o
}
