package insighttest

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/exchange"
	"github.com/functionspace/bo/study"
)

var record = flag.Bool("record", false, "run the studies and write their files")

// recipe is a study with its simulated evaluation.
type recipe struct {
	definition string // JSON
	trials     int    // finished at the end of the record
	workers    int
	evaluate   func(p params, rng *rand.Rand) result
}

// params are the parameters of a trial.
type params map[string]any

func (p params) number(name string) float64 { return p[name].(float64) }

// result is a simulated evaluation.
type result struct {
	numbers map[string]float64
	failure string
	steps   []float64
	minutes float64
}

var recipes = map[string]recipe{
	"branin": {
		definition: `{"name": "branin", "parameters": [{"name": "x1", "type": "float", "min": -5, "max": 10}, {"name": "x2", "type": "float", "min": 0, "max": 15}],
			"objectives": [{"name": "value", "noise_free": true}], "budget": 40, "seed": 1}`,
		trials: 30, workers: 1,
		evaluate: func(p params, rng *rand.Rand) result {
			x, y := p.number("x1"), p.number("x2")
			t := y - 5.1/(4*math.Pi*math.Pi)*x*x + 5/math.Pi*x - 6
			return result{numbers: map[string]float64{"value": t*t + 10*(1-1/(8*math.Pi))*math.Cos(x) + 10}, minutes: 1 + rng.Float64()}
		},
	},
	"mixed": {
		definition: `{"name": "mixed", "parameters": [
				{"name": "learning_rate", "type": "float", "min": 1e-5, "max": 0.1, "log": true},
				{"name": "layers", "type": "int", "min": 1, "max": 8},
				{"name": "width", "type": "ordinal", "values": [32, 64, 128, 256, 512]},
				{"name": "optimizer", "type": "categorical", "values": ["adam", "sgd", "rmsprop"]},
				{"name": "momentum", "type": "float", "min": 0, "max": 0.99, "when": "optimizer == 'sgd'"},
				{"name": "batch_norm", "type": "bool"}],
			"objectives": [{"name": "accuracy", "goal": "maximize"}], "budget": 80, "seed": 2}`,
		trials: 60, workers: 4,
		evaluate: func(p params, rng *rand.Rand) result {
			rate, layers, width := math.Log10(p.number("learning_rate")), p.number("layers"), p.number("width")
			minutes := (5 + layers*width/128) * (0.8 + 0.4*rng.Float64())
			if layers*width > 3000 {
				return result{failure: "out of memory", minutes: 0.5}
			}
			if rate > -1.4 && p["batch_norm"] == false {
				return result{failure: "the loss is not finite", minutes: minutes / 4}
			}
			best := map[any]float64{"adam": -3, "sgd": -1.9, "rmsprop": -3.3}[p["optimizer"]]
			a := 0.93 - 0.07*(rate-best)*(rate-best) - 0.008*(layers-5)*(layers-5) + 0.015*math.Log2(width/128)
			if p["optimizer"] == "sgd" {
				a -= 0.3 * (p.number("momentum") - 0.85) * (p.number("momentum") - 0.85)
			} else if p["optimizer"] == "rmsprop" {
				a -= 0.05
			}
			if p["batch_norm"] == true {
				a += 0.01
			}
			return result{numbers: map[string]float64{"accuracy": max(0.1, a) + 0.004*rng.NormFloat64()}, minutes: minutes}
		},
	},
	"noisy": {
		definition: `{"name": "noisy", "parameters": [
				{"name": "temperature", "type": "float", "min": 20, "max": 90},
				{"name": "pressure", "type": "float", "min": 1, "max": 10},
				{"name": "stirring", "type": "float", "min": 100, "max": 900}],
			"objectives": [{"name": "yield", "goal": "maximize"}], "budget": 60, "seed": 3}`,
		trials: 45, workers: 3,
		evaluate: func(p params, rng *rand.Rand) result {
			t, q := (p.number("temperature")-62)/25, (p.number("pressure")-4)/4
			return result{numbers: map[string]float64{"yield": 70*math.Exp(-t*t-q*q/2+t*q/2) + 8*rng.NormFloat64()}, minutes: 30 + 5*rng.NormFloat64()}
		},
	},
	"constrained": {
		definition: `{"name": "constrained", "parameters": [
				{"name": "layers", "type": "int", "min": 1, "max": 64},
				{"name": "width", "type": "int", "min": 16, "max": 4096, "log": true},
				{"name": "dropout", "type": "float", "min": 0, "max": 0.6}],
			"constraints": ["layers * width <= 32768"], "require": ["latency <= 12"],
			"objectives": [{"name": "loss"}], "budget": 50, "seed": 4}`,
		trials: 40, workers: 2,
		evaluate: func(p params, rng *rand.Rand) result {
			l, w, d := math.Log2(p.number("layers")), math.Log2(p.number("width")), p.number("dropout")
			loss := 0.2 + 0.02*(l-5)*(l-5) + 0.015*(w-10)*(w-10) + 0.8*(d-0.2)*(d-0.2) + 0.003*rng.NormFloat64()
			latency := 2 + 0.012*p.number("layers")*math.Sqrt(p.number("width")) + 0.004*p.number("width") + 0.2*rng.NormFloat64()
			return result{numbers: map[string]float64{"loss": loss, "latency": latency}, minutes: 3 + latency/10}
		},
	},
	"front": {
		definition: `{"name": "front", "parameters": [
				{"name": "width", "type": "float", "min": 0.1, "max": 10, "log": true},
				{"name": "depth", "type": "int", "min": 1, "max": 12},
				{"name": "kernel", "type": "categorical", "values": ["3x3", "5x5"]}],
			"objectives": [{"name": "error"}, {"name": "latency"}], "budget": 50, "seed": 5}`,
		trials: 36, workers: 2,
		evaluate: func(p params, rng *rand.Rand) result {
			w, d := math.Log10(p.number("width")), p.number("depth")
			if w > 0.9 && d > 10 {
				return result{failure: "out of memory", minutes: 1}
			}
			size := math.Pow(10, w) * d
			failed, latency := 0.06+0.3*math.Exp(-(w+1.2)*1.3)+0.15*math.Exp(-d/3), 4+1.1*size
			if p["kernel"] == "5x5" {
				failed, latency = failed*0.9, latency*1.6+3
			}
			return result{numbers: map[string]float64{"error": failed + 0.004*rng.NormFloat64(), "latency": latency}, minutes: 6 + latency/10}
		},
	},
	"curves": {
		definition: `{"name": "curves", "parameters": [
				{"name": "rate", "type": "float", "min": 1e-4, "max": 1, "log": true},
				{"name": "decay", "type": "float", "min": 1e-6, "max": 1e-2, "log": true}],
			"stop": {"rule": "asha", "min_steps": 3, "max_steps": 27, "eta": 2},
			"objectives": [{"name": "loss"}], "budget": 60, "seed": 6}`,
		trials: 40, workers: 4,
		evaluate: func(p params, rng *rand.Rand) result {
			r, d := math.Log10(p.number("rate")), math.Log10(p.number("decay"))
			end, speed := 0.3+0.12*(r+1.7)*(r+1.7)+0.03*(d+4)*(d+4), 0.1+0.25*math.Exp(-(r+1.2)*(r+1.2))
			var steps []float64
			for k := 1; k <= 27; k++ {
				steps = append(steps, end+(2.3-end)*math.Exp(-speed*float64(k))+0.01*rng.NormFloat64())
			}
			return result{numbers: map[string]float64{"loss": steps[26]}, steps: steps, minutes: 27}
		},
	},
}

// TestRecord writes the files with -record.
func TestRecord(t *testing.T) {
	if !*record {
		t.Skip("needs -record")
	}
	for _, name := range Names {
		s := recipes[name].run(t)
		f, err := os.Create(filepath.Join("testdata", name+".json"))
		require.NoError(t, err)
		require.NoError(t, exchange.Write(f, s))
		require.NoError(t, f.Close())
	}
}

// simulated is the state of a trial that a worker evaluates.
type simulated struct {
	trial  store.Trial
	worker int
	start  float64 // minutes from the start of the study
	at     float64 // time of the next step, or of the end
	step   int
	result result
}

// run simulates the workers in the order of their events and returns the study.
func (r recipe) run(t *testing.T) *store.Snapshot {
	ctx := context.Background()
	d := study.Definition{Version: study.Version}
	require.NoError(t, json.Unmarshal([]byte(r.definition), &d))
	s := store.New(store.NewMemory(), store.Options{})
	defer s.Close()
	u, err := s.Create(ctx, &d)
	require.NoError(t, err)
	times := map[int][2]float64{}
	clock, finished := 0.0, 0
	var busy []simulated
	for {
		for w := range r.workers {
			if !slices.ContainsFunc(busy, func(b simulated) bool { return b.worker == w }) {
				busy = append(busy, r.begin(t, u, w, clock))
				times[busy[len(busy)-1].trial.Number] = [2]float64{clock, math.NaN()}
			}
		}
		if finished == r.trials {
			break
		}
		slices.SortFunc(busy, func(a, b simulated) int { return cmp.Compare(a.at, b.at) })
		clock = busy[0].at
		if b := &busy[0]; b.advance(t, u, d.Objective().Name) {
			times[b.trial.Number] = [2]float64{b.start, clock}
			busy, finished = busy[1:], finished+1
		}
	}
	out, err := u.Snapshot(ctx)
	require.NoError(t, err)
	normalize(out, times)
	return out
}

// begin issues a trial to a worker.
func (r recipe) begin(t *testing.T, u *store.Study, worker int, clock float64) simulated {
	trials, err := u.AskFor(context.Background(), 1, fmt.Sprintf("node-%d", worker+1), 0)
	require.NoError(t, err)
	b := simulated{trial: trials[0], worker: worker, start: clock, at: clock}
	p := params{}
	require.NoError(t, json.Unmarshal(b.trial.Params, &p))
	b.result = r.evaluate(p, rand.New(rand.NewPCG(7, uint64(b.trial.Number))))
	b.at += b.result.minutes / float64(max(1, len(b.result.steps)))
	return b
}

// advance reports the next step or the result, and whether the trial is finished.
func (b *simulated) advance(t *testing.T, u *store.Study, objective string) bool {
	ctx := context.Background()
	attempt := store.Attempt{Trial: b.trial.Number, Token: b.trial.Token}
	if b.step < len(b.result.steps) {
		b.step++
		told, err := u.ReportSteps(ctx, attempt, loop.Step{Step: float64(b.step), Value: b.result.steps[b.step-1]})
		require.NoError(t, err)
		if told.State == store.Stopped {
			return true
		}
		if b.step < len(b.result.steps) {
			b.at += b.result.minutes / float64(len(b.result.steps))
			return false
		}
	}
	report := store.Report{Trial: b.trial.Number, Token: b.trial.Token, Numbers: b.result.numbers, Seconds: 60 * (b.at - b.start)}
	if b.result.failure != "" {
		report.Failure, report.Message, report.Numbers = store.FailedByProgram, b.result.failure, nil
	}
	_, err := u.Tell(ctx, report)
	require.NoError(t, err)
	return true
}

// normalize replaces the times of the record by the simulated ones, rounds the numbers, and leaves
// out the history and the fits.
func normalize(s *store.Snapshot, times map[int][2]float64) {
	origin := time.Date(2030, 1, 7, 9, 0, 0, 0, time.UTC)
	at := func(minutes float64) time.Time {
		return origin.Add(time.Duration(minutes * float64(time.Minute))).Truncate(time.Second)
	}
	s.Created, s.Events, s.Fits, s.Warm = origin, nil, nil, 0
	for i := range s.Trials {
		t := &s.Trials[i]
		w := times[t.Number]
		t.Created, t.Started, t.Finished, t.Fit = at(w[0]), at(w[0]), time.Time{}, 0
		if !math.IsNaN(w[1]) {
			t.Finished = at(w[1])
		}
		t.Seconds = math.Round(t.Seconds)
		for name, x := range t.Numbers {
			t.Numbers[name] = round(x)
		}
		if p := t.Prediction; p != nil {
			for _, x := range []*float64{p.Mean, p.SD, p.Acquisition} {
				if x != nil {
					*x = round(*x)
				}
			}
		}
	}
	for i := range s.Steps {
		s.Steps[i].Value = round(s.Steps[i].Value)
	}
}

// round keeps six digits.
func round(x float64) float64 {
	if x == 0 {
		return 0
	}
	scale := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}

// Every study has the trials that its description promises.
func TestStudies(t *testing.T) {
	for _, name := range Names {
		s := Snapshot(t, name)
		counts := map[store.State]int{}
		for i := range s.Trials {
			counts[s.Trials[i].State]++
		}
		require.Equal(t, recipes[name].trials, len(s.Trials)-counts[store.Pending], name)
		require.Greater(t, counts[store.Complete], 10, name)
		require.Equal(t, map[string]bool{"mixed": true, "front": true}[name], counts[store.Failed] > 0, name)
		require.Equal(t, name == "curves", counts[store.Stopped] > 0, name)
	}
	s := Store(t)
	list, err := s.List(context.Background())
	require.NoError(t, err)
	require.Len(t, list, len(Names))
	_, _, h, err := Study(t, "front").History(context.Background())
	require.NoError(t, err)
	require.Len(t, h.Trials, len(Snapshot(t, "front").Trials))
}
