// Asktell evaluates trials itself: Study.Ask returns the next trial, and Study.Tell or
// Study.Fail records its result. The example is a laboratory that brews at a temperature
// for a time and spoils every brew above 90 degrees.
package main

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// brew returns the yield. Its maximum is 80, at 82 degrees and 35 minutes.
func brew(p space.Point) (yield float64, ok bool) {
	temperature, minutes := p.Float("temperature"), p.Float("minutes")
	if temperature > 90 {
		return 0, false
	}
	return 80 * math.Exp(-math.Pow((temperature-82)/15, 2)-math.Pow((minutes-35)/20, 2)), true
}

func main() {
	ctx := context.Background()
	s, err := space.New(space.Float("temperature", 40, 100), space.Float("minutes", 5, 90))
	if err != nil {
		log.Fatal(err)
	}
	study, err := loop.New(s, loop.Options{Maximize: true, NoiseFree: true})
	if err != nil {
		log.Fatal(err)
	}
	// The first trial is a known recipe.
	known, err := s.PointOf(map[string]any{"temperature": 70, "minutes": 60})
	if err != nil {
		log.Fatal(err)
	}
	if err := study.Enqueue(known); err != nil {
		log.Fatal(err)
	}

	spoilt := 0
	for range 25 {
		trials, err := study.Ask(ctx, 1)
		if err != nil {
			log.Fatal(err)
		}
		t := trials[0]
		if yield, ok := brew(t.Point); ok {
			err = study.Tell(t.ID, yield)
		} else {
			spoilt++
			err = study.Fail(t.ID, "spoilt")
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	best, _ := study.Best()
	fmt.Printf("%d brews, %d spoilt\n", len(study.Trials()), spoilt)
	fmt.Printf("best: yield %.1f at %.0f degrees for %.0f minutes\n",
		best.Value, best.Point.Float("temperature"), best.Point.Float("minutes"))
}
