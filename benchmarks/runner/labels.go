package runner

import (
	"cmp"
	"context"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/score"
	"github.com/functionspace/bo/surrogate"
)

// fitLabels is fit for a table of labels.
func (r Run) fitLabels(ctx context.Context, c *catalog.Method, rec *Record) error {
	classifier, err := c.Classifier()
	if err != nil {
		return err
	}
	t := r.Table
	train, test := t.split(r.Seed)
	x, y := t.rows(train)
	at, want := t.rows(test)
	lo, hi := surrogate.Dataset{X: x, Lo: t.Lo, Hi: t.Hi}.Box()
	inputs, err := surrogate.NewInputMap(cmp.Or(t.Inputs, surrogate.ZScore), x, lo, hi)
	if err != nil {
		return err
	}
	box := inputs.Apply(mat.NewDense(2, len(lo), append(append([]float64(nil), lo...), hi...)))
	labels := surrogate.Labels{X: inputs.Apply(x), Y: classes(y), Classes: t.Classes, Lo: box.RawRowView(0), Hi: box.RawRowView(1)}
	start, used := time.Now(), processor()
	posterior, err := classifier.FitLabels(ctx, labels, random.New(r.Seed, "fit of "+t.Name, 0))
	if err != nil {
		return err
	}
	s := &Score{Train: len(train), Test: len(test), Fit: nanoseconds(time.Since(start).Seconds()), Processor: nanoseconds(processor() - used)}
	rec.warn(posterior.Warnings())
	start = time.Now()
	prob := mat.NewDense(len(test), t.Classes, nil)
	posterior.Predict(prob, inputs.Apply(at))
	s.Predict = nanoseconds(time.Since(start).Seconds())
	g := score.Classes(classes(want), prob)
	s.LogDensity, s.Wrong, s.Calibration = g.LogProbability, 1-g.Accuracy, g.ECE
	rec.Score = s
	return nil
}

// classes returns labels as whole numbers.
func classes(y []float64) []int {
	list := make([]int, len(y))
	for i, v := range y {
		list[i] = int(v)
	}
	return list
}
