// Command limits measures the search under an outcome constraint whose number spans decades, or one order of
// magnitude. It prints the name and the regrets of each problem. ADR 40 and ADR 42 have the results.
//
//	go run ./benchmarks/limits -first 1 -seeds 10
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

func main() {
	first := flag.Uint64("first", 1, "first `seed`")
	seeds := flag.Uint64("seeds", 10, "number of `seeds`")
	only := flag.String("problems", "", "`names` of problems, separated by commas; all if empty")
	flag.Parse()
	for i := range problems {
		p := &problems[i]
		if *only != "" && !slices.Contains(strings.Split(*only, ","), p.name) {
			continue
		}
		best, worst := p.extremes()
		regrets := make([]float64, *seeds)
		for i := range regrets {
			v, ok, err := p.minimize(*first + uint64(i))
			if err != nil {
				log.Fatal(err)
			}
			regrets[i] = 1 // no feasible point
			if ok {
				regrets[i] = max((v-best)/(worst-best), 1e-7)
			}
		}
		text, err := json.Marshal(regrets)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(p.name, string(text))
	}
}

// met reports whether a point of the unit cube meets the requirement.
func (p *problem) met(x []float64) bool {
	return loop.Requirement{AtLeast: p.atLeast, Bound: p.bound}.Met(p.number(x))
}

// extremes returns the least value of the feasible points and the largest value of all points among 3 million.
// Every second point is near the best one so far.
func (p *problem) extremes() (best, worst float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	best, worst = math.Inf(1), math.Inf(-1)
	var at []float64
	x := make([]float64, p.dim)
	for i := range 3_000_000 {
		for j := range x {
			if at != nil && i%2 == 1 {
				x[j] = min(1, max(0, at[j]+rng.NormFloat64()*math.Pow(10, -1-4*rng.Float64())))
			} else {
				x[j] = rng.Float64()
			}
		}
		v := p.value(x)
		worst = max(worst, v)
		if v < best && p.met(x) {
			best, at = v, slices.Clone(x)
		}
	}
	return best, worst
}

// minimize returns the latent value of the result of a run, and whether its latent number meets the requirement. The result
// is the best trial of an exact problem, else the recommended trial.
func (p *problem) minimize(seed uint64) (float64, bool, error) {
	var params []space.Parameter
	for i := range p.dim {
		params = append(params, space.Float("x"+strconv.Itoa(i), 0, 1))
	}
	s, err := space.New(params...)
	if err != nil {
		return 0, false, err
	}
	rng := rand.New(rand.NewPCG(seed, 77))
	r, err := loop.MinimizeOutcomes(context.Background(), func(_ context.Context, q space.Point) (loop.Outcome, error) {
		x := s.Encode(q)
		return loop.Outcome{
			Value:   p.value(x) + p.noise*rng.NormFloat64(),
			Numbers: map[string]float64{"c": p.number(x) * math.Exp(p.factor*rng.NormFloat64())},
		}, nil
	}, s, loop.Options{
		Budget: p.budget, Seed: seed, NoiseFree: p.factor == 0,
		Require: []loop.Requirement{{Name: "c", AtLeast: p.atLeast, Bound: p.bound}},
	})
	if err != nil {
		return 0, false, err
	}
	t := r.Best
	if p.factor > 0 {
		t = r.Recommendation.Model.Trial
	}
	x := s.Encode(t.Point)
	return p.value(x), p.met(x), nil
}
