package report_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/functionspace/bo/insight/report"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// The report of a study in memory.
func ExampleBuild() {
	ctx := context.Background()
	s := store.New(store.NewMemory(), store.Options{})
	defer s.Close()
	u, err := s.Create(ctx, &study.Definition{Version: 1, Name: "bowl", Parameters: []space.Parameter{space.Float("x", 0, 1)}, Budget: 8})
	if err != nil {
		log.Fatal(err)
	}
	err = u.Run(ctx, func(_ context.Context, _ store.Trial, p space.Point) (store.Report, error) {
		x := p.Float("x")
		return store.Report{Numbers: map[string]float64{"value": (x - 0.3) * (x - 0.3)}}, nil
	}, store.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	r, err := report.Build(ctx, u, report.Options{})
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := r.WriteHTML(&file); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(r.Trials), "trials,", len(r.Models[0].Slices), "slice")
	fmt.Println("less than 3 MB:", file.Len() < 3_000_000)
	// Output:
	// 8 trials, 1 slice
	// less than 3 MB: true
}
