package linear_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/linear"
)

// Units is a hidden layer of random tanh units, tanh(x·W + b).
type Units struct {
	w *mat.Dense
	b []float64
}

func NewUnits(dim, n int, rng *rand.Rand) Units {
	u := Units{mat.NewDense(dim, n, nil), make([]float64, n)}
	u.w.Apply(func(_, _ int, _ float64) float64 { return 4 * rng.NormFloat64() }, u.w)
	for j := range u.b {
		u.b[j] = 4 * rng.NormFloat64()
	}
	return u
}

func (u Units) Dim() int { return u.w.RawMatrix().Rows }
func (u Units) Len() int { return len(u.b) }

// Eval implements prior.Features.
func (u Units) Eval(phi, x *mat.Dense) {
	phi.Mul(x, u.w)
	scale := 1 / math.Sqrt(float64(len(u.b)))
	phi.Apply(func(_, j int, v float64) float64 { return scale * math.Tanh(v+u.b[j]) }, phi)
}

// EvalVJP implements prior.Features.
func (u Units) EvalVJP(dx, x, phibar *mat.Dense) {
	var a, grad mat.Dense
	a.Mul(x, u.w)
	scale := 1 / math.Sqrt(float64(len(u.b)))
	a.Apply(func(i, j int, v float64) float64 {
		t := math.Tanh(v + u.b[j])
		return scale * (1 - t*t) * phibar.At(i, j)
	}, &a)
	grad.Mul(&a, u.w.T())
	dx.Add(dx, &grad)
}

// LastLayer is Bayesian linear regression on random units.
type LastLayer struct{}

func (LastLayer) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	units := NewUnits(d.X.RawMatrix().Cols, 200, rng)
	p, err := linear.Regress(ctx, linear.WithMean(units, 0), 1e-4, d)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// A surrogate model of one's own: its features are the hidden layer of a random network.
func ExampleRegress() {
	s, err := space.New(space.Float("x", 0, 1), space.Float("y", 0, 1))
	if err != nil {
		log.Fatal(err)
	}
	f := func(_ context.Context, p space.Point) (float64, error) {
		return math.Hypot(p.Float("x")-0.3, p.Float("y")-0.6), nil
	}
	result, err := loop.Minimize(context.Background(), f, s, loop.Options{Surrogate: LastLayer{}, Budget: 25, NoiseFree: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("found:", result.Best.Value < 0.05)
	// Output:
	// found: true
}

// The last layers of five networks that share their hidden layer: the normal distribution with the mean and the
// covariance of the five.
func ExampleNew() {
	rng := rand.New(rand.NewPCG(1, 2))
	units := NewUnits(1, 50, rng)
	last := mat.NewDense(50, 5, nil) // a column for each network
	last.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, last)

	mean, root := make([]float64, 50), mat.NewDense(50, 5, nil)
	for j := range mean {
		mean[j] = stat.Mean(last.RawRowView(j), nil)
		for k, v := range last.RawRowView(j) {
			root.Set(j, k, (v-mean[j])/math.Sqrt(5-1))
		}
	}
	p := linear.New(linear.WithMean(units, 0), mean, root, 1e-4)

	x := mat.NewDense(1, 1, []float64{0.3})
	m, v := make([]float64, 1), make([]float64, 1)
	p.Predict(m, v, x)
	var each mat.Dense
	_, phi := p.Features(x)
	each.Mul(phi, last)
	wantMean, wantVariance := stat.MeanVariance(each.RawRowView(0), nil)
	fmt.Printf("%.4f\n", m[0]-wantMean)
	fmt.Printf("%.4f\n", v[0]/wantVariance)
	// Output:
	// 0.0000
	// 1.0000
}
