package insight_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// studied returns the surrogate model of a study of 20 trials, of which one failed.
var studied = sync.OnceValue(func() *loop.View {
	s, err := space.New(space.LogFloat("rate", 1e-4, 1), space.Int("layers", 1, 8), space.Categorical("optimizer", "adam", "sgd", "lion"))
	if err != nil {
		log.Fatal(err)
	}
	study, err := loop.New(s, loop.Options{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	for i := range 20 {
		trials, err := study.Ask(ctx, 1)
		if err != nil {
			log.Fatal(err)
		}
		t := trials[0]
		loss := math.Pow(math.Log10(t.Point.Float("rate"))+2, 2) + 0.05*t.Point.Float("layers")
		if i == 3 {
			err = study.Fail(t.ID, "out of memory")
		} else {
			err = study.Tell(t.ID, loss)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	view, err := loop.Inspect(ctx, s, study.Options(), loop.History{Trials: study.Trials()})
	if err != nil {
		log.Fatal(err)
	}
	return view
})

// The best value never gets worse.
func ExampleHistory() {
	view := studied()
	steps := insight.History(view.Trials, view.Options)
	fmt.Println(len(steps), "trials, trial 4", steps[3].State)
	fmt.Println("improved:", steps[19].Best < steps[4].Best)
	text, err := json.Marshal(steps[3])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(json.Valid(text))
	// Output:
	// 20 trials, trial 4 failed
	// improved: true
	// true
}

// A band of the prediction along each parameter.
func ExampleSlices() {
	view := studied()
	slices, err := insight.Slices(view, insight.SliceOptions{Points: 11})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range slices {
		fmt.Println(s.Axis.Name, s.Axis.Kind, len(s.Points), "points from", s.Points[0].X, "to", s.Points[len(s.Points)-1].X)
	}
	rate := slices[0].Points
	fmt.Println("a small rate is worse than the middle:", rate[0].P95.Low > rate[5].P95.High)
	// Output:
	// rate float 11 points from 0.0001 to 1
	// layers int 8 points from 1 to 8
	// optimizer categorical 3 points from adam to lion
	// a small rate is worse than the middle: true
}

// The prediction over two parameters.
func ExampleMap() {
	view := studied()
	m, err := insight.Map(view, "rate", "optimizer", 11)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(m.Mean), "rows and", len(m.Mean[0]), "columns, rows", m.Ys)
	// Output: 3 rows and 11 columns, rows [adam sgd lion]
}

// The learning rate explains most of the variance.
func ExampleImportance() {
	view := studied()
	effects, err := insight.Importance(context.Background(), view, insight.ImportanceOptions{Points: 1024, Paths: 8})
	if err != nil {
		log.Fatal(err)
	}
	e := effects[0]
	fmt.Println(e.Parameter, "explains more than 80 %:", e.First > 0.8)
	// Output: rate explains more than 80 %: true
}

// Predictions of each trial from the others.
func ExampleLeaveOneOut() {
	view := studied()
	c, err := insight.LeaveOneOut(context.Background(), view)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(c.Predictions), "predictions by", c.Method)
	for _, cover := range c.Coverage {
		fmt.Print(cover.Nominal, " ")
	}
	// Output:
	// 19 predictions by leave-one-out
	// 0.5 0.8 0.9 0.95
}

// A verdict on the surrogate model.
func ExampleCheck() {
	view := studied()
	h, err := insight.Check(context.Background(), view)
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range h.Tests {
		fmt.Println(t.Name)
	}
	// Output:
	// sum of squares
	// Anderson-Darling
}

// Every trial is a line over the parameters.
func ExampleParallelCoordinates() {
	view := studied()
	p := insight.ParallelCoordinates(view)
	fmt.Println(len(p.Axes), "axes,", len(p.Lines), "lines")
	// Output: 3 axes, 20 lines
}

// The parameter that separates good from bad trials best.
func ExampleParallel_Strongest() {
	p := insight.ParallelCoordinates(studied())
	for _, k := range p.Strongest(1) {
		fmt.Println(p.Axes[k].Name)
	}
	// Output: rate
}

// Two workers, of which one is idle for half of the time.
func ExampleWorkers() {
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(minute int) time.Time { return start.Add(time.Duration(minute) * time.Minute) }
	t := insight.Workers([]insight.Span{
		{Trial: 1, Worker: "a", State: loop.Complete, Started: at(0), Finished: at(10)},
		{Trial: 2, Worker: "b", State: loop.Failed, Started: at(0), Finished: at(10)},
		{Trial: 3, Worker: "a", State: loop.Pending, Started: at(10)},
	}, at(20))
	for _, l := range t.Lanes {
		fmt.Printf("%s: %d trials, busy %.0f %%\n", l.Worker, len(l.Spans), 100*l.Busy)
	}
	// Output:
	// a: 2 trials, busy 100 %
	// b: 1 trials, busy 50 %
}

// Reasons for the next point.
func ExampleWhy() {
	view := studied()
	next, err := loop.Propose(context.Background(), view.Space, view.Options, loop.History{Trials: view.Trials}, 1)
	if err != nil {
		log.Fatal(err)
	}
	r, err := insight.Why(view, next.Points[0].Point, insight.SliceOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(r.Text), "sentences about the trial, and", len(r.Axes), "axes")
	fmt.Println("the acquisition function is the one of the suggestion:", math.Abs(float64(r.Acquisition)-next.Points[0].Prediction.Acquisition) < 1e-9)
	// Output:
	// 6 sentences about the trial, and 3 axes
	// the acquisition function is the one of the suggestion: true
}

// Sentences about the next point.
func ExampleExplain() {
	view := studied()
	sentences, err := insight.Explain([]*loop.View{view}, view.Trials[0].Point)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(sentences), "sentences, one of them about failures:", strings.HasPrefix(sentences[3], "The probability of a failed trial is "))
	// Output: 6 sentences, one of them about failures: true
}

// The trial that the study recommends.
func ExampleIncumbent() {
	view := studied()
	best := insight.Incumbent(view)
	fmt.Println("close to 0.01:", math.Abs(math.Log10(best.Point.Float("rate"))+2) < 0.3)
	// Output: close to 0.01: true
}

// A bound on the cost of a fit for display.
func ExampleSample() {
	view := studied()
	some := insight.Sample(view.Trials, view.Options, 5)
	fmt.Println(len(view.Trials), "trials,", len(some), "of them sampled")
	// Output: 20 trials, 5 of them sampled
}

// Without trials there is no verdict.
func ExampleUnchecked() {
	h := insight.Unchecked(0)
	fmt.Println(h.Verdict)
	// Output: too few
}

// One trial per coefficient of a linear function is the least for importance.
func ExampleUnimportant() {
	view := *studied()
	fmt.Printf("%q\n", insight.Unimportant(&view))
	view.Trials = view.Trials[:3]
	fmt.Println(insight.Unimportant(&view))
	// Output:
	// ""
	// 3 complete trials are too few for 3 parameters; 4 are needed.
}

// traded returns a study of 15 trials with two objectives.
var traded = sync.OnceValue(func() *loop.Study {
	s, err := space.New(space.Float("width", 0, 1), space.Float("depth", 0, 1))
	if err != nil {
		log.Fatal(err)
	}
	study, err := loop.New(s, loop.Options{Objectives: []loop.Goal{{Name: "loss", NoiseFree: true}, {Name: "latency", NoiseFree: true}}})
	if err != nil {
		log.Fatal(err)
	}
	_, err = study.RunOutcomes(context.Background(), func(_ context.Context, p space.Point) (loop.Outcome, error) {
		w, d := p.Float("width"), p.Float("depth")
		return loop.Outcome{Numbers: map[string]float64{"loss": 1 - w + d*d, "latency": w}}, nil
	}, 15, 1)
	if err != nil {
		log.Fatal(err)
	}
	return study
})

// Trials on the front are marked.
func ExampleParetoFront() {
	study := traded()
	front := insight.ParetoFront(study.Trials(), study.Options())
	n := 0
	for _, p := range front.Points {
		if p.Front {
			n++
		}
	}
	fmt.Println(len(front.Points), "trials, more than 3 on the front:", n > 3)
	// Output:
	// 15 trials, more than 3 on the front: true
}

// The hypervolume never falls.
func ExampleHypervolumeHistory() {
	study := traded()
	volumes := insight.HypervolumeHistory(study.Trials(), study.Options())
	fmt.Println(len(volumes), "trials, improved:", volumes[14].Hypervolume > volumes[4].Hypervolume)
	// Output:
	// 15 trials, improved: true
}

// The name of an objective selects it. Latency depends on the width alone.
func ExampleImportance_objective() {
	ctx := context.Background()
	view, err := traded().InspectObjective(ctx, "latency")
	if err != nil {
		log.Fatal(err)
	}
	effects, err := insight.Importance(ctx, view, insight.ImportanceOptions{Paths: -1})
	if err != nil {
		log.Fatal(err)
	}
	slices, err := insight.Slices(view, insight.SliceOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %.2f\n", effects[0].Parameter, effects[0].Total)
	fmt.Println(len(slices), "slices")
	// Output:
	// width: 1.00
	// 2 slices
}
