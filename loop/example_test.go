package loop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// Minimise a Go function of a float and an integer parameter.
func ExampleMinimize() {
	sp, err := space.New(
		space.LogFloat("rate", 1e-4, 1),
		space.Int("layers", 1, 8),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	loss := func(_ context.Context, p space.Point) (float64, error) {
		r, l := math.Log10(p.Float("rate")), p.Float("layers")
		return math.Pow(r+2, 2) + math.Pow(l-3, 2)/4, nil // smallest at 0.01 and 3
	}
	res, err := loop.Minimize(context.Background(), loss, sp, loop.Options{Budget: 20, Seed: 1, NoiseFree: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	best := res.Best
	fmt.Printf("%d trials; rate %.2f, %d layers\n", len(res.Trials), best.Point.Float("rate"), best.Point.Int("layers"))
	// Output: 20 trials; rate 0.01, 3 layers
}

// Evaluate trials between Ask and Tell. The study is saved and resumed before each
// evaluation, as in a program that runs once per step.
func ExampleStudy_Ask() {
	ctx := context.Background()
	sp, err := space.New(space.Float("x", -1, 3))
	if err != nil {
		fmt.Println(err)
		return
	}
	opts := loop.Options{NoiseFree: true, Maximize: true}
	study, err := loop.New(sp, opts)
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 15 {
		trials, err := study.Ask(ctx, 1)
		if err != nil {
			fmt.Println(err)
			return
		}
		var file bytes.Buffer
		if err := study.Save(&file); err != nil {
			fmt.Println(err)
			return
		}
		if study, err = loop.Resume(&file, opts); err != nil {
			fmt.Println(err)
			return
		}
		x := trials[0].Point.Float("x")
		if err := study.Tell(trials[0].ID, x*math.Exp(-x)); err != nil { // largest at 1
			fmt.Println(err)
			return
		}
	}
	best, _ := study.Best()
	fmt.Printf("x = %.1f, value %.3f\n", best.Point.Float("x"), best.Value)
	// Output: x = 1.0, value 0.368
}

// A cancelled run goes on with the next Run. A cancelled run makes no fit for its recommendation:
// Recommend makes it with another context.
func ExampleStudy_Run() {
	sp, err := space.New(space.Float("x", -1, 3))
	if err != nil {
		fmt.Println(err)
		return
	}
	study, err := loop.New(sp, loop.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background()) // or WithTimeout
	defer cancel()
	evaluations := 0
	latency := func(_ context.Context, p space.Point) (float64, error) {
		if evaluations++; evaluations == 10 {
			cancel()
		}
		noise := 0.01 * math.Sin(float64(evaluations))
		return math.Pow(p.Float("x")-1, 2) + noise, nil
	}
	_, err = study.Run(ctx, latency, 20, 1)
	fmt.Println(err)
	rec, err := study.Recommend(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("x = %.0f after %d trials\n", rec.Model.Trial.Point.Float("x"), rec.Fit.Observations)
	result, err := study.Run(context.Background(), latency, 20, 1)
	fmt.Println(len(result.Trials), err)
	// Output:
	// stopped after 10 of 20 evaluations: context canceled
	// x = 1 after 10 trials
	// 20 <nil>
}

// A program that stores trials itself calls Propose for each step. The warm start passes
// through JSON, as in a program that runs once per step.
func ExamplePropose() {
	ctx := context.Background()
	sp, err := space.New(space.Float("x", -1, 3))
	if err != nil {
		fmt.Println(err)
		return
	}
	opts := loop.Options{NoiseFree: true}
	var history loop.History
	for id := 1; id <= 12; id++ {
		next, err := loop.Propose(ctx, sp, opts, history, 1)
		if err != nil {
			fmt.Println(err)
			return
		}
		p := next.Points[0].Point
		value := math.Pow(p.Float("x")-1, 2)
		history.Trials = append(history.Trials, loop.Trial{ID: id, Point: p, State: loop.Complete, Value: value})

		text, err := json.Marshal(next.Warm)
		if err != nil {
			fmt.Println(err)
			return
		}
		if err := json.Unmarshal(text, &history.Warm); err != nil {
			fmt.Println(err)
			return
		}
	}
	rec, err := loop.Recommend(ctx, sp, opts, history)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("x = %.2f\n", rec.Model.Trial.Point.Float("x"))
	// Output: x = 1.00
}

// A belief about the optimum: the best x is 1, give or take 0.3.
func ExampleOptions_optimum() {
	sp, err := space.New(space.Float("x", -10, 10))
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := loop.Minimize(context.Background(), func(_ context.Context, p space.Point) (float64, error) {
		return math.Pow(p.Float("x")-1.1, 2), nil
	}, sp, loop.Options{Budget: 10, NoiseFree: true, Optimum: map[string]loop.Belief{"x": {Around: 1, Within: 0.3}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("x = %.1f\n", result.Best.Point.Float("x"))
	// Output: x = 1.1
}

// Without observations nearby a prediction is near the prior mean.
func ExampleMean() {
	sp, err := space.New(space.Float("x", 0, 10))
	if err != nil {
		fmt.Println(err)
		return
	}
	line := loop.Mean{Text: "3 + 2*x", At: func(p space.Point) float64 { return 3 + 2*p.Float("x") }}
	study, err := loop.New(sp, loop.Options{Initial: 3, PriorMean: line})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, x := range []float64{4, 5, 6} {
		p, err := sp.PointOf(map[string]any{"x": x})
		if err != nil {
			fmt.Println(err)
			return
		}
		if _, err := study.Add(p, 3+2*x); err != nil {
			fmt.Println(err)
			return
		}
	}
	trials, err := study.Ask(context.Background(), 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	t := trials[0]
	fmt.Printf("%.2f\n", t.Prediction.Mean-line.At(t.Point))
	// Output: 0.00
}

// Points to try first may leave parameters to the initial design.
func ExampleOptions_first() {
	sp, err := space.New(space.LogFloat("rate", 1e-5, 1), space.Int("layers", 1, 8))
	if err != nil {
		fmt.Println(err)
		return
	}
	study, err := loop.New(sp, loop.Options{First: []map[string]any{{"rate": 0.001, "layers": 3}, {"layers": 5}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	trials, err := study.Ask(context.Background(), 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(trials[0].Source, trials[0].Point)
	fmt.Println(trials[1].Source, trials[1].Point.Int("layers"))
	fmt.Println(trials[2].Source)
	// Output:
	// first rate=0.001 layers=3
	// first 5
	// design
}

// The loss is least at x = y = 1, but the latency x·y may be at most ¼. Then the least loss is ½.
func ExampleMinimizeOutcomes() {
	sp, err := space.New(space.Float("x", 0, 1), space.Float("y", 0, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	evaluate := func(_ context.Context, p space.Point) (loop.Outcome, error) {
		x, y := p.Float("x"), p.Float("y")
		loss := math.Pow(x-1, 2) + math.Pow(y-1, 2)
		return loop.Outcome{Value: loss, Numbers: map[string]float64{"latency": x * y}}, nil
	}
	r, err := loop.MinimizeOutcomes(context.Background(), evaluate, sp, loop.Options{
		Budget: 25, NoiseFree: true, Require: []loop.Requirement{{Name: "latency", Bound: 0.25}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("feasible %v, loss %.2f\n", r.Feasible, r.Best.Value)
	// Output: feasible true, loss 0.50
}

// Two objectives that are least at different corners.
func ExampleStudy_RecommendFront() {
	sp, err := space.New(space.Float("x", 0, 1), space.Float("y", 0, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	study, err := loop.New(sp, loop.Options{Objectives: []loop.Goal{
		{Name: "loss", NoiseFree: true}, {Name: "latency", NoiseFree: true},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	evaluate := func(_ context.Context, p space.Point) (loop.Outcome, error) {
		x, y := p.Float("x"), p.Float("y")
		loss := math.Pow(x-1, 2) + math.Pow(y-1, 2)
		return loop.Outcome{Numbers: map[string]float64{"loss": loss, "latency": x * y}}, nil
	}
	if _, err := study.RunOutcomes(context.Background(), evaluate, 20, 1); err != nil {
		fmt.Println(err)
		return
	}
	r, err := study.RecommendFront(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("more than 3 trials on the front:", len(r.Model) > 3)
	fmt.Println("hypervolume grows:", r.Hypervolume > r.Observed.Hypervolume[4])
	// Output:
	// more than 3 trials on the front: true
	// hypervolume grows: true
}

// The load of the hour is given, and the best number of workers is a tenth of it.
func ExampleStudy_AskGiven() {
	ctx := context.Background()
	sp, err := space.New(space.Float("load", 0, 1000), space.Float("workers", 1, 100))
	if err != nil {
		fmt.Println(err)
		return
	}
	study, err := loop.New(sp, loop.Options{NoiseFree: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	var last loop.Trial
	for hour := range 24 {
		trials, err := study.AskGiven(ctx, 1, map[string]any{"load": 500 + 400*math.Sin(float64(hour))})
		if err != nil {
			fmt.Println(err)
			return
		}
		last = trials[0]
		latency := math.Pow(last.Point.Float("workers")/100-last.Point.Float("load")/1000, 2)
		if err := study.Tell(last.ID, latency); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Printf("workers differ from a tenth of the load by less than 5: %v\n",
		math.Abs(last.Point.Float("workers")-last.Point.Float("load")/10) < 5)
	// Output: workers differ from a tenth of the load by less than 5: true
}

// With a probability of 0.95 the regret is below the bound.
func ExampleEstimateRegret() {
	sp, err := space.New(space.Float("x", 0, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	objective := func(_ context.Context, p space.Point) (float64, error) { return math.Pow(p.Float("x")-0.3, 2), nil }
	study, err := loop.New(sp, loop.Options{NoiseFree: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := study.Run(context.Background(), objective, 12, 1); err != nil {
		fmt.Println(err)
		return
	}
	r, err := study.EstimateRegret(context.Background(), 0.95)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Bound < 1e-3)
	// Output: true
}
