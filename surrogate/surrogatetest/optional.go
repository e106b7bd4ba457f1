package surrogatetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
)

// checkCondition checks that an observation moves the mean towards its value, lowers
// the variance at its point, and leaves the old posterior unchanged.
func checkCondition(s *suite) error {
	post, ok := s.post.(surrogate.Conditioner)
	if !ok {
		return nil
	}
	x := points(1, 2)
	before := everything(post, x)
	mean, variance := predict(post, x)
	y := mean[0] + 2*math.Sqrt(variance[0]+post.Noise())
	next, err := post.Condition(x, []float64{y})
	if err != nil {
		return err
	}
	newMean, newVariance := predict(next, x)
	switch {
	case !(newVariance[0] < variance[0]):
		return fmt.Errorf("the variance at an observed point went from %v to %v", variance[0], newVariance[0])
	case !(newMean[0] > mean[0]) || !(newMean[0] <= y+s.Tol):
		return fmt.Errorf("the mean at an observation of %v went from %v to %v", y, mean[0], newMean[0])
	case next.Dim() != post.Dim() || next.Noise() != post.Noise():
		return fmt.Errorf("after conditioning Dim and Noise went from %d, %v to %d, %v", post.Dim(), post.Noise(), next.Dim(), next.Noise())
	}
	if err := identical("the old posterior after Condition", everything(post, x), before); err != nil {
		return err
	}
	kept := everything(next, x)
	x.Set(0, 0, 0.5)
	x = points(1, 2)
	if err := identical("the new posterior after its point was overwritten", everything(next, x), kept); err != nil {
		return err
	}
	at := points(3, 2)
	if err := errors.Join(sane(next, at, s.data.X), jointAgrees(next, pairs(4, 2), s.Tol), gradientAgrees(next, at, s.GradTol, s.Tol)); err != nil {
		return fmt.Errorf("after conditioning: %w", err)
	}

	// Two observations at once and one after the other give the same posterior. For
	// an approximate model the first need only be sane.
	two, err := post.Condition(points(2, 2), []float64{0.1, -0.2})
	if err != nil {
		return err
	}
	if err := sane(two, at); err != nil {
		return fmt.Errorf("after conditioning on two observations: %w", err)
	}
	ofNaN, errNaN := post.Condition(points(1, 2), []float64{math.NaN()})
	ofShape, errShape := post.Condition(points(2, 2), []float64{1})
	return errors.Join(
		rejected("conditioning on NaN", ofNaN, errNaN, surrogate.ErrNotFinite),
		rejected("conditioning on two rows and one target", ofShape, errShape, surrogate.ErrShape),
	)
}

// checkAnchor checks that Anchor changes neither the joint moments nor the gradients at the points after z.
func checkAnchor(s *suite) error {
	post, ok := s.post.(surrogate.Anchorer)
	if !ok {
		return nil
	}
	const m, d = 7, 2
	x := points(m, d)
	x.SetRow(0, s.data.X.RawRowView(0))
	x.SetRow(m-1, x.RawRowView(1))
	sd := scale(post, s.data.X)
	rng := random.New(5, "anchor", 0)
	cbar, mbar := mat.NewSymDense(m, nil), make([]float64, m)
	random.Normal(mbar, rng)
	for i := range m {
		for j := i; j < m; j++ {
			cbar.SetSym(i, j, rng.NormFloat64())
		}
	}
	moments := func(of surrogate.Jointer) (mean, cov, dx []float64) {
		mean, c, g := filled(m, math.NaN()), mat.NewSymDense(m, nil), mat.NewDense(m, d, nil)
		of.Joint(mean, c, x)
		of.JointVJP(g, mbar, cbar, x)
		return mean, c.RawSymmetric().Data, g.RawMatrix().Data
	}
	want, wantCov, wantDx := moments(post)
	for anchors := 1; anchors < m; anchors += 2 {
		z := mat.DenseCopyOf(x.Slice(0, anchors, 0, d))
		of := post.Anchor(z)
		z.Zero() // the posterior has a copy
		mean, cov, dx := moments(of)
		if err := errors.Join(
			near("anchored mean", mean, want, s.Tol*sd),
			near("anchored covariance", cov, wantCov, s.Tol*sd*sd),
			near("anchored gradient", dx[anchors*d:], wantDx[anchors*d:], s.GradTol*max(sd, sd*sd)),
		); err != nil {
			return fmt.Errorf("%d anchors: %w", anchors, err)
		}
	}
	return nil
}

// checkMeanPredictor checks that the mean alone is the mean of Predict.
func checkMeanPredictor(s *suite) error {
	post, ok := s.post.(surrogate.MeanPredictor)
	if !ok {
		return nil
	}
	x := points(7, 2)
	mean := filled(7, math.NaN())
	post.PredictMean(mean, x)
	want, _ := predict(post, x)
	sd := scale(post, s.data.X)
	for i, m := range mean {
		if !(math.Abs(m-want[i]) <= s.Tol*sd) {
			return fmt.Errorf("PredictMean at point %d is %v, and the mean of Predict is %v", i, m, want[i])
		}
	}
	if !panics(func() { post.PredictMean(mean[1:], x) }) {
		return errors.New("PredictMean into a mean that is too short does not panic")
	}
	return nil
}

// checkAverager checks that averaged moments repeat, agree with each other, and are finite.
func checkAverager(s *suite) error {
	post, ok := s.post.(surrogate.Averager)
	if !ok {
		return nil
	}
	averaged, x := post.Averaged(), points(7, 2)
	if noise := averaged.Noise(); !(noise >= 0) || math.IsInf(noise, 0) {
		return fmt.Errorf("the averaged noise is %v", noise)
	}
	mean, variance, again := filled(7, math.NaN()), filled(7, math.NaN()), filled(7, math.NaN())
	averaged.Predict(mean, variance, x)
	post.Averaged().Predict(again, make([]float64, 7), x)
	cov := mat.NewSymDense(7, filled(49, math.NaN()))
	joint, diagonal, sd := filled(7, math.NaN()), make([]float64, 7), scale(post, s.data.X)
	averaged.Joint(joint, cov, x)
	for i := range diagonal {
		diagonal[i] = cov.At(i, i)
	}
	return errors.Join(
		near("second averaged mean", again, mean, 0),
		near("mean of averaged Joint", joint, mean, s.Tol*sd),
		near("variance of averaged Joint", diagonal, variance, s.Tol*sd*sd),
	)
}

// checkLeaveOneOut checks that the moments are finite, and that the variance at a point
// is not smaller without its observation.
func checkLeaveOneOut(s *suite) error {
	post, ok := s.post.(surrogate.LeaveOneOut)
	if !ok {
		return nil
	}
	n := len(s.data.Y)
	mean, variance := filled(n, math.NaN()), filled(n, math.NaN())
	post.LeaveOneOut(mean, variance)
	if err := errors.Join(finite("mean of LeaveOneOut", mean), finite("variance of LeaveOneOut", variance)); err != nil {
		return err
	}
	sd := scale(post, s.data.X)
	_, with := predict(post, s.data.X)
	for i, v := range variance {
		if v < with[i]-s.Tol*sd*sd {
			return fmt.Errorf("the variance at training point %d is %v without it and %v with it", i, v, with[i])
		}
	}
	if !panics(func() { post.LeaveOneOut(mean[1:], variance) }) {
		return errors.New("LeaveOneOut into a mean that is too short does not panic")
	}
	return checkLeaveOutCondition(s, post)
}

// checkLeaveOutCondition checks that leaving out the row of Condition gives the
// predictions of the old posterior.
func checkLeaveOutCondition(s *suite, post surrogate.Posterior) error {
	conditioner, ok := post.(surrogate.Conditioner)
	if !ok {
		return nil
	}
	x := points(1, 2)
	next, err := conditioner.Condition(x, []float64{0.4})
	if err != nil {
		return err
	}
	after, ok := next.(surrogate.LeaveOneOut)
	if !ok {
		return errors.New("conditioning a LeaveOneOut returns a posterior without LeaveOneOut")
	}
	n := len(s.data.Y)
	mean, variance := make([]float64, n+1), make([]float64, n+1)
	if panics(func() { after.LeaveOneOut(mean, variance) }) {
		return fmt.Errorf("LeaveOneOut after Condition of %d rows on one more does not write %d numbers", n, n+1)
	}
	wantMean, wantVariance := predict(post, x)
	return nearMoments("without the row that Condition added", mean[n:], variance[n:], wantMean, wantVariance, 1e-6, scale(post, s.data.X))
}

func checkEvidence(s *suite) error {
	post, ok := s.post.(surrogate.Evidence)
	if !ok {
		return nil
	}
	return finite("log marginal likelihood", []float64{post.LogMarginalLikelihood()})
}

// checkWarmStart checks that a fit can start from a state that was written to JSON and read.
// It also checks that a fit ignores a state of the wrong length.
func checkWarmStart(s *suite) error {
	model, warm := s.model.(surrogate.WarmStarter)
	post, states := s.post.(surrogate.Stater)
	if warm && !states {
		return errors.New("the model is a WarmStarter whose posteriors have no State")
	}
	if !warm {
		return nil
	}
	text, err := json.Marshal(post.State())
	if err != nil {
		return fmt.Errorf("the state does not encode as JSON: %w", err)
	}
	var state surrogate.State
	if err := json.Unmarshal(text, &state); err != nil {
		return fmt.Errorf("the state does not decode from JSON: %w", err)
	}
	if err := identical("the state after JSON", state, post.State()); err != nil {
		return err
	}
	fit := func(start surrogate.State) (surrogate.Posterior, error) {
		return model.FitFrom(context.Background(), start, clone(s.data), random.New(1, "surrogatetest", 0))
	}
	again, err := fit(state)
	if err != nil {
		return fmt.Errorf("a fit from the state: %w", err)
	}
	if err := sane(again, points(4, 2)); err != nil {
		return fmt.Errorf("a fit from the state: %w", err)
	}
	if state, ok := again.(surrogate.Stater); !ok || len(state.State()) != len(post.State()) {
		return errors.New("a fit from a state has no state of the same length")
	}

	// The caller may change the state.
	if kept := post.State(); len(kept) > 0 {
		kept[0] += 1000
		if err := identical("the state after the caller changed a copy", post.State(), state); err != nil {
			return err
		}
	}
	wrong, err := fit(append(state, 1))
	if err != nil {
		return fmt.Errorf("a fit from a state that is too long: %w", err)
	}
	x := points(4, 2)
	return identical("a fit from a state that is too long, against one without", everything(wrong, x), everything(s.post, x))
}

// checkHypers checks that names are distinct and not empty, and that values are finite.
func checkHypers(s *suite) error {
	post, ok := s.post.(surrogate.Describer)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for _, h := range post.Hypers() {
		switch {
		case h.Name == "":
			return errors.New("a hyperparameter has no name")
		case seen[h.Name]:
			return fmt.Errorf("two hyperparameters are named %s", h.Name)
		case math.IsNaN(h.Value) || math.IsInf(h.Value, 0):
			return fmt.Errorf("the hyperparameter %s is %v", h.Name, h.Value)
		}
		seen[h.Name] = true
	}
	return nil
}
