package main

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/insight/plot"
	"github.com/functionspace/bo/internal/score"
)

// tablePlotFlags are the flags of the picture of bo predict and bo score.
type tablePlotFlags struct {
	Plot  string `group:"result" placeholder:"FILE" help:"Draw the predictions as FILE.svg or FILE.png: targets against predictions with 95 % intervals and coverage if the table has the target, otherwise the predictions over the only input or the rows. Of labels: how often predictions are right, by their probability, and a confusion matrix."`
	Force bool   `group:"result" help:"Replace the file of --plot."`
	pictureFlags
}

// check reports faults of the flags before a fit.
func (f tablePlotFlags) check() error {
	if _, err := f.options(); err != nil || f.Plot == "" {
		return err
	}
	return checkPicture(f.Plot, f.Force)
}

// labelled draws labels, as indices of names, against their predicted probabilities.
func (f tablePlotFlags) labelled(e *env, title, target string, y []int, names []string, prob *mat.Dense) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	o.Title, o.Objective = title, target
	all := make([]plot.Labelled, len(y))
	for i := range y {
		row := prob.RawRowView(i)
		best := score.MostProbable(row)
		all[i] = plot.Labelled{Label: names[y[i]], Predicted: names[best], Confidence: row[best]}
	}
	return writePicture(e, f.Plot, plot.Labels(all, names, o))
}

// compared draws targets against predictions; sd includes the noise.
func (f tablePlotFlags) compared(e *env, title, target string, y, mean, sd []float64) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	o.Title, o.Objective = title, target
	pairs := make([]plot.Pair, len(y))
	coverage := []insight.Coverage{{Nominal: 0.5}, {Nominal: 0.8}, {Nominal: 0.9}, {Nominal: 0.95}}
	for i := range y {
		low, high := mean[i]-halfOf(0.95)*sd[i], mean[i]+halfOf(0.95)*sd[i]
		pairs[i] = plot.Pair{Target: y[i], Mean: mean[i], Low: low, High: high, PIT: 0.5 * math.Erfc((mean[i]-y[i])/(sd[i]*math.Sqrt2))}
		for k := range coverage {
			if math.Abs(y[i]-mean[i]) <= halfOf(coverage[k].Nominal)*sd[i] {
				coverage[k].Inside++
			}
		}
	}
	for k := range coverage {
		coverage[k].Observed = insight.Number(float64(coverage[k].Inside) / float64(len(y)))
	}
	return writePicture(e, f.Plot, plot.Predictions(pairs, coverage, o))
}

// halfOf returns half the length of a central interval of the standard normal distribution.
func halfOf(coverage float64) float64 { return math.Sqrt2 * math.Erfinv(coverage) }

// predicted draws predictions at the rows of a table. One input is the horizontal axis, and the
// training data are drawn too; of several inputs it is the number of the row.
func (f tablePlotFlags) predicted(e *env, t *training, y []float64, at *mat.Dense, mean, sd []float64) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	o.Title, o.Objective = t.table.Name, t.target
	c := plot.Curve{Label: "row", Rows: true}
	if len(t.features) == 1 {
		c.Label, c.Rows = t.features[0], false
		for i := range y {
			c.DataX, c.DataY = append(c.DataX, t.x.At(i, 0)), append(c.DataY, y[i])
		}
	}
	for i := range mean {
		x := float64(i + 1)
		if !c.Rows {
			x = at.At(i, 0)
		}
		interval := func(coverage float64) insight.Interval {
			d := halfOf(coverage) * sd[i]
			return insight.Interval{Low: insight.Number(mean[i] - d), High: insight.Number(mean[i] + d)}
		}
		c.X = append(c.X, x)
		c.Bands = append(c.Bands, insight.Band{Mean: insight.Number(mean[i]), SD: insight.Number(sd[i]), P50: interval(0.5), P95: interval(0.95)})
	}
	return writePicture(e, f.Plot, plot.Predicted(c, o))
}
