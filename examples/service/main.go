// Service tunes a worker pool from within the program that has it. The objective is a noisy latency,
// and at most one request in a hundred may be rejected. The study is stored in an SQLite file: the
// program cancels the first run in the middle, opens the file again and goes on.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/sqlite"
	"github.com/functionspace/bo/study"
)

// load sends 4000 requests to a simulated pool and returns the 99th percentile of the latency in
// milliseconds, and the share of rejected requests. Workers slow each other down.
func load(workers, queue int, rng *rand.Rand) (p99, rejected float64) {
	const requests, service, contention = 4000, 5, 0.03
	free := make([]float64, workers) // times at which the workers are free
	var now float64
	var starts, latencies []float64 // times at which requests leave the queue, in order
	for range requests {
		now += rng.ExpFloat64()
		waiting := 0
		for _, t := range slices.Backward(starts) {
			if t <= now {
				break
			}
			waiting++
		}
		if waiting > queue {
			continue
		}
		first := 0
		for i := range free {
			if free[i] < free[first] {
				first = i
			}
		}
		start := max(now, free[first])
		free[first] = start + rng.ExpFloat64()*service*(1+contention*float64(workers))
		starts, latencies = append(starts, start), append(latencies, free[first]-now)
	}
	slices.Sort(latencies)
	return latencies[len(latencies)*99/100], 1 - float64(len(latencies))/requests
}

// evaluate measures one configuration. A real service would apply the configuration, measure for some
// seconds, and return early with the error of ctx if it ends.
func evaluate(ctx context.Context, t store.Trial, p space.Point) (store.Report, error) {
	if err := ctx.Err(); err != nil {
		return store.Report{}, err
	}
	p99, rejected := load(p.Int("workers"), p.Int("queue"), rand.New(rand.NewPCG(1, uint64(t.Number))))
	return store.Report{Numbers: map[string]float64{"p99": p99, "rejected": rejected}}, nil
}

var definition = study.Definition{
	Name:       "pool",
	Parameters: []space.Parameter{space.Int("workers", 1, 64), space.LogInt("queue", 1, 1000)},
	Objectives: []study.Objective{{Name: "p99", Goal: study.Minimize}},
	Require:    []string{"rejected <= 0.01"},
	Budget:     30,
}

// tune runs the study in a file until its budget is used up or ctx ends, and calls onEnd with each
// result. Several processes may run it at the same time.
func tune(ctx context.Context, file string, onEnd func(store.Trial)) error {
	backend, err := sqlite.Open(ctx, file, true)
	if err != nil {
		return err
	}
	s := store.New(backend, store.Options{})
	defer s.Close()
	pool, err := s.Create(ctx, &definition)
	if errors.Is(err, store.ErrExists) {
		pool, err = s.Study(ctx, definition.Name)
	}
	if err != nil {
		return err
	}
	if err := pool.Run(ctx, evaluate, store.RunOptions{Workers: 2, OnEnd: onEnd}); err != nil {
		return err
	}
	// The best observed value is partly luck, so take the best posterior mean.
	sp, options, history, err := pool.History(ctx)
	if err != nil {
		return err
	}
	r, err := loop.Recommend(ctx, sp, options, history)
	if err != nil {
		return err
	}
	best := r.Model.Trial
	fmt.Printf("after %d trials: %d workers, queue of %d, p99 %.0f ms, feasible with probability %.2f\n",
		len(history.Trials), best.Point.Int("workers"), best.Point.Int("queue"), r.Model.Mean, r.Model.Feasible)
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "service")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "tuning.db")

	first, cancel := context.WithCancel(ctx)
	err = tune(first, file, func(t store.Trial) {
		if t.Number == 12 {
			cancel()
		}
	})
	cancel()
	fmt.Println("cancelled:", errors.Is(err, context.Canceled))
	if err := tune(ctx, file, nil); err != nil {
		log.Print(err)
	}
}
