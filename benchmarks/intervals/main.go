// Command intervals measures how often the value of a trial, or at a random point, is in the 95 % interval of
// its prediction. It does so for gp with and without averages over hyperparameters, on random families of up to
// six inputs. ADR 44 has the results.
//
//	go run ./benchmarks/intervals -half dev -first 21 -exact
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/benchmarks/families"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

const (
	trials   = 40
	designed = 10
	maxDim   = 6
	random   = 20 // points
)

// count holds the predictions of the trials in each ten, or after them, and how many values were in their intervals.
type count struct{ inside, all [trials / designed]int }

// add counts a value and its interval.
func (c *count) add(i int, low, value, high float64) {
	c.all[i]++
	if low <= value && value <= high {
		c.inside[i]++
	}
}

// percent returns the share of values in their intervals.
func (c *count) percent(i int) float64 { return 100 * float64(c.inside[i]) / float64(c.all[i]) }

func main() {
	half := flag.String("half", "dev", "`half` of the families: dev or confirm")
	first := flag.Uint64("first", 1, "number of the first instance; the next one follows")
	exact := flag.Bool("exact", false, "declare functions without noise as noise-free")
	flag.Parse()
	dev, confirm := families.Split()
	list, ok := map[string][]families.Family{"dev": dev, "confirm": confirm}[*half]
	if !ok {
		log.Fatalf("-half %s: want dev or confirm", *half)
	}
	for _, averaged := range []int{1, trials} {
		var own, other count
		start := time.Now()
		for _, f := range list {
			if f.Class == families.Noise || f.Class == families.Tuning || f.Class == families.Wide { // values with noise, tables, many inputs
				continue
			}
			for _, dim := range f.Dims {
				for number := *first; number < *first+2 && dim <= maxDim; number++ {
					o := f.Instance(number, dim)
					if err := run(o, loop.Options{
						Surrogate: gp.Model{Averaged: averaged}, NoiseFree: *exact && o.NoiseFree, Seed: number, Initial: designed,
					}, &own, &other); err != nil {
						log.Fatal(err)
					}
				}
			}
		}
		fmt.Printf("at most %2d observations averaged", averaged)
		for i := 1; i < len(own.all); i++ {
			fmt.Printf(", trials %d to %d: %.1f %% of %d", i*designed+1, (i+1)*designed, own.percent(i), own.all[i])
		}
		for i := 1; i < len(other.all); i++ {
			fmt.Printf(", random points after %d: %.1f %% of %d", i*designed, other.percent(i), other.all[i])
		}
		fmt.Printf(", %.0f s\n", time.Since(start).Seconds())
	}
}

// run adds the predictions of the trials of a study of o to own, and predictions at random points to other.
func run(o benchmarks.Objective, options loop.Options, own, other *count) error {
	ctx := context.Background()
	s, err := loop.New(o.Space, options)
	if err != nil {
		return err
	}
	for k := range trials {
		if k > 0 && k%designed == 0 {
			if err := other.elsewhere(ctx, o, s, k); err != nil {
				return err
			}
		}
		next, err := s.Ask(ctx, 1)
		if err != nil {
			return err
		}
		t := next[0]
		value := o.At(t.Point)
		if p := t.Prediction; p != nil {
			low, high := p.Interval95()
			own.add(k/designed, low, value, high)
		}
		if err := s.Tell(t.ID, value); err != nil {
			return err
		}
	}
	return nil
}

// elsewhere counts predictions at random points after k trials.
func (c *count) elsewhere(ctx context.Context, o benchmarks.Objective, s *loop.Study, k int) error {
	v, err := s.Inspect(ctx)
	if err != nil {
		return err
	}
	u := space.Sobol(random, o.Space.Dim(), rand.New(rand.NewPCG(uint64(k), 5)))
	x := mat.NewDense(random, v.Space.Dim(), nil)
	points := make([]space.Point, random)
	for i := range points {
		points[i] = o.Space.Decode(u.RawRowView(i))
		x.SetRow(i, v.Space.Encode(points[i]))
	}
	mean, variance := make([]float64, random), make([]float64, random)
	surrogate.Averaged(v.Posterior).Predict(mean, variance, x)
	for i, p := range points {
		half := 1.96 * math.Sqrt(max(0, variance[i]))
		low, high := v.Units.Value(mean[i]-half), v.Units.Value(mean[i]+half)
		c.add(k/designed, min(low, high), o.At(p), max(low, high))
	}
	return nil
}
