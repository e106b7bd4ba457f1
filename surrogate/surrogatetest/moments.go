package surrogatetest

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
)

func checkPredict(s *suite) error { return sane(s.post, s.data.X, points(5, 2)) }

// sane checks that predictions are finite, at the data and elsewhere.
func sane(p surrogate.Posterior, xs ...*mat.Dense) error {
	if v := p.Noise(); !(v >= 0) || math.IsInf(v, 1) {
		return fmt.Errorf("Noise() is %v", v)
	}
	for _, w := range p.Warnings() {
		if w == "" {
			return errors.New("an empty warning")
		}
	}
	for _, x := range xs {
		paths := p.Paths(1, random.New(4, "sane", 0))
		if len(paths) != 1 {
			return fmt.Errorf("%d paths, want 1", len(paths))
		}
		all := results(p, paths[0], x, 0)
		for _, r := range all {
			if err := finite(r.of, r.numbers); err != nil {
				return err
			}
		}
		for i, v := range all[1].numbers {
			if v < 0 {
				return fmt.Errorf("the variance of row %d is %v", i, v)
			}
		}
	}
	return nil
}

// checkRows checks that the prediction of a row depends on that row alone.
func checkRows(s *suite) error {
	const m = 7
	x := points(m, 2)
	sd := scale(s.post, x)
	mean, variance := predict(s.post, x)
	g := predictGrad(s.post, x, 0)
	for i := range m {
		one := rowsOf(x, i)
		m1, v1 := predict(s.post, one)
		g1 := predictGrad(s.post, one, 0)
		if err := errors.Join(
			nearMoments("of one row alone", m1, v1, mean[i:], variance[i:], s.Tol, sd),
			near("gradient of the mean of one row alone", data(g1.dmean), g.dmean.RawRowView(i), s.GradTol*sd),
			near("gradient of the variance of one row alone", data(g1.dvariance), g.dvariance.RawRowView(i), s.GradTol*sd*sd),
		); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	order := []int{3, 0, 6, 2, 5, 1, 4}
	pm, pv := predict(s.post, rowsOf(x, order...))
	for i, r := range order {
		if err := nearMoments("after a permutation of the rows", pm[i:i+1], pv[i:i+1], mean[r:], variance[r:], s.Tol, sd); err != nil {
			return err
		}
	}
	return nil
}

func checkJoint(s *suite) error { return jointAgrees(s.post, pairs(8, 2), s.Tol) }

// jointAgrees checks Joint against Predict, and the eigenvalues of the covariance.
func jointAgrees(p surrogate.Posterior, x *mat.Dense, tol float64) error {
	sd := scale(p, x)
	mean, variance := predict(p, x)
	jointMean, cov := joint(p, x)
	diag := make([]float64, len(mean))
	for i := range diag {
		diag[i] = cov.At(i, i)
	}
	if err := nearMoments("of Joint against Predict", jointMean, diag, mean, variance, tol, sd); err != nil {
		return err
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(cov, false) {
		return errors.New("the covariance has no eigenvalues")
	}
	values := eigen.Values(nil)
	if low, high := values[0], values[len(values)-1]; low < -tol*high {
		return fmt.Errorf("the covariance has eigenvalues from %v to %v", low, high)
	}
	return nil
}

func checkGradient(s *suite) error { return gradientAgrees(s.post, points(3, 2), s.GradTol, s.Tol) }

// gradientAgrees checks PredictGrad against Predict and against differences.
func gradientAgrees(p surrogate.Posterior, x *mat.Dense, gradTol, tol float64) error {
	g := predictGrad(p, x, 0)
	mean, variance := predict(p, x)
	if err := nearMoments("of PredictGrad against Predict", g.mean, g.variance, mean, variance, tol, scale(p, x)); err != nil {
		return err
	}
	return errors.Join(
		differences("mean", func(x *mat.Dense) []float64 { m, _ := predict(p, x); return m }, x, g.dmean, gradTol),
		differences("variance", func(x *mat.Dense) []float64 { _, v := predict(p, x); return v }, x, g.dvariance, gradTol),
	)
}

// checkJointVJP checks JointVJP against central differences of Joint, and that
// it adds to its destination.
func checkJointVJP(s *suite) error {
	const m = 3
	x := points(m, 2)
	mbar, entries := make([]float64, m), make([]float64, m*m)
	rng := random.New(5, "adjoint", 0)
	random.Normal(mbar, rng)
	random.Normal(entries, rng)
	cbar := mat.NewSymDense(m, entries)
	f := func([]float64) float64 {
		mean, cov := joint(s.post, x)
		var sum float64
		for i := range m {
			sum += mbar[i] * mean[i]
			for j := range m {
				sum += cbar.At(i, j) * cov.At(i, j)
			}
		}
		return sum
	}
	vjp := func(start float64) []float64 {
		dx := mat.NewDense(m, 2, filled(2*m, start))
		s.post.JointVJP(dx, mbar, cbar, x)
		return data(dx)
	}
	from0, from3 := vjp(0), vjp(3)
	floats.AddConst(-3, from3)
	if err := near("JointVJP must add to its destination: its product", from3, from0, 1e-9*(1+mat.Norm(mat.NewVecDense(len(from0), from0), 2))); err != nil {
		return err
	}
	return gradcheck.Gradient(f, x.RawMatrix().Data, from0, s.GradTol)
}
