package linear_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/linear"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

// sines is the basis φ_j(x) = sin((j+1)x_0 + jx_last) with the mean x_0². It is no Combiner.
type sines struct{ dim int }

func (b sines) Dim() int { return b.dim }
func (b sines) Len() int { return 5 }

func (b sines) Eval(mean []float64, phi, x *mat.Dense) {
	for i := range mean {
		r := x.RawRowView(i)
		mean[i] = r[0] * r[0]
		for j := range b.Len() {
			phi.Set(i, j, math.Sin(float64(j+1)*r[0]+float64(j)*r[b.dim-1]))
		}
	}
}

func (b sines) EvalVJP(dx, x *mat.Dense, mbar []float64, phibar *mat.Dense) {
	n, _ := x.Dims()
	for i := range n {
		r, d := x.RawRowView(i), dx.RawRowView(i)
		if mbar != nil {
			d[0] += 2 * r[0] * mbar[i]
		}
		for j := range b.Len() {
			slope := phibar.At(i, j) * math.Cos(float64(j+1)*r[0]+float64(j)*r[b.dim-1])
			d[0] += float64(j+1) * slope
			d[b.dim-1] += float64(j) * slope
		}
	}
}

const noise = 0.01

// regression is a model that returns a Regression.
type regression struct{}

func (regression) Fit(ctx context.Context, d surrogate.Dataset, _ *rand.Rand) (surrogate.Posterior, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	p, err := linear.Regress(ctx, sines{d.X.RawMatrix().Cols}, noise, d)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// moments is a model that returns the same distribution by the moments of its coefficients.
type moments struct{}

func (moments) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	p, err := regression{}.Fit(ctx, d, rng)
	if err != nil {
		return nil, err
	}
	mean, cov := p.(surrogate.FeaturePosterior).Coefficients()
	var chol mat.Cholesky
	if !chol.Factorize(cov) {
		return nil, surrogate.ErrNotPositiveDefinite
	}
	var root mat.TriDense
	chol.LTo(&root)
	return linear.New(sines{p.Dim()}, mean, &root, noise), nil
}

func TestConformance(t *testing.T) {
	t.Run("Regress", func(t *testing.T) { surrogatetest.Run(t, regression{}) })
	t.Run("New", func(t *testing.T) { surrogatetest.Run(t, moments{}) })
}

func data() surrogate.Dataset {
	d := surrogate.Dataset{X: mat.NewDense(7, 2, nil), Y: make([]float64, 7)}
	random.Normal(d.X.RawMatrix().Data, random.New(1, "x", 0))
	random.Normal(d.Y, random.New(1, "y", 0))
	return d
}

// A distribution of rank 2, conditioned on data, has the moments of the normal distribution of the values.
func TestConditionALowRank(t *testing.T) {
	d, b := data(), sines{2}
	mean, root := make([]float64, 5), mat.NewDense(5, 2, nil)
	random.Normal(mean, random.New(1, "mean", 0))
	random.Normal(root.RawMatrix().Data, random.New(1, "root", 0))
	prior := linear.New(b, mean, root, noise)

	offset, phi := prior.Features(d.X)
	wantOffset, wantPhi := make([]float64, 7), mat.NewDense(7, 5, nil)
	b.Eval(wantOffset, wantPhi, d.X)
	require.Equal(t, wantOffset, offset)
	require.Equal(t, wantPhi, phi)
	w, cov := prior.Coefficients()
	var want mat.Dense
	want.Mul(root, root.T())
	require.InDeltaSlice(t, mean, w, 1e-14)
	require.True(t, mat.EqualApprox(&want, cov, 1e-14))

	// E[w|y] = μ + ΣΦᵀK⁻¹(y - m - Φμ), cov[w|y] = Σ - ΣΦᵀK⁻¹ΦΣ, K = ΦΣΦᵀ + σ²I.
	var cross, k, solved, down mat.Dense
	cross.Mul(phi, &want)
	k.Mul(&cross, phi.T())
	r := mat.NewVecDense(7, nil)
	r.MulVec(phi, mat.NewVecDense(5, mean))
	for i, y := range d.Y {
		k.Set(i, i, k.At(i, i)+noise)
		r.SetVec(i, y-offset[i]-r.AtVec(i))
	}
	require.NoError(t, solved.Solve(&k, &cross))
	wantMean := mat.NewVecDense(5, nil)
	wantMean.MulVec(solved.T(), r)
	wantMean.AddVec(wantMean, mat.NewVecDense(5, mean))
	down.Mul(cross.T(), &solved)
	want.Sub(&want, &down)

	posterior, err := prior.Condition(d.X, d.Y)
	require.NoError(t, err)
	w, cov = posterior.(surrogate.FeaturePosterior).Coefficients()
	require.InDeltaSlice(t, wantMean.RawVector().Data, w, 1e-9)
	require.True(t, mat.EqualApprox(&want, cov, 1e-9))
	require.NotImplements(t, (*surrogate.Evidence)(nil), posterior, "observations before New are unknown")
}

// The mean and the root are copies.
func TestNewCopies(t *testing.T) {
	mean, root := []float64{1, 2, 3, 4, 5}, mat.NewDense(5, 1, []float64{1, 1, 1, 1, 1})
	p := linear.New(sines{1}, mean, root, noise)
	mean[0], root.RawMatrix().Data[0] = 9, 9
	w, cov := p.Coefficients()
	require.InDeltaSlice(t, []float64{1, 2, 3, 4, 5}, w, 0)
	require.InDelta(t, 1, cov.At(0, 0), 0)
}

func TestErrors(t *testing.T) {
	require.PanicsWithValue(t, "mean has length 2, want 5", func() {
		linear.New(sines{1}, make([]float64, 2), mat.NewDense(5, 1, nil), noise)
	})
	require.PanicsWithValue(t, "root is 3×1, want 5×1", func() {
		linear.New(sines{1}, make([]float64, 5), mat.NewDense(3, 1, nil), noise)
	})
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err := linear.Regress(context.Background(), sines{2}, bad, data())
		require.ErrorIs(t, err, surrogate.ErrSetting)
	}
	features, err := prior.NewFeatures(prior.RBF(2), 10, random.New(1, "features", 0))
	require.NoError(t, err)
	_, err = linear.Regress(context.Background(), linear.WithMean(features, math.NaN()), noise, data())
	require.ErrorIs(t, err, surrogate.ErrSetting)
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		root := mat.NewDense(5, 1, []float64{0.1, 0.1, 0.1, 0.1, 0.1})
		_, err := linear.New(sines{2}, make([]float64, 5), root, bad).Condition(data().X, data().Y)
		require.ErrorIs(t, err, surrogate.ErrSetting)
	}
}
