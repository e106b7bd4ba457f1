package gwi

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/autodiff"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/plain"
	"github.com/functionspace/bo/surrogate/internal/toy"
	"github.com/functionspace/bo/surrogate/network"
)

const (
	paperBatch, paperSubsample = 8, 5
	paperVariance, paperNoise  = 1.3, 0.07
)

var paperLengths = []float64{0.4, 0.6}

// publishedOptions returns the options that paper transcribes.
func publishedOptions() Options {
	return Options{
		Preset: surrogate.Published,
		Spec:   prior.Spec{Lengthscale: paperLengths, Variance: new(paperVariance), Noise: new(paperNoise)},
		Batch:  paperBatch, Points: paperSubsample,
	}
}

// paper is a transcription of the loss of eq. 12 to 15 of the paper with the kernel r of eq. 18 and
// the mean of eq. 17 or a network. theta holds β or the weights, then the lower triangle of Λ by
// rows, with Σ = ΛΛᵀ.
type paper struct {
	net    *autodiff.Network // nil for eq. 17
	kernel func(x, y []float64) float64
	scaled func(x []float64) []float64 // to the network's inputs
	x, z   [][]float64
	y      []float64
	kzz    *mat.Dense // k(Z,Z)⁻¹
	means  int        // number of parameters of the mean
	theta  []float64
	adam   plain.Adam
}

// newPaper starts at the given weights, or at β = 0, and at Σ = (k(Z,Z) + k(Z,X)k(X,Z)/σ²)⁻¹.
func newPaper(net *autodiff.Network, weights []float64, x [][]float64, y []float64, z [][]float64) *paper {
	p := &paper{net: net, kernel: autodiff.RBF(paperVariance, paperLengths), x: x, y: y, z: z}
	_, p.scaled = plain.ZScore(x)
	p.theta = append(p.theta, weights...)
	if net == nil {
		p.theta = make([]float64, len(z))
	}
	p.means = len(p.theta)
	m := len(z)
	kzz, a := mat.NewDense(m, m, nil), mat.NewDense(m, m, nil)
	for i := range m {
		for j := range m {
			kzz.Set(i, j, p.kernel(z[i], z[j]))
			sum := kzz.At(i, j)
			for _, u := range x {
				sum += p.kernel(z[i], u) * p.kernel(u, z[j]) / paperNoise
			}
			a.Set(i, j, sum)
		}
	}
	p.kzz = mat.NewDense(m, m, nil)
	var sigma mat.Dense
	if p.kzz.Inverse(kzz) != nil || sigma.Inverse(a) != nil {
		panic("singular")
	}
	lambda := autodiff.NewMatrix(m, m, func(i, j int) autodiff.Number { return autodiff.Constant(sigma.At(i, j)) }).Cholesky()
	for i := range lambda {
		for j := range i + 1 {
			p.theta = append(p.theta, lambda[i][j].Value)
		}
	}
	return p
}

// mean returns m_Q(x).
func (p *paper) mean(theta []autodiff.Number, x []float64) autodiff.Number {
	if p.net != nil {
		return p.net.Value(theta[:p.means], p.scaled(x))
	}
	var sum autodiff.Number
	for i, z := range p.z {
		sum = sum.Plus(theta[i].Scaled(p.kernel(x, z)))
	}
	return sum
}

// r returns r(x,y) = k(x,y) - k_Z(x)ᵀk(Z,Z)⁻¹k_Z(y) + k_Z(x)ᵀΛΛᵀk_Z(y).
func (p *paper) r(theta []autodiff.Number, x, y []float64) autodiff.Number {
	out := autodiff.Constant(p.kernel(x, y))
	for i, zi := range p.z {
		for j, zj := range p.z {
			out = out.Minus(autodiff.Constant(p.kernel(x, zi) * p.kzz.At(i, j) * p.kernel(zj, y)))
		}
	}
	at := p.means
	left, right := make([]autodiff.Number, len(p.z)), make([]autodiff.Number, len(p.z)) // Λᵀk_Z
	for i, z := range p.z {
		for j := range i + 1 {
			left[j] = left[j].Plus(theta[at].Scaled(p.kernel(x, z)))
			right[j] = right[j].Plus(theta[at].Scaled(p.kernel(y, z)))
			at++
		}
	}
	for j := range left {
		out = out.Plus(left[j].Times(right[j]))
	}
	return out
}

// loss returns the loss for a batch of the observations and a subsample of the training inputs.
func (p *paper) loss(batch, subsample []int) autodiff.Number {
	theta := autodiff.Variables(p.theta)
	n, b, s := float64(len(p.x)), float64(len(batch)), float64(len(subsample))
	var likelihood, distance autodiff.Number
	for _, i := range batch {
		f, variance := p.mean(theta, p.x[i]), p.r(theta, p.x[i], p.x[i])
		likelihood = likelihood.
			Plus(autodiff.NegLogNormal(p.y[i], f, autodiff.Constant(math.Sqrt(paperNoise)))).
			Plus(variance.Scaled(0.5 / paperNoise))
		distance = distance.Plus(f.Square().Scaled(1 / b)).Plus(autodiff.Constant(p.kernel(p.x[i], p.x[i]) / b)).Plus(variance.Scaled(1 / b))
	}
	product := autodiff.NewMatrix(len(subsample), len(subsample), func(i, j int) autodiff.Number {
		var sum autodiff.Number
		for _, k := range batch {
			sum = sum.Plus(p.r(theta, p.x[subsample[i]], p.x[k]).Scaled(p.kernel(p.x[k], p.x[subsample[j]])))
		}
		return sum
	})
	for _, lambda := range product.Eigenvalues() {
		if lambda.Value > 0 { // some are negative for a subsample that is not the batch
			distance = distance.Minus(lambda.Sqrt().Scaled(2 / math.Sqrt(b*s)))
		}
	}
	return likelihood.Scaled(n / b).Plus(distance.Sqrt())
}

// predict returns the mean and the variance of f at x.
func (p *paper) predict(x []float64) (mean, variance float64) {
	theta := autodiff.Variables(p.theta)
	return p.mean(theta, x).Value, p.r(theta, x, x).Value
}

// drawPublished returns the batch and the subsample of a step.
func drawPublished(step int, order []int, rng *rand.Rand) (batch, subsample []int) {
	pass := len(order) / paperBatch
	if step%pass == 0 {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	at := step % pass * paperBatch
	return append([]int(nil), order[at:at+paperBatch]...), rng.Perm(len(order))[:paperSubsample]
}

// variables returns β or the weights, and the lower triangle of Λ by rows.
func (u *direct) variables() []float64 {
	out := append([]float64(nil), u.at.M...)
	m, _ := u.at.Ut.Dims()
	for i := range m {
		out = append(out, u.at.Ut.RawRowView(i)[:i+1]...)
	}
	return out
}

var publishedModels = map[string]struct {
	of  func() (recipe, error)
	net *autodiff.Network
	fit surrogate.Model
}{
	"gwi-svgp": {SVGP{publishedOptions()}.recipe, nil, SVGP{publishedOptions()}},
	"gwi-net": {
		Net{Options: publishedOptions(), Hidden: []int{4, 3}}.recipe, &autodiff.Network{Widths: []int{2, 4, 3}},
		Net{Options: publishedOptions(), Hidden: []int{4, 3}},
	},
}

// The preset "published" takes Adam's steps on the loss of eq. 12 to 15: the loss before each step
// and the variables after it agree.
func TestPublishedSteps(t *testing.T) {
	racetest.SkipNumerical(t)
	d := toy.Sines(18, 2)
	for name, c := range publishedModels {
		var own *paper
		var source *problem // of the batches
		batches, order := random.New(7, "train", 0), subset.All(18)
		for k := range 11 {
			r, err := c.of()
			require.NoError(t, err)
			r, err = r.forData(18, 2)
			require.NoError(t, err)
			require.Equal(t, 2000, r.Steps)
			require.Equal(t, 4, r.Inducing)
			r.Steps = k
			p, u, err := r.preparePublished(t.Context(), nil, d, random.New(3, "fit", 0))
			require.NoError(t, err)
			if k == 0 {
				own, source = newPaper(c.net, u.at.M, autodiff.Rows(d.X), d.Y, autodiff.Rows(p.q.Z)), p
				require.InDeltaSlice(t, own.theta, u.variables(), 1e-8, "%s: start", name)
				continue
			}
			batch, subsample := drawPublished(k-1, order, batches)
			loss := own.loss(batch, subsample)

			require.NoError(t, p.trainPublished(t.Context(), u, func() error { return nil }, random.New(7, "train", 0)))
			x, y := subset.TakeBoth(d.X, d.Y, batch)
			at := source.pointsAt(x, len(y), y, subset.Take(d.X, subsample))
			value, err := source.evalPublished(source.v, at, source.v.Like())
			require.NoError(t, err)
			require.InEpsilon(t, loss.Value, value, 1e-8, "%s: loss before step %d", name, k)
			source = p

			own.adam.Step(0.01, own.theta, loss.Grad)
			require.InDeltaSlice(t, own.theta, u.variables(), 1e-8, "%s: after step %d", name, k)
		}
	}
}

// A fit with the preset "published" equals the transcription. Its parameters are of the pass with the largest
// held-out density, and its temperature is the best of the grid.
func TestPublishedFit(t *testing.T) {
	racetest.SkipNumerical(t)
	const steps = 30
	d := toy.Sines(20, 2)
	for name, c := range publishedModels {
		seed := random.New(3, "fit", 0)
		r, err := c.of()
		require.NoError(t, err)
		rest, held := domain.HoldOut(d, *r.HeldOut, random.Split(seed, "held out", 0))
		require.Len(t, held.Y, 2) // a tenth
		r, err = r.forData(18, 2)
		require.NoError(t, err)
		p, u, err := r.preparePublished(t.Context(), nil, rest, seed)
		require.NoError(t, err)
		own := newPaper(c.net, u.at.M, autodiff.Rows(rest.X), rest.Y, autodiff.Rows(p.q.Z))
		batches, order := random.Split(seed, "train", 0), subset.All(18)

		density := func(temperature float64) (sum float64) {
			for i, x := range autodiff.Rows(held.X) {
				mean, variance := own.predict(x)
				v := temperature * (variance + paperNoise)
				sum -= 0.5*math.Log(2*math.Pi*v) + (held.Y[i]-mean)*(held.Y[i]-mean)/(2*v)
			}
			return sum
		}
		best, largest := []float64(nil), math.Inf(-1)
		for k := range steps + 1 {
			if k%2 == 0 { // two batches are a pass
				if at := density(1); at > largest {
					best, largest = append([]float64(nil), own.theta...), at
				}
			}
			if k < steps {
				own.adam.Step(0.01, own.theta, own.loss(drawPublished(k, order, batches)).Grad)
			}
		}
		own.theta = best
		temperature := 0.0
		largest = math.Inf(-1)
		for i := range 1000 {
			if at := density(1e-9 + float64(i)*(2-1e-9)/999); at > largest {
				temperature, largest = 1e-9+float64(i)*(2-1e-9)/999, at
			}
		}

		m := c.fit
		switch of := m.(type) {
		case SVGP:
			of.Steps = steps
			m = of
		case Net:
			of.Steps = steps
			m = of
		}
		post, err := m.Fit(t.Context(), d, random.New(3, "fit", 0))
		require.NoError(t, err)
		x := mat.NewDense(4, 2, []float64{0.1, 0.2, 0.9, 0.4, 0.5, 0.5, 1.6, -0.3})
		mean, variance := make([]float64, 4), make([]float64, 4)
		post.Predict(mean, variance, x)
		for i := range mean {
			f, v := own.predict(x.RawRowView(i))
			require.InEpsilon(t, f, mean[i], 1e-7, name)
			require.InEpsilon(t, temperature*v, variance[i], 1e-7, name)
		}
		require.InEpsilon(t, temperature*paperNoise, post.Noise(), 1e-9, name)
	}
}

// The gradient of the published loss is correct for batches, boxes, sources of points and both
// distances.
func TestPublishedGradient(t *testing.T) {
	for _, distance := range []string{"w2", squared} {
		for _, measure := range []string{"data", measureAll, "source"} {
			o := publishedOptions()
			o.Distance = distance
			if o.Measure = measure; measure == "source" {
				o.Measure, o.MeasurementPoints = "", surrogate.FixedPoints(space.Halton(6, 2, random.New(5, "source", 0)))
			}
			for name, of := range map[string]func() (recipe, error){"svgp": SVGP{o}.recipe, "net": Net{Options: o, Hidden: []int{4, 3}}.recipe} {
				r, err := of()
				require.NoError(t, err)
				r, err = r.forData(18, 2)
				require.NoError(t, err)
				p, _, err := r.preparePublished(t.Context(), nil, toy.Sines(18, 2), random.New(3, "fit", 0))
				require.NoError(t, err)
				p.shake(0.1)
				at := p.publishedPoints([]int{7, 2, 4, 0, 1, 5, 3}, random.New(3, "points", 0))
				grad := make([]float64, len(p.v.Vector))
				_, err = p.evalPublished(p.v, at, p.v.With(grad))
				require.NoError(t, err)
				f := func(x []float64) float64 {
					value, err := p.evalPublished(p.v.With(x), at, p.v.Like())
					require.NoError(t, err)
					return value
				}
				require.NoError(t, gradcheck.Gradient(f, p.v.Vector, grad, 1e-6), "%s %s %s", name, distance, measure)
			}
		}
	}
}

// With nothing fixed the prior has the largest marginal likelihood of the observations at the inducing
// points, without hyperpriors and with the mean 0: its slope in the logarithm of each hyperparameter is
// 0, or a bound stops it.
func TestPublishedPriorHasTheLargestLikelihood(t *testing.T) {
	racetest.SkipNumerical(t)
	d := toy.Sines(30, 2)
	rng := random.New(8, "noise", 0)
	for i := range d.Y {
		d.Y[i] += 0.5 * rng.NormFloat64()
	}
	for name, of := range map[string]func() (recipe, error){
		"svgp": SVGP{Options{Preset: surrogate.Published, Inducing: 25}}.recipe,
		"net":  Net{Options: Options{Preset: surrogate.Published, Inducing: 25}}.recipe,
	} {
		r, err := of()
		require.NoError(t, err)
		r, err = r.forData(30, 2)
		require.NoError(t, err)
		p, _, err := r.preparePublished(t.Context(), nil, d, random.New(3, "fit", 0))
		require.NoError(t, err)
		require.Zero(t, p.q.Process.Mean, name)
		z, y := autodiff.Rows(p.q.Z), make([]float64, 25)
		for i, z := range z {
			k := slices.IndexFunc(autodiff.Rows(d.X), func(x []float64) bool { return slices.Equal(x, z) })
			y[i] = d.Y[k]
		}
		h := map[string]float64{}
		for _, q := range p.q.Hypers() {
			h[q.Name] = q.Value
		}
		theta, free := plain.Theta(2, h)
		require.NotContains(t, free, false, "%s: %v", name, h)
		kernel := func(v []float64) func(a, b []float64) float64 { return autodiff.RBF(v[2], v[:2]) }
		for i, slope := range plain.LikelihoodSlopes(theta, kernel, z, y) {
			require.InDelta(t, 0, slope, 0.01, "%s: hyperparameter %d of %v", name, i, h)
		}
	}
}

// The numbers of the paper and of the authors' code (docs/methods/gwi-svgp.md).
func TestPublishedNumbers(t *testing.T) {
	m := Net{Options: Options{Preset: surrogate.Published}}
	r, err := m.recipe()
	require.NoError(t, err)
	r, err = r.forData(2500, 2)
	require.NoError(t, err)
	require.Equal(t, []int{10, 10}, r.declared.Hidden)
	require.Equal(t, []any{"rbf", prior.MeanZero, "w2", "data", false, 0.}, []any{r.Kernel, r.Mean, r.Distance, r.Measure, r.fitted, r.bias})
	require.Equal(t, []any{50, 2000, 1000, 100, 0.01, 0.1}, []any{r.Inducing, r.Steps, r.Batch, r.Points, r.Rate, *r.HeldOut})
	require.Equal(t, []float64{1000, 1e-9, 2}, []float64{temperatures, firstTemperature, lastTemperature})
}

// Training ends with an error if the network is not finite.
func TestPublishedDivergence(t *testing.T) {
	nan := func(d [][]float64, z []float64) {
		for k := range d {
			for i := range z {
				d[k][i] = math.NaN()
			}
		}
	}
	m := Net{Options: Options{Preset: surrogate.Published}, Architecture: network.FullyConnected([]int{5}, nan, 1)}
	_, err := m.Fit(t.Context(), toy.Sines(30, 2), random.New(1, "fit", 0))
	require.EqualError(t, err, "gwi-net: training diverged: a smaller rate may help")
}

// A negative estimate of the squared distance counts as 0, and so does its gradient.
func TestPublishedNegativeDistance(t *testing.T) {
	o := Options{Preset: surrogate.Published, Spec: prior.Spec{Lengthscale: []float64{0.7}, Variance: new(1.3), Noise: new(0.1)}, Inducing: 6}
	for _, o.Distance = range []string{"w2", squared} {
		r, err := SVGP{o}.recipe()
		require.NoError(t, err)
		r, err = r.forData(20, 1)
		require.NoError(t, err)
		p, _, err := r.preparePublished(t.Context(), nil, toy.Wave(20), random.New(3, "fit", 0))
		require.NoError(t, err)
		clear(p.v.M)
		x, s := mat.NewDense(1, 1, []float64{0.3}), mat.NewDense(2, 1, []float64{0.25, 0.2})
		negative := 0
		for i := range 40 {
			x.Set(0, 0, -2+0.1*float64(i))
			for j := range 2 {
				s.Set(j, 0, x.At(0, 0)+0.1*float64(j+1))
			}
			grad := p.v.Like()
			value, err := p.evalPublished(p.v, p.pointsAt(x, 1, nil, s), grad)
			require.NoError(t, err)
			if value == 0 {
				negative++
				require.Zero(t, mat.Norm(mat.NewVecDense(len(grad.Vector), grad.Vector), 2), o.Distance)
			}
		}
		require.Positive(t, negative)
	}
}

// The points of a source replace the training inputs in the distance.
func TestPublishedSource(t *testing.T) {
	d, x := toy.Wave(20), space.Sobol(7, 1, random.New(4, "x", 0))
	var asked []int
	source := func(n int, lo, hi []float64, _ *rand.Rand) *mat.Dense {
		require.Len(t, lo, 1)
		asked = append(asked, n)
		return x
	}
	o := Options{Preset: surrogate.Published, Distance: squared, MeasurementPoints: source, Steps: 3}
	bad := o
	bad.MeasurementPoints = surrogate.FixedPoints(mat.NewDense(1, 1, []float64{math.NaN()}))
	for name, c := range map[string]struct {
		of       func() (recipe, error)
		fit, bad surrogate.Model
	}{
		"svgp": {SVGP{o}.recipe, SVGP{o}, SVGP{bad}},
		"net":  {Net{Options: o, Hidden: []int{4}}.recipe, Net{Options: o, Hidden: []int{4}}, Net{Options: bad}},
	} {
		r, err := c.of()
		require.NoError(t, err)
		r, err = r.forData(20, 1)
		require.NoError(t, err)
		p, _, err := r.preparePublished(t.Context(), nil, d, random.New(3, "fit", 0))
		require.NoError(t, err)
		p.shake(0.1)
		batch := []int{3, 1, 4}
		value, err := p.evalPublished(p.v, p.publishedPoints(batch, nil), p.v.Like())
		require.NoError(t, err)
		at, y := subset.TakeBoth(d.X, d.Y, batch)
		post, err := p.posterior(1)
		require.NoError(t, err)
		mean, variance := make([]float64, 3), make([]float64, 3)
		post.Predict(mean, variance, at)
		for i, f := range mean {
			noise := post.Noise()
			value -= 20. / 3 * (0.5*math.Log(2*math.Pi*noise) + ((y[i]-f)*(y[i]-f)+variance[i])/(2*noise))
		}
		require.InEpsilon(t, p.distance(t, x), value, 1e-4, name)

		asked = nil
		_, err = c.fit.Fit(t.Context(), d, random.New(3, "fit", 0))
		require.NoError(t, err)
		require.Equal(t, []int{100, 100, 100}, asked, name)
		_, err = c.bad.Fit(t.Context(), d, random.New(3, "fit", 0))
		require.ErrorIs(t, err, surrogate.ErrNotFinite, name)
	}
}

// With S = X the published distance is the distance of finite Gaussians.
func TestPublishedDistanceIsThatOfGaussians(t *testing.T) {
	o := Options{Preset: surrogate.Published, Spec: prior.Spec{Kernel: "matern12", Lengthscale: []float64{0.7}, Variance: new(1.3), Noise: new(0.1)}, Inducing: 6, Distance: squared}
	r, err := SVGP{o}.recipe()
	require.NoError(t, err)
	r, err = r.forData(20, 1)
	require.NoError(t, err)
	p, _, err := r.preparePublished(t.Context(), nil, toy.Wave(20), random.New(3, "fit", 0))
	require.NoError(t, err)
	p.shake(0.3)
	x := space.Sobol(12, 1, random.New(4, "x", 0))
	value, err := p.evalPublished(p.v, p.pointsAt(x, 12, nil, x), p.v.Like()) // no observations
	require.NoError(t, err)
	require.InEpsilon(t, p.distance(t, x), value, 1e-4)
}
