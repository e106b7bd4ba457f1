// Parallel evaluates batches of four trials with four workers, and shows that one worker
// gives the same trials.
package main

import (
	"context"
	"fmt"
	"log"
	"slices"
	"time"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// run returns the values of all trials in order, and the elapsed time.
func run(workers int) ([]float64, time.Duration) {
	hartmann := benchmarks.Hartmann3()
	slow := func(ctx context.Context, p space.Point) (float64, error) {
		select {
		case <-time.After(20 * time.Millisecond): // imitates the real work
			return hartmann.At(p), nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	start := time.Now()
	result, err := loop.Minimize(context.Background(), slow, hartmann.Space, loop.Options{
		Budget:    32,
		Batch:     4, // trials per round of suggestions
		Workers:   workers,
		NoiseFree: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	var values []float64
	for _, t := range result.Trials {
		values = append(values, t.Value)
	}
	return values, time.Since(start)
}

func main() {
	one, slow := run(1)
	four, fast := run(4)
	fmt.Printf("1 worker: %v, 4 workers: %v\n", slow.Round(time.Millisecond), fast.Round(time.Millisecond))
	fmt.Println("same trials:", slices.Equal(one, four))
	fmt.Printf("best of %d: %.2f (the minimum is %.2f)\n", len(four), slices.Min(four), benchmarks.Hartmann3().Minimum)
}
