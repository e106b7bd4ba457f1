package store_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// A study is driven by ask and tell. With a backend of store/sqlite or store/postgres, other
// processes may ask and tell at the same time.
func Example() {
	ctx := context.Background()
	s := store.New(store.NewMemory(), store.Options{})
	defer s.Close()
	u, err := s.Create(ctx, &study.Definition{
		Name: "parabola", Budget: 10,
		Parameters: []space.Parameter{space.Float("x", -1, 2)},
		Objectives: []study.Objective{{Name: "loss", NoiseFree: true}},
	})
	if err != nil {
		panic(err)
	}
	_, sp, err := u.Definition(ctx)
	if err != nil {
		panic(err)
	}
	for {
		trials, err := u.Ask(ctx, 1)
		if errors.Is(err, store.ErrBudget) {
			break
		}
		if err != nil {
			panic(err)
		}
		p, err := sp.ParsePoint(trials[0].Params)
		if err != nil {
			panic(err)
		}
		x := p.Float("x")
		report := store.Report{Trial: trials[0].Number, Token: trials[0].Token, Numbers: map[string]float64{"loss": x * x}}
		if _, err := u.Tell(ctx, report); err != nil {
			panic(err)
		}
	}
	v, err := u.View(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d trials, least loss %.2f\n", len(v.Trials), v.Best().Numbers["loss"])
	// Output: 10 trials, least loss 0.00
}

// Run evaluates the trials of a study in this process until its budget is used up.
func ExampleStudy_Run() {
	ctx := context.Background()
	s := store.New(store.NewMemory(), store.Options{})
	defer s.Close()
	u, err := s.Create(ctx, &study.Definition{
		Name: "parabola", Budget: 12,
		Parameters: []space.Parameter{space.Float("x", -1, 2)},
	})
	if err != nil {
		panic(err)
	}
	evaluate := func(_ context.Context, _ store.Trial, p space.Point) (store.Report, error) {
		x := p.Float("x")
		return store.Report{Numbers: map[string]float64{"value": x * x}}, nil
	}
	fmt.Println(u.Run(ctx, evaluate, store.RunOptions{Workers: 4}))
	// Output: <nil>
}
