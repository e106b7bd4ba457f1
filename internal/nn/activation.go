package nn

import (
	"errors"
	"fmt"
	"slices"

	"github.com/functionspace/bo/internal/didyoumean"
	"github.com/functionspace/bo/internal/vecmath"
)

// Activation is the elementwise function φ between layers. The zero value is
// Tanh.
type Activation int

// The activations. GELU is the exact form z·Φ(z), not the tanh approximation.
const (
	Tanh Activation = iota
	ReLU            // max(z, 0); φ′(0) = 0 and φ″ = 0 everywhere
	GELU            // z·Φ(z) with Φ the normal distribution function
	Erf             // erf(z)
	Sin             // sin(z)
)

// ErrActivation reports an unknown activation name.
var ErrActivation = errors.New("unknown activation")

var names = []string{Tanh: "tanh", ReLU: "relu", GELU: "gelu", Erf: "erf", Sin: "sin"}

// ByName returns the activation with the given name. The error wraps ErrActivation
// and suggests a valid name.
func ByName(name string) (Activation, error) {
	if i := slices.Index(names, name); i >= 0 {
		return Activation(i), nil
	}
	return 0, fmt.Errorf("%w %q%s", ErrActivation, name, didyoumean.Hint(name, names))
}

// String returns the name of the activation.
func (f Activation) String() string {
	if f < 0 || int(f) >= len(names) {
		return fmt.Sprintf("activation(%d)", int(f))
	}
	return names[f]
}

// apply writes φ(z) to a and, unless d is nil, φ′(z) to d. a may be z.
func (f Activation) apply(a, d, z []float64) {
	switch f {
	case Tanh:
		vecmath.Tanh(a, d, z)
	case ReLU:
		for i, z := range z {
			on := 0.0
			if z > 0 {
				on = 1
			}
			a[i] = max(z, 0)
			if d != nil {
				d[i] = on
			}
		}
	case GELU:
		vecmath.GELU(a, d, z)
	case Erf:
		vecmath.Erf(a, d, z)
	case Sin:
		vecmath.Sin(a, d, z)
	default:
		panic("nn: " + f.String())
	}
}

// curve writes φ″(z) to c, given a = φ(z) and d = φ′(z).
func (f Activation) curve(c, z, a, d []float64) {
	switch f {
	case Tanh:
		for i, a := range a {
			c[i] = -2 * a * d[i]
		}
	case ReLU:
		clear(c)
	case GELU:
		vecmath.NormPDF(c, z)
		for i, z := range z {
			c[i] *= 2 - z*z
		}
	case Erf:
		for i, z := range z {
			c[i] = -2 * z * d[i]
		}
	case Sin:
		for i, a := range a {
			c[i] = -a
		}
	default:
		panic("nn: " + f.String())
	}
}
