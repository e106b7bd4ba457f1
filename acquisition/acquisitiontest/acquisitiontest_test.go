package acquisitiontest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
)

func TestAcquisitions(t *testing.T) {
	for _, a := range []acquisition.Acquisition{
		acquisition.EI{}, acquisition.LogEI{}, acquisition.PI{}, acquisition.LCB{}, acquisition.MES{Samples: 4}, acquisition.Thompson{},
		acquisition.QEI{Samples: 256}, acquisition.QLogEI{Samples: 256}, acquisition.LogNEI{Samples: 256}, acquisition.Auto{},
		acquisition.Marginal{Score: func(mean, sd, best float64) (value, dmean, dsd float64) { return sd - mean, -1, 1 }},
	} {
		require.NoError(t, Check(a), "%T", a)
	}
	Run(t, acquisition.LCB{})
}

// wrong is LCB with one fault.
type wrong struct{ fault string }

type wrongFunction struct {
	acquisition.Function
	fault string
	shift float64
}

func (a wrong) Build(ctx context.Context, p acquisition.Problem, q int, rng *rand.Rand) (acquisition.Function, error) {
	switch a.fault {
	case "pending":
		p.Pending = nil
	case "two points":
		q = 1
	case "error":
		if q > 1 {
			return nil, errors.New("one point")
		}
	}
	f, err := acquisition.LCB{}.Build(ctx, p, q, rng)
	if err != nil {
		return nil, err
	}
	w := &wrongFunction{Function: f, fault: a.fault}
	if a.fault == "random" {
		w.shift = rand.Float64()
	}
	return w, nil
}

func (f *wrongFunction) Dim() int {
	if f.fault == "dimension" {
		return 1 + f.Function.Dim()
	}
	return f.Function.Dim()
}

func (f *wrongFunction) Eval(value []float64, grad, x *mat.Dense) {
	f.Function.Eval(value, grad, x)
	for i := range value {
		value[i] += f.shift
		switch f.fault {
		case "infinite":
			value[i] = math.Inf(1)
		case "rows":
			value[i] += float64(i)
		case "with gradient":
			if grad != nil {
				value[i]++
			}
		case "scaled":
			if grad != nil {
				grad.Set(i, 0, 0.98*grad.At(i, 0))
			}
		case "gradient":
			if grad != nil {
				grad.Set(i, 0, -grad.At(i, 0))
			}
		}
	}
}

// scaled multiplies the values of an Acquisition by a number, and the gradients too. Gradients of functions of the given
// number of points are multiplied by grad.
type scaled struct {
	acquisition.Acquisition
	value, grad float64
	points      int
}

type scaledFunction struct {
	acquisition.Function
	value, grad float64
}

func (a scaled) Build(ctx context.Context, p acquisition.Problem, q int, rng *rand.Rand) (acquisition.Function, error) {
	f, err := a.Acquisition.Build(ctx, p, q, rng)
	if q != a.points {
		a.grad = a.value
	}
	return scaledFunction{f, a.value, a.grad}, err
}

func (f scaledFunction) Eval(value []float64, grad, x *mat.Dense) {
	f.Function.Eval(value, grad, x)
	floats.Scale(f.value, value)
	if grad != nil {
		grad.Scale(f.grad, grad)
	}
}

// Values may have any scale. Gradients of small values and of functions of two points are checked.
func TestScaledGradients(t *testing.T) {
	for _, value := range []float64{1e-6, 1, 1e4} {
		require.NoError(t, Check(scaled{acquisition.EI{}, value, value, 1}), "%v", value)
		require.ErrorContains(t, Check(scaled{acquisition.EI{}, value, -value, 1}), "gradient: ", "%v", value)
		for _, a := range []acquisition.Acquisition{acquisition.QEI{Samples: 256}, acquisition.QLogEI{Samples: 256}, acquisition.LogNEI{Samples: 256}} {
			require.NoError(t, Check(scaled{a, value, value, 2}), "%T times %v", a, value)
			require.ErrorContains(t, Check(scaled{a, value, -value, 2}), "a batch of two points: at ", "%T times %v", a, value)
		}
	}
}

func TestFaults(t *testing.T) {
	require.NoError(t, Check(wrong{}))
	for fault, want := range map[string]string{
		"dimension":     "values: 1 inputs, noise variance 1e-05: Dim() is 2, want 1·1",
		"infinite":      "is +Inf: such a candidate counts as infeasible",
		"rows":          "among others",
		"with gradient": "with the gradient",
		"gradient":      "gradient: 1 inputs",
		"scaled":        "gradient: 1 inputs",
		"random":        "determinism: ",
		"pending":       "pending points: 1 inputs, noise variance 1e-05: values at pending points are not lower",
		"two points":    "batch: 1 inputs, noise variance 1e-05: a function of two points: Dim() is 1, want 2·1",
		"error":         "batch: 1 inputs, noise variance 1e-05: a function of two points: one point; if there is none, the error wraps ErrBatch",
	} {
		require.ErrorContains(t, Check(wrong{fault}), want, fault)
	}
}
