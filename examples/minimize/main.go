// Minimize optimises a Go function with one call. The function imitates a training run
// with a learning rate, a number of layers and an optimiser.
package main

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// loss has its minimum, 0.1, at a rate of 0.003 with three layers and "adam".
func loss(_ context.Context, p space.Point) (float64, error) {
	rate := math.Log10(p.Float("rate") / 0.003)
	layers := float64(p.Int("layers") - 3)
	penalty := map[string]float64{"adam": 0, "sgd": 0.3, "lion": 0.2}[p.Text("optimizer")]
	return 0.1 + rate*rate/4 + layers*layers/20 + penalty, nil
}

func main() {
	s, err := space.New(
		space.LogFloat("rate", 1e-5, 1),
		space.Int("layers", 1, 8),
		space.Categorical("optimizer", "adam", "sgd", "lion"),
	)
	if err != nil {
		log.Fatal(err)
	}
	result, err := loop.Minimize(context.Background(), loss, s, loop.Options{Budget: 20, NoiseFree: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range result.Incumbents {
		show(fmt.Sprintf("trial %2d", t.ID), t)
	}
	show("best    ", result.Best)
}

func show(what string, t loop.Trial) {
	fmt.Printf("%s  loss %.3f  rate %.4f, %d layers, %s\n",
		what, t.Value, t.Point.Float("rate"), t.Point.Int("layers"), t.Point.Text("optimizer"))
}
