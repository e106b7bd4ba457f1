// Kernel encodes prior knowledge of the objective in a kernel. The load of a machine
// repeats every day, its daily shape changes slowly, and it has a trend: the kernel is
// "rbf*periodic[day](period=1) + linear": a named input has the unit of the parameter. The program searches for the hour of
// least load within twenty days, with this kernel and with the default.
package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"slices"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate/gp"
)

const days = 20

// load has its minimum in one night.
func load(_ context.Context, p space.Point) (float64, error) {
	day := p.Float("day")
	amplitude := 1 + 0.5*math.Sin(2*math.Pi*day/days)
	return amplitude*math.Sin(2*math.Pi*day) + 0.3*math.Cos(4*math.Pi*day) - 0.02*day, nil
}

// least returns the smallest load on a fine grid.
func least(s *space.Space) float64 {
	low := math.Inf(1)
	for i := range 100001 {
		v, _ := load(context.Background(), s.Decode([]float64{float64(i) / 100000}))
		low = min(low, v)
	}
	return low
}

// regrets returns for each of several seeds the simple regret after 20 evaluations, in
// ascending order.
func regrets(s *space.Space, kernel string) []float64 {
	low := least(s)
	var out []float64
	for seed := range uint64(9) {
		result, err := loop.Minimize(context.Background(), load, s, loop.Options{
			Surrogate: gp.Model{Spec: prior.Spec{Kernel: kernel}},
			Budget:    20,
			Seed:      seed,
			NoiseFree: true,
		})
		if err != nil {
			log.Fatal(err)
		}
		out = append(out, result.Best.Value-low)
	}
	slices.Sort(out)
	return out
}

func main() {
	s, err := space.New(space.Float("day", 0, days))
	if err != nil {
		log.Fatal(err)
	}
	for _, kernel := range []string{"matern52", "rbf*periodic[day](period=1) + linear"} {
		r := regrets(s, kernel)
		fmt.Printf("%-36s median regret %.4f, worst %.4f\n", kernel, r[len(r)/2], r[len(r)-1])
	}
}
