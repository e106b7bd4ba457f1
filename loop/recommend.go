package loop

import (
	"context"
	"fmt"

	"github.com/functionspace/bo/internal/random"
)

// Recommendation names two evaluated points: the one with the best observed
// value, and the one that the surrogate believes to be best. Under noise a best
// observed value is partly luck, and Model is the better choice; for a
// noise-free objective the two are one.
type Recommendation struct {
	Observed, Model Estimate
}

// Estimate is a complete trial with the posterior mean and standard deviation
// of the latent objective at its point, in the user's units, or what Prediction has
// in their place where the surrogate saw logarithms. For a noise-free
// objective they are its value and 0.
type Estimate struct {
	Trial    Trial
	Mean, SD float64
}

// Recommend fits the surrogate once more, to all finished trials, and leaves
// the study unchanged; a noise-free study needs no fit. It returns an error
// that wraps ErrNoValue if no trial is complete.
func (s *Study) Recommend(ctx context.Context) (Recommendation, error) {
	s.mu.Lock()
	t := s.snapshot()
	best := s.best()
	s.mu.Unlock()
	if best < 0 {
		return Recommendation{}, fmt.Errorf("%w: %d failed, %d pending", ErrNoValue, t.count(Failed), t.count(Pending))
	}
	if s.opts.NoiseFree {
		trial := t.records[best].public()
		e := Estimate{Trial: trial, Mean: trial.Value}
		return Recommendation{e, e}, nil
	}
	f, err := s.fit(ctx, &t, random.New(s.opts.Seed, "recommend", t.next()))
	if err != nil {
		return Recommendation{}, err
	}
	var rec Recommendation
	low := 0
	for i, r := range f.records {
		if f.mean[i] < f.mean[low] {
			low = i
		}
		if r == best {
			rec.Observed = s.estimate(&t, f, i)
		}
	}
	rec.Model = s.estimate(&t, f, low)
	return rec, nil
}

func (s *Study) estimate(t *snapshot, f *fitted, i int) Estimate {
	mean, sd := f.warp.user(f.mean[i], sqrt(f.variance[i]))
	return Estimate{t.records[f.records[i]].public(), s.opts.sign() * mean, sd}
}
