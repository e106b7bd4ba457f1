package runner

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// smallTables are the tables of the UCI repository on which exact regression is feasible in
// the papers on GFSVI and FSP-Laplace.
var smallTables = []string{"boston", "concrete", "energy", "wine_red", "yacht"}

// distanceSuite measures the distance of posteriors from the exact Gaussian process with the
// same prior as in GFSVI, table 5 (Cinquin and Bamler, arXiv:2406.04317). The quantities are
// explained in docs/benchmarks/distance.md.
func distanceSuite() Suite {
	s := Suite{
		Name:    "paper/distance",
		Summary: "distance from the exact process with the same RBF prior on five tables, after the GFSVI paper; needs --data",
		Methods: []string{"gfsvi", "fvi", "svgp-100", "fsp-laplace"},
		Aliases: []Alias{
			{Name: "svgp-100", Method: "svgp:inducing=100"},
			{Name: "gfsvi-published", Method: "gfsvi:preset=published"},
			{Name: "fvi-published", Method: "fvi:preset=published;hidden=100,100;activation=tanh"},
		},
		Quantities: []Quantity{
			{Name: "w2", Title: "Distance W2, closed form", Digits: 4, Lower: true},
			{Name: "w2_sampled", Title: "Distance W2 of 1000 samples", Digits: 4, Lower: true},
			{Name: "w2_squared_sampled", Title: "Squared distance of 1000 samples", Digits: 4, Lower: true},
		},
		Seeds: folds,
	}
	for _, name := range smallTables {
		s.Experiments = append(s.Experiments, Experiment{Name: name, Folders: []string{name}, Load: func(dir string) (Measurement, error) {
			t, err := tableOf(dir, name)
			if err != nil {
				return nil, err
			}
			return (&distances{table: t}).measure, nil
		}})
	}
	return s
}

// distances measures the distance of posteriors from the exact process on folds of a table.
type distances struct {
	table *Table
	exact sync.Map // from seeds to functions that fit the exact process
}

// reference is the exact process on a fold.
type reference struct {
	fold
	prior    []string // settings of the prior
	mean, sd []float64
	err      error
}

// of returns the reference of a fold, which it fits once.
func (d *distances) of(seed uint64) *reference {
	f, _ := d.exact.LoadOrStore(seed, sync.OnceValue(func() *reference { return d.fit(seed) }))
	return f.(func() *reference)()
}

// fit fits the hyperparameters of the RBF kernel to the training rows.
func (d *distances) fit(seed uint64) *reference {
	r := &reference{}
	if r.fold, r.err = d.table.fold(seed); r.err != nil {
		return r
	}
	spec := prior.Spec{Kernel: "rbf", Mean: prior.MeanZero}
	fitted, err := spec.Fit(context.Background(), r.train.X, r.train.Y, false, nil, random.New(seed, "prior of "+d.table.Name, 0))
	if err != nil {
		r.err = err
		return r
	}
	r.prior = settingsOf(fitted.Process)
	post, err := gp.New(fitted.Process, r.train)
	if err != nil {
		r.err = err
		return r
	}
	r.mean, r.sd, r.err = moments(context.Background(), post, r.test)
	return r
}

// settingsOf writes an RBF process with mean 0 as settings of a method.
func settingsOf(p prior.Process) []string {
	var scales []string
	list := []string{"kernel=rbf", "mean=" + prior.MeanZero, fmt.Sprintf("noise=%v", p.Noise)}
	for _, param := range p.Kernel.Params() {
		if param.Name == "variance" {
			list = append(list, fmt.Sprintf("variance=%v", param.Value))
		} else {
			scales = append(scales, strconv.FormatFloat(param.Value, 'g', -1, 64))
		}
	}
	return append(list, "lengthscale="+strings.Join(scales, ","))
}

// moments returns means and standard deviations of the latent function.
func moments(ctx context.Context, p surrogate.Posterior, x *mat.Dense) (mean, sd []float64, err error) {
	mean, sd, err = predict(ctx, p, x)
	for i, v := range sd {
		sd[i] = math.Sqrt(max(0, v))
	}
	return mean, sd, err
}

// samples is the number of samples of an empirical distance, as published.
const samples = 1000

func (d *distances) measure(ctx context.Context, m Method, seed uint64, rec *Record) error {
	r := d.of(seed)
	if r.err != nil {
		return r.err
	}
	c, err := m.chooser(r.prior...)
	if err != nil {
		return err
	}
	_, rec.Dim = r.train.Dims()
	post, err := c.Surrogate.Fit(ctx, r.train, random.New(seed, "fit of "+d.table.Name, 0))
	if err != nil {
		return err
	}
	rec.warn(post.Warnings())
	mean, sd, err := moments(ctx, post, r.test)
	if err != nil {
		return err
	}
	rng := random.New(seed, "samples of "+d.table.Name, 0)
	n := float64(len(mean))
	for i := range mean {
		own := empirical(mean[i], sd[i], r.mean[i], r.sd[i], rng)
		rec.Measures["w2"] += math.Hypot(mean[i]-r.mean[i], sd[i]-r.sd[i]) / n
		rec.Measures["w2_sampled"] += math.Sqrt(own) / n
		rec.Measures["w2_squared_sampled"] += own / n
		rec.Measures["floor"] += math.Sqrt(empirical(r.mean[i], r.sd[i], r.mean[i], r.sd[i], rng)) / n
	}
	return nil
}

// empirical returns the squared Wasserstein-2 distance of samples from two Gaussians.
func empirical(mean1, sd1, mean2, sd2 float64, rng *rand.Rand) float64 {
	a, b := make([]float64, samples), make([]float64, samples)
	for i := range a {
		a[i], b[i] = mean1+sd1*rng.NormFloat64(), mean2+sd2*rng.NormFloat64()
	}
	slices.Sort(a)
	slices.Sort(b)
	var sum float64
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i]) / samples
	}
	return sum
}
