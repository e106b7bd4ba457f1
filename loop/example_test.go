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
