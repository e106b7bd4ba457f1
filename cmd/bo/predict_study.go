package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/internal/figures"
	"github.com/functionspace/bo/internal/table"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
)

type studyPredictCmd struct {
	storeFlags
	Study  string   `arg:"" complete:"studies" help:"Name of the study."`
	Values []string `arg:"" optional:"" help:"A value for every active parameter, NAME=VALUE, or one JSON object."`
	At     string   `group:"data" placeholder:"FILE" help:"CSV file of points instead: a column for each parameter, a row for each point, and no value for an inactive parameter. Other columns are ignored."`
	JSON   bool     `group:"result" name:"json" help:"Print a JSON array of an object for each point."`
}

func (studyPredictCmd) Help() string {
	return fmt.Sprintf(`Fits the surrogate model of the study to its trials, to at most %d, and predicts the objectives and the numbers of require at points. The interval of the function is without noise, and the interval of a measurement includes it. After a logarithm of the values the prediction is a median.

With --at the output is CSV, with semicolons and decimal commas if FILE has them: the parameters, and for each objective and number its mean, sd, low and high, the ends of the central 95 %% interval of the function.

Examples:

    bo study predict bread temperature=210 yeast=0.02
    bo study predict bread --at plan.csv > predicted.csv`, maxInspected)
}

func (c *studyPredictCmd) Run(e *env) error {
	if (c.At == "") == (len(c.Values) == 0) {
		return usagef("give the values of one point, or --at FILE")
	}
	return c.withView(e.ctx, c.Study, func(u *store.Study, v *store.View) error {
		in, err := newInspection(e.ctx, u, maxInspected)
		if err != nil {
			return err
		}
		points, dialect, err := c.points(e, in.space)
		if err != nil {
			return usageError{err}
		}
		if in.complete == 0 {
			return noneComplete(v)
		}
		var predicted []*predictedNumber
		var warnings []string
		ctx, stop := watch(e.ctx, e.stderr, in.finished)
		err = heed(e.ctx, func() (err error) {
			predicted, warnings, err = in.predict(ctx, points, v.Definition.Objective().Name)
			return err
		})
		stop()
		if err != nil {
			return err
		}
		warn(e, warnings)
		switch {
		case c.JSON:
			return printJSON(e.stdout, predictedJSON(points, predicted))
		case c.At != "":
			return table.Write(e.stdout, dialect, func(w *csv.Writer) error { return writePredicted(w, dialect, in.space, points, predicted) })
		}
		var rows [][]string
		for _, p := range predicted {
			rows = append(rows, p.text())
		}
		if f := predicted[0].at[0].Feasible; f != nil && !predicted[0].scaleless {
			rows = append(rows, []string{"feasible", fmt.Sprintf("with probability %.2g", float64(*f))})
		}
		return printTable(e.stdout, rows)
	})
}

// points returns the points of the arguments, and the dialect of their table.
func (c *studyPredictCmd) points(e *env, s *space.Space) ([]space.Point, table.Dialect, error) {
	if c.At == "" {
		values, err := parseValues(s, c.Values)
		if err != nil {
			return nil, table.Commas, err
		}
		p, err := s.PointOf(values)
		return []space.Point{p}, table.Commas, err
	}
	t, err := openTable(c.At, e.stdin)
	if err != nil {
		return nil, table.Commas, err
	}
	points := make([]space.Point, len(t.Rows))
	for i := range t.Rows {
		if points[i], err = pointOfRow(t, i, s); err != nil {
			return nil, t.Dialect, err
		}
	}
	return points, t.Dialect, nil
}

// pointOfRow returns the point of a row of a table.
func pointOfRow(t *table.Table, i int, s *space.Space) (space.Point, error) {
	values := map[string]any{}
	for _, p := range s.Parameters() {
		j := slices.Index(t.Header, "params."+p.Name)
		if j < 0 {
			j = slices.Index(t.Header, p.Name)
		}
		if j >= 0 && t.Rows[i][j] != "" {
			text := t.Rows[i][j]
			if p.Check(text) != nil {
				if err := t.CheckDecimal(i, j); err != nil && p.Kind != space.KindCategorical && p.Kind != space.KindFixed {
					return space.Point{}, err
				}
				text = t.Decimal(i, j)
			}
			values[p.Name] = valueOf(p, text)
		}
	}
	p, err := s.PointOf(values)
	if err != nil {
		return p, fmt.Errorf("%s: row %d: %w", t.Name, i+1, err)
	}
	return p, nil
}

// predictedNumber has the predictions of an objective or of a number of require, one for each point.
type predictedNumber struct {
	name      string
	at        []insight.PointPrediction
	scaleless bool // as insight.Scaleless
}

// predict fits the models of the study, predicts at points, and returns the warnings of the fits. name is the name of a
// single objective.
func (in *inspection) predict(ctx context.Context, points []space.Point, name string) (_ []*predictedNumber, warnings []string, err error) {
	views, err := in.views(ctx)
	if err != nil {
		return nil, nil, err
	}
	if text := in.bounded(); text != "" {
		warnings = append(warnings, text)
	}
	warnings = addNew(warnings, views[0].Fit.Warnings...)
	out := make([]*predictedNumber, len(views))
	for i, v := range views {
		at, err := insight.Predict(v, points)
		if err != nil {
			return nil, nil, err
		}
		out[i] = &predictedNumber{cmp.Or(v.Objective, name), at, insight.Scaleless(v)}
	}
	return out, warnings, nil
}

// text describes the prediction at the first point.
func (p *predictedNumber) text() []string {
	f, m := p.at[0].Prediction, p.at[0].Measured
	n := figures.Distinct(4, float64(f.Mean), float64(f.P95.Low), float64(f.P95.High), float64(m.P95.Low), float64(m.P95.High))
	if p.scaleless {
		return []string{p.name, n[0], "an interval needs two different values"}
	}
	text := fmt.Sprintf("95 %% interval %s to %s", n[1], n[2])
	if m.P95 != f.P95 {
		text += fmt.Sprintf(", of a measurement %s to %s", n[3], n[4])
	}
	return []string{p.name, n[0], text}
}

// predictedPoint is an element of the output of --json.
type predictedPoint struct {
	Params      map[string]any          `json:"params"`
	Predictions map[string]insight.Band `json:"predictions"`
	Measured    map[string]insight.Band `json:"measured"`
	Feasible    *insight.Number         `json:"feasible,omitempty"`
}

func predictedJSON(points []space.Point, predicted []*predictedNumber) []predictedPoint {
	out := make([]predictedPoint, len(points))
	for i, p := range points {
		out[i] = predictedPoint{p.Map(), map[string]insight.Band{}, map[string]insight.Band{}, predicted[0].at[i].Feasible}
		for _, n := range predicted {
			out[i].Predictions[n.name], out[i].Measured[n.name] = n.at[i].Prediction, n.at[i].Measured
		}
	}
	return out
}

// writePredicted writes the predictions as a table of a dialect.
func writePredicted(w *csv.Writer, dialect table.Dialect, s *space.Space, points []space.Point, predicted []*predictedNumber) error {
	var header []string
	for _, p := range s.Parameters() {
		header = append(header, p.Name)
	}
	for _, n := range predicted {
		for _, what := range []string{"mean", "sd", "low", "high"} {
			header = append(header, n.name+"."+what)
		}
	}
	likely := predicted[0].at[0].Feasible != nil
	if likely {
		header = append(header, "feasible")
	}
	rows := [][]string{header}
	for i, p := range points {
		var row []string
		values := p.Map()
		for _, q := range s.Parameters() {
			row = append(row, cellOf(dialect, values[q.Name]))
		}
		for _, n := range predicted {
			b := n.at[i].Prediction
			for _, v := range []insight.Number{b.Mean, b.SD, b.P95.Low, b.P95.High} {
				row = append(row, dialect.Number(float64(v)))
			}
		}
		if likely {
			row = append(row, dialect.Number(float64(*predicted[0].at[i].Feasible)))
		}
		rows = append(rows, row)
	}
	return w.WriteAll(rows)
}

// cellOf writes the value of a parameter; an inactive one has none.
func cellOf(dialect table.Dialect, v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return dialect.Number(v)
	case int:
		return strconv.Itoa(v)
	}
	return fmt.Sprint(v)
}
