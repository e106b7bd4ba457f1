package figures_test

import (
	"context"
	"fmt"
	"os"

	"github.com/functionspace/bo/benchmarks/pages/figures"
)

// A sparse process with all inputs as inducing points equals the exact process.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "figures")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	err = figures.Run(context.Background(), dir, []string{"svgp"}, 1, func(r figures.Record) {
		fmt.Printf("%s, %s prior: %.3f\n", r.Surrogate, r.Prior, r.Distance)
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// svgp, rbf prior: 0.000
	// svgp, matern12 prior: 0.000
	// svgp, periodic prior: 0.000
}
