package prior

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

func TestParse(t *testing.T) {
	for expr, want := range map[string]struct {
		canonical string
		params    []string
	}{
		"rbf":                     {"rbf", []string{"variance", "lengthscale[0]", "lengthscale[1]"}},
		" ( ( rbf ) ) ":           {"rbf", []string{"variance", "lengthscale[0]", "lengthscale[1]"}},
		"variance*rbf":            {"rbf", []string{"variance", "lengthscale[0]", "lengthscale[1]"}},
		"rbf(ard=false)":          {"rbf(ard=false)", []string{"variance", "lengthscale"}},
		"rbf(ard=true)":           {"rbf", []string{"variance", "lengthscale[0]", "lengthscale[1]"}},
		"rq[1]":                   {"rq[1]", []string{"variance", "lengthscale[1]", "alpha"}},
		"linear":                  {"linear", []string{"lengthscale[0]", "lengthscale[1]", "offset"}},
		"variance*linear":         {"variance*linear", []string{"variance", "lengthscale[0]", "lengthscale[1]", "offset"}},
		"2":                       {"2*constant", []string{"variance"}},
		"2 * 3 * constant":        {"6*constant", []string{"variance"}},
		"constant+white":          {"constant+white", []string{"constant.variance", "white.variance"}},
		"rbf*2*constant":          {"2*rbf*constant", []string{"variance", "rbf.lengthscale[0]", "rbf.lengthscale[1]"}},
		"white+(white+white)":     {"white+white+white", []string{"white.variance", "white.variance#2", "white.variance#3"}},
		"white*(white*constant)":  {"white*white*constant", []string{"variance"}},
		"constant*(white+white)":  {"constant*(white+white)", []string{"white.variance", "white.variance#2"}},
		"2*(white+constant)":      {"2*(white+constant)", []string{"variance", "white.variance", "constant.variance"}},
		"polynomial":              {"polynomial(degree=2)", []string{"lengthscale[0]", "lengthscale[1]", "offset"}},
		"arccos(bias=1.3)":        {"arccos(depth=1,bias=1.3)", []string{"weight", "bias"}},
		"rbf(lengthscale=.3)":     {"rbf(lengthscale=0.3)", []string{"variance", "lengthscale[0]", "lengthscale[1]"}},
		"1e-3*rbf":                {"0.001*rbf", []string{"variance", "lengthscale[0]", "lengthscale[1]"}},
		"rbf(lengthscale=[2,2])":  {"rbf(lengthscale=2)", []string{"variance", "lengthscale[0]", "lengthscale[1]"}},
		"white*linear[0]+rq[1,0]": {"white*linear[0]+rq[1,0]", []string{"linear.lengthscale[0]", "linear.offset", "rq.variance", "rq.lengthscale[1]", "rq.lengthscale[0]", "rq.alpha"}},
	} {
		k, err := Parse(expr, 2)
		require.NoError(t, err, expr)
		require.Equal(t, want.canonical, k.String(), expr)
		require.Equal(t, 2, k.Dim())
		names := []string{}
		for _, p := range k.Params() {
			names = append(names, p.Name)
		}
		require.Equal(t, want.params, names, expr)
	}

	k := parsed(t, "rbf(lengthscale=[2,3])*periodic(period=0.5)", 2)
	want := map[string]float64{"rbf.lengthscale[0]": 2, "rbf.lengthscale[1]": 3, "periodic.period[0]": 0.5, "periodic.period[1]": 0.5}
	for _, p := range k.Params() {
		v, fixed := want[p.Name]
		require.Equal(t, fixed, p.Fixed, p.Name)
		if fixed {
			require.Equal(t, v, p.Value)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for expr, want := range map[string]string{
		"":                         `position 1: expected a kernel, found the end`,
		"rbf*periodc+linear":       `position 5: unknown kernel "periodc": did you mean periodic?`,
		"rbf+":                     `position 5: expected a kernel, found the end`,
		"rbf linear":               `position 5: unexpected "linear"`,
		"(rbf+linear":              `position 12: expected ')', found the end`,
		"rbf)":                     `position 4: unexpected ")"`,
		"rbf(lengthscal=1)":        `position 5: rbf has no argument "lengthscal": did you mean lengthscale?`,
		"white(variance=1)":        `position 7: white takes no arguments`,
		"rbf()":                    `position 5: expected an argument of rbf, found ")"`,
		"rbf(lengthscale=0)":       `position 17: "0" is not a positive number`,
		"rbf(lengthscale=-1)":      `position 17: expected a positive number, found "-1)"`,
		"rbf(lengthscale=1e999)":   `position 17: "1e999" is not a positive number`,
		"rbf(lengthscale=[1,2,3])": `position 17: lengthscale has 3 values, want 1 or 2`,
		"rbf(ard=maybe)":           `position 9: ard is true or false, found "maybe)"`,
		"rbf(ard=true,ard=true)":   `position 14: ard is given twice`,
		"rbf[2]":                   `position 5: input 2 of a space with 2: counting starts at 0`,
		"rbf[0,0]":                 `position 7: input 0 is named twice`,
		"rbf[a]":                   `position 5: expected the number of an input, found "a]"`,
		"arccos(depth=1.5)":        `position 14: depth is a whole number from 1 to 64`,
		"arccos(depth=0)":          `position 14: "0" is not a positive number`,
		"polynomial(degree=[2])":   `position 19: degree is a whole number from 1 to 64`,
		"1e200*1e200*rbf":          `position 7: the product of the constants is not a positive finite number`,
		"1e300*(1e300)*rbf":        `position 7: the product of the constants is not a positive finite number`,
		"5e-324*(0.5)":             `position 8: the product of the constants is not a positive finite number`,
		"1e300*(rbf+1e300*white)":  `position 7: the product of the constants is not a positive finite number`,
		"(rbf+1e-300*white)*1e-99": `position 20: the product of the constants is not a positive finite number`,
		"1e308*rbf + 1e308*rbf":    `position 13: the sum of the constants is not a finite number`,
		"2*(8e307*rbf+8e307)":      `position 3: the product of the constants is not a positive finite number`,
		"1e308+(1e308*rbf+linear)": `position 7: the sum of the constants is not a finite number`,
		"rbf-linear":               `position 4: unexpected "-linear"`,
		"rbf(lengthscale=0.3":      `position 20: expected ')', found the end`,
		"arccos(weight=[1,2])":     `position 15: weight is one number, not 2`,
		"rbf(lengthscale)":         `position 16: expected '=', found ")"`,
		"rbf*potential":            `position 5: potential takes 3 inputs, not 2`,
		"é":                        `position 1: expected a kernel, found "é"`,
	} {
		_, err := Parse(expr, 2)
		require.ErrorIs(t, err, ErrExpression, expr)
		require.ErrorContains(t, err, want, expr)
	}
	_, err := Parse("rbf", 0)
	require.ErrorIs(t, err, ErrExpression)
}

func TestDescribe(t *testing.T) {
	for _, name := range Names() {
		formula, _, err := Describe(name)
		require.NoError(t, err)
		require.NotEmpty(t, formula)
		parsed(t, name, 3)
	}
	_, _, err := Describe("mattern52")
	require.ErrorContains(t, err, `did you mean matern52?`)
}

// Parse reads the text of a kernel built in Go as the same kernel.
func TestStringOfBuiltKernels(t *testing.T) {
	for want, k := range map[string]Kernel{
		"1*rbf":                      RBF(2),
		"rbf":                        Scale(RBF(2)),
		"2*rbf+linear":               Sum(ScaleBy(2, RBF(2)), Linear(2)),
		"1*rbf*periodic":             Product(RBF(2), Periodic(2)),
		"variance*(1*rbf+linear)":    Scale(Sum(RBF(2), Linear(2))),
		"1*rbf[1]*constant[1]":       OnInputs(Product(RBF(1), Constant(1)), 2, 1),
		"matern12[0]":                OnInputs(OnInputs(Scale(Matern12(1)), 2, 1), 2, 1, 0),
		"1*matern32+1*rq+1*white":    Sum(Matern32(2), RationalQuadratic(2), White(2)),
		"arccos(depth=2)":            ArcCosine(2, 2),
		"polynomial(degree=3)":       Polynomial(2, 3),
		"1*matern52+variance*linear": Sum(Matern52(2), Scale(Linear(2))),
	} {
		require.Equal(t, want, k.String())
		again := parsed(t, want, 2)
		require.Equal(t, want, again.String())
		x := mat.NewDense(3, 2, []float64{0.1, 0.9, 0.5, 0.2, 0.8, 0.8})
		a, b := mat.NewSymDense(3, nil), mat.NewSymDense(3, nil)
		k.Gram(a, x)
		again.Gram(b, x)
		require.True(t, mat.EqualApprox(a, b, 1e-12), want)
	}
}

func FuzzParse(f *testing.F) {
	for _, e := range expressions {
		f.Add(e, 3)
	}
	for _, e := range []string{"2*(rbf(lengthscale=[1,2e3,.5]) + 1e-2*white)", "((((", "variance*variance", "1e300*(1e300)*rbf", "5e-324*(0.5)", "1e300*(rbf+1e9*(white+1e-9))", "rq[1,2](alpha=3)*(0.5*linear[0]+constant)", "+*()[]=,."} {
		f.Add(e, 3)
	}
	x := mat.NewDense(2, 3, []float64{0.1, 0.9, 0.3, 0.5, 0.2, 0.7})
	f.Fuzz(func(t *testing.T, expr string, dim int) {
		k, err := Parse(expr, dim%4)
		if err != nil {
			require.ErrorIs(t, err, ErrExpression)
			return
		}
		again, err := Parse(k.String(), k.Dim())
		require.NoError(t, err, "%q gives %q", expr, k)
		require.Equal(t, k.String(), again.String())
		require.Equal(t, k.Params(), again.Params())
		if k.Dim() == 3 {
			a, b := mat.NewSymDense(2, nil), mat.NewSymDense(2, nil)
			k.Gram(a, x)
			again.Gram(b, x)
			require.True(t, mat.EqualApprox(a, b, 1e-12) || !finite(a.At(0, 0)), expr)
		}
	})
}
