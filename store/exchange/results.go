package exchange

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/functionspace/bo/internal/faults"
	"github.com/functionspace/bo/internal/table"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// Result is the result of a trial in a row of a table.
type Result struct {
	Row    string         // name of the row, for messages
	Params map[string]any // values of the parameters that the row has
	Report store.Report
}

// ReadResults reads results of trials from a table, such as WriteCSV writes with numbers filled in: a column trial, one of the
// objective, one of each number of d.Require, and any others. Rows without any number of an objective, of d.Require or of a
// standard error whose state is not failed are left out, and so are stopped trials. A pending row with a
// part of them is left out too, and a note names it. Columns of parameters are optional.
// Notes and errors are like ReadCSV's.
func ReadResults(name string, r io.Reader, d *study.Definition) (results []Result, notes []string, err error) {
	t, err := table.Read(name, &limited{r: r, left: MaxTable}, texts...)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	t.Limit = loop.MaxValue
	s, err := d.Space()
	if err != nil {
		return nil, nil, err
	}
	c, notes, err := columnsOf(t, d, s, true)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	trial, err := t.Column(columnTrial)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	wrong, rows := faults.List{What: "rows"}, map[int]string{}
	var waiting []string
	for i := range t.Rows {
		out, ok, err := c.result(t, i, trial, d)
		if first := rows[out.Report.Trial]; err == nil && ok && first != "" {
			err = fmt.Errorf("%s: trial %d has a result in another row too: %s", out.Row, out.Report.Trial, first)
		}
		switch {
		case err != nil:
			wrong.Add(err)
		case ok:
			rows[out.Report.Trial] = out.Row
			results = append(results, out)
		default:
			if some, lacks := parts(d, out.Report.Numbers); some {
				waiting = append(waiting, fmt.Sprintf("%s for %s", strings.TrimPrefix(out.Row, name+": "), strings.Join(lacks, " and ")))
			}
		}
	}
	if list := wrong.Errors(); list != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrFormat, space.Faults(list))
	}
	if waiting != nil {
		notes = append(notes, "rows that wait for other numbers: "+strings.Join(waiting, ", "))
	}
	return results, notes, nil
}

// parts reports whether there are numbers of a result, which standard errors are too, and lists those that it lacks.
func parts(d *study.Definition, numbers map[string]float64) (some bool, lacks []string) {
	for _, name := range slices.Concat(d.Declared(), d.StandardErrors()) {
		if _, ok := numbers[name]; ok {
			some = true
		} else if slices.Contains(d.Declared(), name) {
			lacks = append(lacks, name)
		}
	}
	return some, lacks
}

// result returns the result in a row, or false if the row has none.
func (c *columns) result(t *table.Table, i, trial int, d *study.Definition) (Result, bool, error) {
	text := func(j int) string {
		if j < 0 {
			return ""
		}
		return t.Rows[i][j]
	}
	out := Result{Row: t.Row(i), Params: map[string]any{}, Report: store.Report{Message: unliteral(text(c.message)), Numbers: map[string]float64{}}}
	state := stateOf(text(c.state))
	if state == store.Stopped {
		return out, false, nil
	}
	if !slices.Contains([]store.State{"", store.Pending, store.Complete, store.Failed}, state) {
		return out, false, fmt.Errorf("%s: %q is not one of %s, %s, %s and %s", t.Cell(i, c.state), text(c.state), store.Complete, store.Failed, store.Stopped, store.Pending)
	}
	if err := c.readNumbers(t, i, d, true, out.Report.Numbers); err != nil {
		return out, false, err
	}
	failed := state == store.Failed
	some, lacks := parts(d, out.Report.Numbers)
	if !failed && !some {
		return out, false, nil
	}
	number, err := strconv.ParseFloat(t.Decimal(i, trial), 64) // data frames write 3.0
	if out.Report.Trial = int(number); err != nil || out.Report.Trial < 1 || float64(out.Report.Trial) != number {
		return out, false, fmt.Errorf("%s: %q is not the number of a trial", t.Cell(i, trial), text(trial))
	}
	if state == store.Pending && lacks != nil {
		return out, false, nil
	}
	if failed {
		out.Report.Failure = failureOf(text(c.failure))
	} else if err := c.readNumbers(t, i, d, false, out.Report.Numbers); err != nil {
		return out, false, err
	}
	for _, j := range slices.Sorted(maps.Keys(c.params)) {
		if text(j) == "" {
			continue
		}
		if err := checkDecimal(t, i, j, c.params[j]); err != nil {
			return out, false, err
		}
		out.Params[c.params[j].Name] = cellValue(c.params[j], text(j), t.Decimal(i, j))
	}
	return out, true, nil
}
