// Package autodiff has numbers with their gradient, and with them networks, kernels and Gaussian
// divergences in explicit loops, without code of the other packages. Tests compare the published
// algorithms with transcriptions that use it.
package autodiff

import "math"

// Number is a value with its gradient with respect to all variables of a computation. A nil
// gradient is 0.
type Number struct {
	Value float64
	Grad  []float64
}

// Constant returns v, which depends on no variable.
func Constant(v float64) Number { return Number{Value: v} }

// Variables returns the variables of a computation at x.
func Variables(x []float64) []Number {
	out := make([]Number, len(x))
	for i, v := range x {
		out[i] = Number{v, make([]float64, len(x))}
		out[i].Grad[i] = 1
	}
	return out
}

// chain returns value with the gradient da·∇a + db·∇b.
func chain(value, da float64, a Number, db float64, b Number) Number {
	out := Number{Value: value}
	for _, term := range []struct {
		factor float64
		grad   []float64
	}{{da, a.Grad}, {db, b.Grad}} {
		if term.grad == nil {
			continue
		}
		if out.Grad == nil {
			out.Grad = make([]float64, len(term.grad))
		}
		for i, g := range term.grad {
			out.Grad[i] += term.factor * g
		}
	}
	return out
}

// Of returns f(a) for a function with the given value and derivative at a.
func (a Number) Of(value, slope float64) Number { return chain(value, slope, a, 0, Number{}) }

func (a Number) Plus(b Number) Number { return chain(a.Value+b.Value, 1, a, 1, b) }

func (a Number) Minus(b Number) Number { return chain(a.Value-b.Value, 1, a, -1, b) }

func (a Number) Times(b Number) Number { return chain(a.Value*b.Value, b.Value, a, a.Value, b) }

func (a Number) Over(b Number) Number {
	return chain(a.Value/b.Value, 1/b.Value, a, -a.Value/(b.Value*b.Value), b)
}

func (a Number) Scaled(c float64) Number { return a.Of(c*a.Value, c) }

func (a Number) Square() Number { return a.Times(a) }

func (a Number) Exp() Number { return a.Of(math.Exp(a.Value), math.Exp(a.Value)) }

func (a Number) Log() Number { return a.Of(math.Log(a.Value), 1/a.Value) }

func (a Number) Sqrt() Number {
	r := math.Sqrt(a.Value)
	return a.Of(r, 0.5/r)
}

func (a Number) Tanh() Number {
	t := math.Tanh(a.Value)
	return a.Of(t, 1-t*t)
}

// Relu returns max(a, 0).
func (a Number) Relu() Number {
	if a.Value > 0 {
		return a
	}
	return Number{}
}

// Softplus returns log(1 + eᵃ).
func (a Number) Softplus() Number { return Constant(1).Plus(a.Exp()).Log() }
