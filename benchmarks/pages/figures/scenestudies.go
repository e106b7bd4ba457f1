package figures

import (
	_ "embed"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/table"
	"github.com/functionspace/bo/surrogate"
)

// between returns n equidistant points.
func between(lo, hi float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = lo + (hi-lo)*float64(i)/float64(n-1)
	}
	return x
}

// sceneGrid is the number of points of a panel.
const sceneGrid = 101

// sine is a stage with the sine and the gap of the posteriors.
func sine(name, summary string, rows, columns []string, of func(row, column int) scene) stage {
	return stage{
		name: name, summary: summary, rows: rows, columns: columns, scene: of,
		data: func(s scene, seed uint64) surrogate.Dataset { return noisyData(seed, s.noise) },
		x:    between(-2, 2, sceneGrid), bottom: -top, top: top,
	}
}

// given returns the scene of a surrogate with a kernel under a prior.
func given(name string, p Prior, noise float64, more ...string) scene {
	settings := []string{"kernel=" + p.Kernel, fmt.Sprintf("lengthscale=%v", p.Lengthscale), "variance=1", fmt.Sprintf("noise=%v", noise), "mean=zero"}
	return scene{surrogate: name, settings: append(settings, more...), process: &p, noise: noise}
}

// lengthscales follows GFSVI, figure 6, and FSP-Laplace, figure C.3.
func lengthscales() stage {
	scales := []float64{0.1, 0.25, 0.5, 1}
	rows := []string{"gfsvi", "fsp-laplace"}
	var columns []string
	for _, l := range scales {
		columns = append(columns, fmt.Sprintf("lengthscale %v", l))
	}
	return sine("lengthscales", "posteriors of gfsvi and fsp-laplace under RBF priors of four lengthscales", rows, columns, func(i, j int) scene {
		return given(rows[i], Prior{"rbf", "RBF", "rbf", scales[j]}, Noise)
	})
}

// noises follows GFSVI, figure 4, and FSP-Laplace, figure C.4.
func noises() stage {
	deviations := []float64{0.1, 0.3, 1}
	rows := []string{"gfsvi", "fsp-laplace", "laplace"}
	var columns []string
	for _, s := range deviations {
		columns = append(columns, fmt.Sprintf("noise %v", s))
	}
	p := Priors()[0]
	return sine("noise", "posteriors of gfsvi, fsp-laplace and laplace from data of little and much noise", rows, columns, func(i, j int) scene {
		noise := deviations[j] * deviations[j]
		if rows[i] == "laplace" {
			return scene{surrogate: rows[i], settings: []string{fmt.Sprintf("noise=%v", noise)}, noise: noise}
		}
		return given(rows[i], p, noise)
	})
}

// measurementPoints follows GFSVI, figures 7 and 8, and FSP-Laplace, figure C.7. The training
// inputs are no measurement points of gfsvi and fsp-laplace. fvi has the batch among its points.
func measurementPoints() stage {
	counts := []int{5, 10, 100}
	rows := []string{"gfsvi, RBF", "gfsvi, Matérn-1/2", "fvi, RBF", "fvi, Matérn-1/2", "fsp-laplace, RBF", "fsp-laplace, Matérn-1/2"}
	var columns []string
	for _, m := range counts {
		columns = append(columns, fmt.Sprintf("%d points", m))
	}
	return sine("measurement-points", "posteriors of gfsvi, fvi and fsp-laplace with few and many measurement or context points", rows, columns, func(i, j int) scene {
		p, m := Priors()[i%2], counts[j]
		switch i / 2 {
		case 0:
			return given("gfsvi", p, Noise, fmt.Sprintf("context=%d", m), "measure=box")
		case 1:
			batch := min(m/2, Observations/2)
			return given("fvi", p, Noise, fmt.Sprintf("context=%d", m-batch), fmt.Sprintf("batch=%d", batch))
		}
		return given("fsp-laplace", p, Noise, fmt.Sprintf("context=%d", m), fmt.Sprintf("covariance-context=%d", m), "trainer=adam", "factor=lanczos")
	})
}

// snelsonData holds inputs and targets of 200 observations, by E. Snelson.
//
//go:embed data/snelson.csv
var snelsonData string

// snelsonInput returns the observations of Snelson and Ghahramani 2006, with inputs divided by 3
// and targets standardised. Every seed has the same data.
func snelsonInput(scene, uint64) surrogate.Dataset {
	t, err := table.Read("snelson.csv", strings.NewReader(snelsonData))
	if err != nil {
		panic("figures: " + err.Error())
	}
	v, err := t.Numbers("x", "y")
	if err != nil {
		panic("figures: " + err.Error())
	}
	n, _ := v.Dims()
	d := surrogate.Dataset{X: mat.NewDense(n, 1, nil), Y: mat.Col(nil, 1, v), Lo: []float64{-1}, Hi: []float64{3}}
	for i := range n {
		d.X.Set(i, 0, v.At(i, 0)/3)
	}
	d.Y = surrogate.Standardize(d.Y).Apply(d.Y, d.Y)
	return d
}

// snelson shows the data of figure 1 of TFSVI. Hyperparameters are fitted.
func snelson() stage {
	names := []string{"gp", "svgp", "fsp-laplace", "gfsvi", "tfsvi", "fvi", "gwi-net", "gwi-svgp", "laplace", "mfvi", "ensemble", "hmc"}
	return stage{
		name: "snelson", summary: "posteriors of twelve surrogate models on the data of Snelson",
		rows: []string{""}, columns: names, across: 4, data: snelsonInput,
		scene: func(_, j int) scene { return scene{surrogate: names[j]} },
		x:     between(-1, 3, sceneGrid), bottom: -top, top: top,
	}
}

// implicitPriors follows fBNN, figure 3: the first column has draws from the prior, the
// others the posteriors of three runs.
func implicitPriors() stage {
	rows := []string{"piecewise-constant", "piecewise-linear"}
	return stage{
		name: "implicit-priors", summary: "draws and posteriors of fvi under random piecewise constant and piecewise linear functions",
		rows: rows, columns: []string{"prior", "run 1", "run 2", "run 3"},
		scene: func(i, j int) scene {
			if j == 0 {
				return scene{prior: rows[i]}
			}
			return scene{surrogate: "fvi", prior: rows[i], instance: j, noise: implicitNoise, settings: []string{
				"prior=" + rows[i], "range=0,1", "hidden=100,100", "context=40", "batch=40", "eigenvalues=0.9", "steps=2000",
				"noise=" + strconv.FormatFloat(implicitNoise, 'g', -1, 64),
			}}
		},
		data: implicitData,
		x:    between(0, 1, sceneGrid), bottom: -0.5, top: 1.5,
	}
}

// implicitNoise is the noise variance of fBNN, appendix E.1.
const implicitNoise = 0.02 * 0.02

// piecewise returns the values at ascending points of [0,1] of a random function of fBNN,
// appendix E.1. It has Poisson(3) changes and uniform values. A piecewise linear function has
// values at the changes and at both ends; in the paper it ends at 0.
func piecewise(x []float64, linear bool, rng *rand.Rand) []float64 {
	knots := []float64{0}
	for sum := rng.ExpFloat64(); sum < 3; sum += rng.ExpFloat64() {
		knots = append(knots, rng.Float64())
	}
	slices.Sort(knots)
	knots = append(knots, 1)
	values := make([]float64, len(knots))
	for i := range values {
		values[i] = rng.Float64()
	}
	out := make([]float64, len(x))
	k := 0
	for i, at := range x {
		for k+2 < len(knots) && at >= knots[k+1] {
			k++
		}
		out[i] = values[k]
		if linear {
			out[i] += (values[k+1] - values[k]) * (at - knots[k]) / (knots[k+1] - knots[k])
		}
	}
	return out
}

// priorDraws returns functions from a piecewise prior on the grid.
func priorDraws(s scene, x []float64) [][]float64 {
	var list [][]float64
	for k := range 3 {
		list = append(list, piecewise(x, s.prior == "piecewise-linear", random.New(1, "draws of "+s.prior, k)))
	}
	return list
}

// implicitData returns 20 observations in [0,0.2] and 20 in [0.8,1] of a random function.
func implicitData(s scene, seed uint64) surrogate.Dataset {
	rng := random.New(seed, "data of "+s.prior, s.instance)
	x := make([]float64, 40)
	for i := range x {
		x[i] = 0.2 * rng.Float64()
		if i%2 == 1 {
			x[i] += 0.8
		}
	}
	slices.Sort(x)
	d := surrogate.Dataset{X: mat.NewDense(len(x), 1, x), Lo: []float64{0}, Hi: []float64{1}}
	for _, f := range piecewise(x, s.prior == "piecewise-linear", rng) {
		d.Y = append(d.Y, f+math.Sqrt(s.noise)*rng.NormFloat64())
	}
	return d
}
