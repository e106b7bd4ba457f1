package plot_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math"
	"strings"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/insight/plot"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// A history as SVG and as text.
func Example() {
	s, err := space.New(space.Float("x", 0, 1))
	if err != nil {
		log.Fatal(err)
	}
	study, err := loop.New(s, loop.Options{NoiseFree: true})
	if err != nil {
		log.Fatal(err)
	}
	_, err = study.Run(context.Background(), func(_ context.Context, p space.Point) (float64, error) {
		return math.Abs(p.Float("x") - 0.3), nil
	}, 8, 1)
	if err != nil {
		log.Fatal(err)
	}
	steps := insight.History(study.Trials(), study.Options())
	var file bytes.Buffer
	if err := plot.History(steps, plot.Options{Title: "distance"}).SVG(&file); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Contains(file.String(), "<title>distance: optimisation history</title>"))
	var text strings.Builder
	if err := plot.HistoryText(&text, steps, plot.Options{}, 60, false); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Count(text.String(), "\n"), "lines")
	// Output:
	// true
	// 20 lines
}
