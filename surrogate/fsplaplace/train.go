package fsplaplace

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/specfn"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/target"
	"github.com/functionspace/bo/surrogate/internal/train"
)

// target returns the training target: the posterior of the prior's process at the rows of c.
func (p *problem) target(c *mat.Dense) (target.Gaussian, error) {
	process := p.process
	process.Noise = p.noise
	to, err := target.New(process, c, p.data.X, p.data.Y)
	if err != nil {
		return to, fmt.Errorf("fsp-laplace: %w", err)
	}
	return to, nil
}

// converged is the objective per context point, in nats, at which a stage of Gauss–Newton
// training ends. The root mean square distance of the network from the optimum is then within
// 15 % of a posterior standard deviation. The linearised network corrects the rest.
const converged = 1e-2

const (
	adamBatch     = 500   // observations in a step
	contextJitter = 1e-10 // variance added to the diagonal of K, as published
	noiseLoSD     = 1e-2  // lower bound of a learned noise, in validation and at the end
)

// likelihood is -log p(y|f) of observations, as a function of the values f of one or more
// networks and of its own parameters theta.
type likelihood interface {
	// eval returns scale·Σ -log p(y_i|f_i) over the observations with the given indices. It
	// writes the derivatives with respect to f, a row for each network, and, unless grad is
	// nil, the derivatives with respect to theta.
	eval(fbar, f *mat.Dense, index []int, scale float64, theta, grad []float64) float64
}

// gaussian is the likelihood of numbers y with noise of the standard deviation
// s = softplus(ρ). Its parameter is ρ.
//
//	-log p(y_i|f_i) = (y_i - f_i)²/(2s²) + log s + ½ log 2π.
type gaussian struct {
	y     []float64
	learn bool    // learn ρ; validation uses s ≥ least
	least float64 // lower bound of s
}

func (g gaussian) eval(fbar, f *mat.Dense, index []int, scale float64, theta, grad []float64) float64 {
	rho := theta[0]
	s, slope := specfn.Softplus(rho)
	if grad == nil && g.learn && s < g.least {
		s, _ = specfn.Softplus(specfn.SoftplusInverse(g.least))
	}
	var sq float64
	bar := fbar.RawRowView(0)
	for i, f := range f.RawRowView(0) {
		e := f - g.y[index[i]]
		sq += e * e
		bar[i] = scale * e / (s * s)
	}
	b := float64(len(index))
	if grad != nil {
		grad[0] = 0
		if g.learn {
			grad[0] = scale * (b/s - sq/(s*s*s)) * slope
		}
	}
	return scale * (sq/(2*s*s) + b*(math.Log(s)+0.5*math.Log(2*math.Pi)))
}

// loss is the objective of Algorithm 1 at given context points. It is for a batch of b of n observations and
// networks with the prior means μ_c:
//
//	R(θ) = -(n/b) Σ_batch log p(y|f) + ½ Σ_c (f_c(C) - μ_c)ᵀ K⁻¹ (f_c(C) - μ_c).
//
// θ holds the weights of the networks one after another, then the parameters of the
// likelihood. A loss holds a workspace and serves one goroutine.
type loss struct {
	p          *problem
	likelihood likelihood
	means      []float64
	inputs     *mat.Dense // all training inputs, or the held-out ones, in network units
	weight     int        // number of observations that a batch stands for

	index []int      // the batch
	x     *mat.Dense // inputs of the batch in network units
	some  *mat.Dense // memory for the inputs of a smaller batch
	c     *mat.Dense // context points in network units
	k     *mat.SymDense
	chol  linalg.Cholesky // factor of K + jitter

	jitter float64 // variance added to K, relative to the mean prior variance; 0 is contextJitter, absolute

	// contextFirst is the order of the two sums of a gradient. It affects the last digits of a
	// fit.
	contextFirst bool

	atX     []nn.Tape
	atC     nn.Tape
	f, fbar mat.Dense // a row for each network
	u       []float64
}

// newLoss returns the loss of the inputs x, with a weight as of all training observations.
func (p *problem) newLoss(l likelihood, x *mat.Dense, means ...float64) *loss {
	n, _ := p.data.Dims()
	return &loss{p: p, likelihood: l, means: means, inputs: p.inputs.Apply(x), weight: n, atX: make([]nn.Tape, len(means))}
}

// at sets the context points to the rows of c.
func (l *loss) at(c *mat.Dense) error {
	if nc, d := c.Dims(); l.c == nil || nc != len(l.u) {
		l.c, l.k, l.u = mat.NewDense(nc, d, nil), mat.NewSymDense(nc, nil), make([]float64, nc)
	}
	l.p.process.Kernel.Gram(l.k, c)
	jitter := contextJitter
	if l.jitter > 0 {
		jitter = l.jitter * mat.Trace(l.k) / float64(l.k.SymmetricDim())
	}
	linalg.AddDiagonal(l.k, jitter)
	if err := l.chol.Factorize(l.k); err != nil {
		return fmt.Errorf("prior covariance at the context points: %w", err)
	}
	l.p.inputs.ApplyTo(l.c, c)
	return nil
}

// batch sets the batch to the observations with the given indices. If there are as many
// indices as observations, the batch is all observations in order.
func (l *loss) batch(index []int) {
	n, d := l.inputs.Dims()
	l.index, l.x = index, l.inputs
	if len(index) < n {
		if l.some == nil || l.some.RawMatrix().Rows != len(index) {
			l.some = mat.NewDense(len(index), d, nil)
		}
		l.x = l.some
		for i, r := range index {
			l.some.SetRow(i, l.inputs.RawRowView(r))
		}
	}
	for _, m := range []*mat.Dense{&l.f, &l.fbar} {
		m.Reset()
		m.ReuseAs(len(l.means), len(index))
	}
}

// eval returns R and, unless grad is nil, writes its gradient.
func (l *loss) eval(theta, grad []float64) float64 {
	size := l.p.net.NumParams()
	last := size * len(l.means)
	for k := range l.means {
		l.atX[k].Record(l.p.net, theta[k*size:(k+1)*size], l.x)
		copy(l.f.RawRowView(k), l.atX[k].Value())
	}
	var own []float64
	if grad != nil {
		clear(grad)
		own = grad[last:]
	}
	value := l.likelihood.eval(&l.fbar, &l.f, l.index, float64(l.weight)/float64(len(l.index)), theta[last:], own)
	for k, mean := range l.means {
		l.atC.Record(l.p.net, theta[k*size:(k+1)*size], l.c)
		for i, f := range l.atC.Value() {
			l.u[i] = f - mean
		}
		l.chol.SolveLowerVec(l.u)
		value += 0.5 * linalg.Dot(l.u, l.u)
		if grad != nil {
			l.chol.SolveUpperVec(l.u)
			dw := grad[k*size : (k+1)*size]
			if l.contextFirst {
				l.atC.VJP(dw, l.u)
			}
			l.atX[k].VJP(dw, l.fbar.RawRowView(k))
			if !l.contextFirst {
				l.atC.VJP(dw, l.u)
			}
		}
	}
	return value
}

// trainAdam trains by Algorithm 1 as published. It does not change a fixed noise variance.
func (p *problem) trainAdam(ctx context.Context, w []float64, rng *rand.Rand) ([]float64, float64, error) {
	t := p.newAdam(w)
	if err := t.run(ctx, rng); err != nil {
		return nil, 0, fmt.Errorf("fsp-laplace: %w", err)
	}
	best := t.Best[:len(w)]
	if p.Spec.Noise != nil {
		return best, p.noise, nil
	}
	s, _ := specfn.Softplus(t.Best[len(w)])
	s = max(s, p.leastSD())
	return best, s * s, nil
}

// leastSD returns the lower bound of the standard deviation of a learned noise: none as
// published.
func (p *problem) leastSD() float64 {
	if p.published() {
		return 0
	}
	return noiseLoSD
}

// newAdam returns a run of Adam on w and ρ.
func (p *problem) newAdam(w []float64) *adam {
	rho, learn := specfn.SoftplusInverse(p.NoiseStart), p.Spec.Noise == nil
	if !learn {
		rho = specfn.SoftplusInverse(math.Sqrt(p.noise))
	}
	of := func(d surrogate.Dataset) *loss {
		return p.newLoss(gaussian{d.Y, learn, p.leastSD()}, d.X, p.process.Mean)
	}
	t := newAdam(of(p.data), append(slices.Clone(w), rho))
	if p.held.Y != nil {
		t.held, t.Patience = of(p.held), train.HeldOutPatience
		t.held.batch(subset.All(len(p.held.Y)))
	}
	return t
}

// adam is Algorithm 1 as published: Adam on θ, with new uniform context points at every step.
// Training ends early by the objective on all training data, or on the held-out data.
type adam struct {
	*loss
	held *loss // of the held-out data; may be nil
	train.Early
	opt         optimize.Adam
	theta, grad []float64

	context    *mat.Dense // memory for points of the box, in the dataset's units
	all, drawn []int      // indices of all observations and of the batch
}

func newAdam(l *loss, theta []float64) *adam {
	n, d := l.inputs.Dims()
	return &adam{
		loss: l, theta: theta, grad: make([]float64, len(theta)),
		context: mat.NewDense(l.p.Context, d, nil), all: subset.All(n), drawn: make([]int, adamBatch),
	}
}

func (t *adam) run(ctx context.Context, rng *rand.Rand) error {
	notes, err := t.Run(ctx, t.p.Steps, func(check bool) error { return t.step(check, rng) })
	t.p.notes = append(t.p.notes, notes...)
	return err
}

// step draws context points and moves θ. If check is set, it first observes the objective on all
// training data or on the held-out data.
func (t *adam) step(check bool, rng *rand.Rand) error {
	c := t.p.source.Points(t.p.box, t.p.Context, rng, func(_ int, rng *rand.Rand) *mat.Dense {
		t.p.box.FillUniform(t.context, rng)
		return t.context
	})
	if err := t.p.source.Err(); err != nil {
		return err
	}
	if err := t.at(c); err != nil {
		return err
	}
	if check {
		if err := t.observe(c); err != nil {
			return err
		}
	}
	t.descend(t.p.Rate, rng)
	return nil
}

// observe evaluates the objective that ends training early, at the context points c.
func (t *adam) observe(c *mat.Dense) error {
	if t.held == nil {
		t.batch(t.all)
		t.Observe(t.eval(t.theta, nil), t.theta)
		return nil
	}
	if err := t.held.at(c); err != nil {
		return err
	}
	t.Observe(t.held.eval(t.theta, nil), t.theta)
	return nil
}

// descend takes a step of Adam along the gradient on a batch of the observations.
func (t *adam) descend(rate float64, rng *rand.Rand) {
	index := t.all
	if n := len(index); n > len(t.drawn) {
		index = t.drawn
		for i := range index {
			index[i] = rng.IntN(n)
		}
	}
	t.batch(index)
	t.eval(t.theta, t.grad)
	t.opt.Step(rate, t.theta, t.grad)
}
