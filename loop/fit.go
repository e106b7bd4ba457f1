package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/functionspace/bo/surrogate"
)

// fitted is a surrogate fitted to the finished trials of a snapshot.
type fitted struct {
	surrogate.Posterior
	warp warp // of sign·Value, winsorised: values to be minimised
	// Complete trials in order of ID: index among the records, warped value and
	// posterior mean and variance.
	records        []int
	z              []float64
	mean, variance []float64
	warm           surrogate.State
}

func finished(s State) bool { return s != Pending }

// errMean reports a fit that came to nothing without an error of its own.
var errMean = errors.New("loop: the surrogate's mean is not finite")

// fit fits the surrogate to the finished trials of t, of which at least one is
// complete: to their winsorised and warped values. Failed ones enter with the worst
// of these.
func (s *Study) fit(ctx context.Context, t *snapshot, rng *rand.Rand) (*fitted, error) {
	f := &fitted{}
	sign := s.opts.sign()
	var values []float64
	for i := range t.records {
		if r := &t.records[i]; r.State == Complete {
			f.records = append(f.records, i)
			values = append(values, sign*r.Value)
		}
	}
	winsorize(values)
	complete := t.points(func(s State) bool { return s == Complete })

	s.emit(Event{Kind: FitStarted, Observations: t.count(Complete) + t.count(Failed)})
	start := time.Now()
	var err error
	if f.warp, err = s.chooseWarp(ctx, complete, values); err != nil {
		return nil, err
	}
	f.z = f.warp.apply(values)

	d := surrogate.Dataset{X: t.points(finished), NoiseFree: s.opts.NoiseFree}
	d.Lo, d.Hi = make([]float64, s.space.Dim()), slices.Repeat([]float64{1}, s.space.Dim())
	worst, next := slices.Max(f.z), 0
	for i := range t.records {
		switch t.records[i].State {
		case Complete:
			d.Y = append(d.Y, f.z[next])
			next++
		case Failed:
			d.Y = append(d.Y, worst)
		}
	}

	ctx = s.withProgress(ctx)
	if warm, ok := s.opts.Surrogate.(surrogate.WarmStarter); ok && t.warm != nil {
		f.Posterior, err = warm.FitFrom(ctx, slices.Clone(t.warm), d, rng)
	} else {
		f.Posterior, err = s.opts.Surrogate.Fit(ctx, d, rng)
	}
	if err != nil {
		return nil, err
	}
	if p, ok := f.Posterior.(surrogate.Stater); ok {
		f.warm = keepFinite(p.State())
	}
	f.mean, f.variance = make([]float64, len(f.z)), make([]float64, len(f.z))
	f.Predict(f.mean, f.variance, complete)
	for i, m := range f.mean {
		if math.IsNaN(m) || math.IsInf(m, 0) {
			return nil, fmt.Errorf("%w: %v at trial %d", errMean, m, f.records[i]+1)
		}
	}

	e := Event{Kind: FitFinished, Observations: len(d.Y), Seconds: time.Since(start).Seconds(), Warped: f.warp.width > 0, Warnings: f.Warnings()}
	if p, ok := f.Posterior.(surrogate.Describer); ok {
		e.Hypers = p.Hypers()
	}
	s.emit(e)
	return f, nil
}

// incumbent is the warped value to beat: the best observed one if the
// objective is noise-free, else the best posterior mean at a complete trial.
func (f *fitted) incumbent(noiseFree bool) float64 {
	if noiseFree {
		return slices.Min(f.z)
	}
	return slices.Min(f.mean)
}

// withProgress passes the reports of a fit on as events, and to whoever else
// listens on ctx.
func (s *Study) withProgress(ctx context.Context) context.Context {
	return surrogate.WithProgress(ctx, func(p surrogate.Progress) {
		surrogate.Report(ctx, p)
		s.emit(Event{Kind: Working, Progress: p})
	})
}

// keepFinite returns a copy of the state, or nil if JSON could not hold it.
func keepFinite(state surrogate.State) surrogate.State {
	for _, v := range state {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	}
	return slices.Clone(state)
}

func sqrt(v float64) float64 { return math.Sqrt(max(0, v)) }
