package classify

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/internal/specfn"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// Process is a Gaussian distribution of latent functions.
type Process interface {
	// Dim returns the number of inputs.
	Dim() int
	// Moments writes the means, m×L, and the covariances of the latent functions at a
	// point, m×L², for the rows of x. Both destinations contain zeros.
	Moments(mean, cov, x *mat.Dense)
	// MomentsGrad writes the mean and variance of the latent function of two classes, with
	// their gradients, m×d.
	MomentsGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense)
}

// Independent is a Process of latent functions that are also independent given the labels.
type Independent []surrogate.Posterior

func (p Independent) Dim() int { return p[0].Dim() }

func (p Independent) Moments(mean, cov, x *mat.Dense) {
	m, _ := x.Dims()
	mu, variance := make([]float64, m), make([]float64, m)
	for c, latent := range p {
		latent.Predict(mu, variance, x)
		mean.SetCol(c, mu)
		cov.SetCol(c*len(p)+c, variance)
	}
}

func (p Independent) MomentsGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	p[0].PredictGrad(mean, variance, dmean, dvariance, x)
}

// Posterior is the surrogate.ClassPosterior of a Process.
type Posterior struct {
	Process
	Labels   int // classes
	Numbers  []surrogate.Hyper
	Notes    []string
	Evidence *float64 // evidence of the labels; nil for none
}

// Fit fits the prior of a Spec to valid labels by the stream rng and calls fit with it. It
// returns the posterior from fit, with the number of classes and the warnings of both fits. The
// posterior is a WithEvidence if it has an evidence. Errors begin with name.
func Fit(ctx context.Context, name string, s prior.Spec, d surrogate.Labels, rng *rand.Rand, fit func(Prior) (Posterior, error)) (surrogate.ClassPosterior, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	surrogate.Report(ctx, surrogate.Progress{Phase: "prior"})
	fitted, err := fitPrior(ctx, s, d, rng)
	var post Posterior
	if err == nil {
		post, err = fit(fitted)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	post.Labels, post.Notes = d.Classes, slices.Concat(fitted.Warnings, post.Notes)
	if post.Evidence != nil {
		return WithEvidence{post}, nil
	}
	return post, nil
}

// WithEvidence is a Posterior with the evidence of its labels.
type WithEvidence struct{ Posterior }

var (
	_ surrogate.ClassPosterior = Posterior{}
	_ surrogate.ClassEvidence  = WithEvidence{}
)

func (p Posterior) Classes() int                      { return p.Labels }
func (p Posterior) Latents() int                      { return Latents(p.Labels) }
func (p WithEvidence) LogMarginalLikelihood() float64 { return *p.Evidence }
func (p Posterior) Hypers() []surrogate.Hyper         { return slices.Clone(p.Numbers) }
func (p Posterior) Warnings() []string                { return slices.Clone(p.Notes) }

// chunk is the number of points to predict at once.
const chunk = 512

func (p Posterior) moments(x *mat.Dense) (mean, cov *mat.Dense) {
	m, l := shape.Points(x, p.Dim()), p.Latents()
	mean, cov = mat.NewDense(m, l, nil), mat.NewDense(m, l*l, nil)
	p.Moments(mean, cov, x)
	for i := range m {
		row := cov.RawRowView(i)
		for c := range l {
			row[c*l+c] = max(row[c*l+c], 0)
		}
	}
	return mean, cov
}

func (p Posterior) Predict(prob, x *mat.Dense) {
	m, l := shape.Points(x, p.Dim()), p.Latents()
	shape.Dims("prob", prob, m, p.Labels)
	var integral *integral
	if l > 1 {
		integral = newIntegral(l)
	}
	shape.Chunks(x, chunk, func(i, _ int, x *mat.Dense) {
		mean, cov := p.moments(x)
		r, _ := mean.Dims()
		for j := range r {
			row := prob.RawRowView(i + j)
			if l > 1 {
				integral.mean(row, mean.RawRowView(j), cov.RawRowView(j), draws)
				continue
			}
			row[1], _, _ = specfn.LogisticNormal(mean.At(j, 0), cov.At(j, 0))
			row[0], _, _ = specfn.LogisticNormal(-mean.At(j, 0), cov.At(j, 0))
		}
	})
}

func (p Posterior) PredictGrad(prob []float64, dprob, x *mat.Dense) {
	m, d := shape.Points(x, p.Dim()), p.Dim()
	shape.Len("prob", len(prob), m)
	shape.Dims("dprob", dprob, m, d)
	if p.Labels != 2 {
		panic(fmt.Sprintf("gradient of the probability of one class among %d, want 2", p.Labels))
	}
	mean, variance := make([]float64, m), make([]float64, m)
	dvariance := mat.NewDense(m, d, nil)
	p.MomentsGrad(mean, variance, dprob, dvariance, x)
	for i := range prob {
		var dm, dv float64
		prob[i], dm, dv = specfn.LogisticNormal(mean[i], max(variance[i], 0))
		row, other := dprob.RawRowView(i), dvariance.RawRowView(i)
		for j := range row {
			row[j] = dm*row[j] + dv*other[j]
		}
	}
}

func (p Posterior) Latent(mean, variance, x *mat.Dense) {
	m, l := shape.Points(x, p.Dim()), p.Latents()
	shape.Dims("mean", mean, m, l)
	shape.Dims("variance", variance, m, l)
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		mu, cov := p.moments(x)
		mean.Slice(i, k, 0, l).(*mat.Dense).Copy(mu)
		for j := range k - i {
			for c := range l {
				variance.Set(i+j, c, cov.At(j, c*l+c))
			}
		}
	})
}

// draws is the number of points of the quadrature over several latent functions.
const draws = 1024

// integral computes the mean of the softmax over N(mean, cov) by a fixed scrambled Sobol
// set.
type integral struct {
	z    *mat.Dense // draws×L, standard normal
	root []float64  // lower Cholesky factor, L×L
	f    []float64
}

func newIntegral(l int) *integral {
	s := &integral{z: space.Sobol(draws, l, random.New(0, "softmax", 0)), root: make([]float64, l*l), f: make([]float64, l)}
	data := s.z.RawMatrix().Data
	for i, u := range data {
		data[i] = distuv.UnitNormal.Quantile(min(max(u, 1e-12), 1-1e-12))
	}
	return s
}

// mean writes the mean of the softmax to dst, by the first points of the set, and returns the mean of its square.
func (s *integral) mean(dst, mean, cov []float64, points int) (squares float64) {
	l := len(mean)
	cholesky(s.root, cov, l)
	clear(dst)
	share := 1 / float64(points)
	for i := range points {
		z := s.z.RawRowView(i)
		for c := range l {
			s.f[c] = mean[c]
			for d, r := range s.root[c*l : c*l+c+1] {
				s.f[c] += r * z[d]
			}
		}
		softmax(s.f)
		for c, p := range s.f {
			dst[c] += share * p
			squares += share * p * p
		}
	}
	return squares
}

// cholesky writes the lower factor of a positive semidefinite l×l matrix. A pivot within
// rounding errors of 0 is set to 0.
func cholesky(dst, a []float64, l int) {
	clear(dst)
	for i := range l {
		for j := range i + 1 {
			v := a[i*l+j]
			for k := range j {
				v -= dst[i*l+k] * dst[j*l+k]
			}
			switch {
			case i == j && v > 1e-14*a[i*l+i]:
				dst[i*l+i] = math.Sqrt(v)
			case i != j && dst[j*l+j] > 0:
				dst[i*l+j] = v / dst[j*l+j]
			}
		}
	}
}
