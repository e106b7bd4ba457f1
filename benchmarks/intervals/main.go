// Command intervals measures how often the value of a trial is in the 95 % interval of its prediction, for gp with and
// without averages over hyperparameters, on random families of up to six inputs. ADR 44 has the results.
//
//	go run ./benchmarks/intervals -half dev -first 21 -exact
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"time"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/benchmarks/families"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/surrogate/gp"
)

const (
	trials   = 40
	designed = 10
	maxDim   = 6
)

// count holds the predictions of the trials in each ten, and how many values were in their intervals.
type count struct{ inside, all [trials / designed]int }

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
		var c count
		start := time.Now()
		for _, f := range list {
			if f.Class == families.Noise || f.Class == families.Tuning || f.Class == families.Wide { // values with noise, tables, many inputs
				continue
			}
			for _, dim := range f.Dims {
				for number := *first; number < *first+2 && dim <= maxDim; number++ {
					o := f.Instance(number, dim)
					if err := c.run(o, loop.Options{
						Surrogate: gp.Model{Averaged: averaged}, NoiseFree: *exact && o.NoiseFree, Seed: number, Initial: designed,
					}); err != nil {
						log.Fatal(err)
					}
				}
			}
		}
		fmt.Printf("at most %2d observations averaged", averaged)
		for i := 1; i < len(c.all); i++ {
			fmt.Printf(", trials %d to %d: %.1f %% of %d", i*designed+1, (i+1)*designed, 100*float64(c.inside[i])/float64(c.all[i]), c.all[i])
		}
		fmt.Printf(", %.0f s\n", time.Since(start).Seconds())
	}
}

// run counts the predictions of a study of o.
func (c *count) run(o benchmarks.Objective, options loop.Options) error {
	s, err := loop.New(o.Space, options)
	if err != nil {
		return err
	}
	for range trials {
		next, err := s.Ask(context.Background(), 1)
		if err != nil {
			return err
		}
		t := next[0]
		value := o.At(t.Point)
		if p := t.Prediction; p != nil {
			i := (t.ID - 1) / designed
			c.all[i]++
			if low, high := p.Interval95(); low <= value && value <= high {
				c.inside[i]++
			}
		}
		if err := s.Tell(t.ID, value); err != nil {
			return err
		}
	}
	return nil
}
