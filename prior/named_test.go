package prior

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

var namedInputs = []Input{
	{Name: "hour", First: 0, Columns: 1, Unit: 48},
	{Name: "learning.rate", First: 1, Columns: 1, Unit: math.Log(1000), Aperiodic: "logarithmic"},
	{Name: "opt", First: 2, Columns: 3, Unit: 1, Aperiodic: "categorical"},
	{Name: `odd "name"`, First: 5, Columns: 1, Unit: 2},
	{Name: "depth", First: 6},
}

const namedDim = 6

var namedExpressions = map[string]string{ // the same kernel by numbers, in the unit cube
	"periodic[hour](period=24)":                      "periodic[0](period=0.5)",
	"matern52[hour](lengthscale=12)":                 "matern52[0](lengthscale=0.25)",
	`rbf["learning.rate"](lengthscale=2.302585093)`:  "rbf[1](lengthscale=0.33333333333)",
	"linear[hour](lengthscale=48,offset=2)":          "linear[0](lengthscale=1,offset=2)",
	"rq[hour,opt](lengthscale=[24,0.5],alpha=1)":     "rq[0,2,3,4](lengthscale=[0.5,0.5,0.5,0.5],alpha=1)",
	`2*rbf["odd \"name\"", hour](lengthscale=[1,6])`: "2*rbf[5,0](lengthscale=[0.5,0.125])",
	"arccos[hour](weight=1,bias=1)":                  "arccos[0](weight=1,bias=1)",
	"rbf[hour](lengthscale=12)*rbf(lengthscale=1)":   "rbf[0](lengthscale=0.25)*rbf(lengthscale=1)",
	"white[hour] + constant[opt]":                    "white[0]+constant[2,3,4]",
}

func TestNamedKernelsEqualNumberedKernels(t *testing.T) {
	x := mat.NewDense(4, namedDim, nil)
	for i := range 4 {
		for j := range namedDim {
			x.Set(i, j, math.Mod(0.37*float64(i+1)*float64(j+2), 1))
		}
	}
	for named, numbered := range namedExpressions {
		a, err := ParseNamed(named, namedDim, namedInputs)
		require.NoError(t, err, named)
		b := parsed(t, numbered, namedDim)
		ga, gb := mat.NewSymDense(4, nil), mat.NewSymDense(4, nil)
		a.Gram(ga, x)
		b.Gram(gb, x)
		require.True(t, mat.EqualApprox(ga, gb, 1e-9), named)
		again, err := ParseNamed(a.String(), namedDim, namedInputs)
		require.NoError(t, err, a.String())
		require.Equal(t, a.String(), again.String())
		require.Equal(t, a.Params(), again.Params())
	}
}

// The fit of a named kernel is the fit of the kernel by numbers, in another unit.
func TestNamedHyperparametersHaveUnits(t *testing.T) {
	k, err := ParseNamed("periodic[hour]*matern52[hour,opt] + linear[hour] + rbf[0]", namedDim, namedInputs)
	require.NoError(t, err)
	plain := parsed(t, "periodic[0]*matern52[0,2,3,4] + linear[0] + rbf[0]", namedDim)
	unit := map[string]float64{
		"periodic.lengthscale[hour]": 1, "periodic.period[hour]": 48, "matern52.lengthscale[hour]": 48,
		"matern52.lengthscale[opt:1]": 1, "matern52.lengthscale[opt:3]": 1, "linear.lengthscale[hour]": 48, "linear.offset": 1, "rbf.lengthscale[0]": 1,
	}
	seen := 0
	for i, p := range k.Params() {
		u, ok := unit[p.Name]
		if !ok {
			continue
		}
		seen++
		q := plain.Params()[i]
		require.InEpsilon(t, u*q.Value, p.Value, 1e-12, p.Name)
		require.InEpsilon(t, u*q.Lo, p.Lo, 1e-12, p.Name)
		a, _ := p.Prior.LogProb(u * 0.7)
		b, _ := q.Prior.LogProb(0.7)
		require.InDelta(t, b-math.Log(u), a, 1e-9, p.Name)
	}
	require.Equal(t, len(unit), seen)
}

func TestNamedGradients(t *testing.T) {
	k, err := ParseNamed("periodic[hour](period=24)*matern52[hour,opt] + linear[hour]", namedDim, namedInputs)
	require.NoError(t, err)
	at, y := []float64{0.3, 0.2, 0.1, 0.5, 0.9, 0.4}, mat.NewDense(1, namedDim, []float64{0.45, 0.6, 0.2, 0.4, 0.8, 0.1})
	value := func(x []float64) float64 {
		out := mat.NewDense(1, 1, nil)
		k.Cross(out, mat.NewDense(1, namedDim, x), y)
		return out.At(0, 0)
	}
	dx := mat.NewDense(1, namedDim, nil)
	k.CrossVJP(dx, mat.NewDense(1, namedDim, at), y, mat.NewDense(1, 1, []float64{1}))
	for j := range at {
		const h = 1e-6
		up, down := append([]float64(nil), at...), append([]float64(nil), at...)
		up[j] += h
		down[j] -= h
		require.InDelta(t, (value(up)-value(down))/(2*h), dx.At(0, j), 1e-6)
	}
}

func TestNamedErrors(t *testing.T) {
	for expr, want := range map[string]string{
		"rbf[huor]":                          `position 5: "huor" is not a parameter: did you mean hour?`,
		"rbf[hour, hour]":                    `position 11: input hour is named twice`,
		"rbf[0, hour]":                       `position 8: input hour is named twice`,
		"rbf[depth]":                         `"depth" is fixed`,
		"rbf[hour":                           `expected ']', found the end`,
		`rbf["hour]`:                         `position 5: the name has no closing quote`,
		`rbf["ho\ur"]`:                       `expected \" or \\ in a name`,
		`periodic["learning.rate"]`:          `position 10: "learning.rate" is logarithmic and has no period: use another kernel, such as matern52["learning.rate"]`,
		"periodic[hour,opt]":                 `opt is categorical and has no period`,
		"rbf[hour,opt](lengthscale=[1,2,3])": `lengthscale has 3 values, want 1 or 2`,
	} {
		_, err := ParseNamed(expr, namedDim, namedInputs)
		require.ErrorIs(t, err, ErrExpression, expr)
		require.ErrorContains(t, err, want, expr)
	}
	_, err := Parse("rbf[hour]", 2)
	require.ErrorContains(t, err, "names belong to the parameters of a study")
	require.ErrorContains(t, Spec{Kernel: "rbf[hour]", Inputs: namedInputs, Lengthscale: []float64{1}}.Check(namedDim), "the kernel names inputs")
}
