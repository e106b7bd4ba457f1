package exchange

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/functionspace/bo/internal/didyoumean"
	"github.com/functionspace/bo/internal/faults"
	"github.com/functionspace/bo/internal/flatjson"
	"github.com/functionspace/bo/internal/table"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// The columns of a table of trials beside parameters and numbers.
const (
	columnTrial   = "trial"
	columnValue   = "value" // value of the objective
	columnState   = "state"
	columnSeconds = "seconds"
	columnFailure = "failure"
	columnMessage = "message"
	columnFront   = "front" // true for trials of the Pareto front
)

// bookkeeping lists columns that are neither parameters nor numbers. Earlier versions wrote
// the last entries.
var bookkeeping = []string{columnTrial, columnState, columnFailure, columnMessage, columnSeconds, columnFront, "suggest_s", "evaluate_s", "reason"}

// texts lists the last columns of a table that WriteCSV writes. Their cells may be empty in all rows.
var texts = []string{columnFailure, columnMessage, columnFront}

// WriteCSV writes trials of a study as a table that ReadCSV reads. It has a column for each parameter, the
// column value of one objective or a column for each of several, and a column for each other number. A parameter
// or a number whose name is another column's is written as params.NAME or numbers.NAME, as is a parameter that
// the study does not have. With several objectives the column front is true for the trials of the Pareto front,
// and else empty. A table with characters other than ASCII begins with a byte order mark, by which Excel
// recognises UTF-8. A message that begins with =, +, - or @, which a spreadsheet takes for a formula, has an apostrophe
// before it, which ReadCSV removes.
func WriteCSV(w io.Writer, d *study.Definition, trials []store.Trial) error {
	return writeTrials(w, table.Commas, d, trials)
}

// WriteSemicolons is WriteCSV with semicolons between cells and decimal commas, as spreadsheets open a table in German,
// French and other languages.
func WriteSemicolons(w io.Writer, d *study.Definition, trials []store.Trial) error {
	return writeTrials(w, table.Semicolons, d, trials)
}

func writeTrials(w io.Writer, dialect table.Dialect, d *study.Definition, trials []store.Trial) error {
	t, err := newTable(d, trials)
	if err != nil {
		return err
	}
	t.dialect = dialect
	return table.Write(w, dialect, func(cw *csv.Writer) error {
		if err := cw.Write(t.header()); err != nil {
			return err
		}
		for i := range trials {
			row, err := t.row(i)
			if err != nil {
				return err
			}
			if err := cw.Write(row); err != nil {
				return err
			}
		}
		return nil
	})
}

// formula matches a text that spreadsheets evaluate, after apostrophes if there are any.
var formula = regexp.MustCompile(`^'*[=+\-@]`)

// literal returns the cell of a message. A message that a spreadsheet would take for a formula, such as "=== failed", has an
// apostrophe before it: the program would save the result of the formula.
func literal(message string) string {
	if formula.MatchString(message) {
		return "'" + message
	}
	return message
}

// unliteral returns the message of a cell.
func unliteral(cell string) string {
	if rest, ok := strings.CutPrefix(cell, "'"); ok && formula.MatchString(rest) {
		return rest
	}
	return cell
}

// trialTable is a table of trials to write.
type trialTable struct {
	dialect    table.Dialect
	definition *study.Definition
	objective  string
	params     []string // names of the parameters
	removed    []string // names of parameters that only trials have
	numbers    []string // names of the numbers other than the objective
	trials     []store.Trial
	front      map[int]bool   // numbers of the trials on the Pareto front
	values     map[string]any // parameters of the trial that is written
	cells      []string       // of this trial
}

func newTable(d *study.Definition, trials []store.Trial) (*trialTable, error) {
	t := &trialTable{definition: d, objective: d.Objective().Name, trials: trials, values: map[string]any{}}
	for _, p := range d.Parameters {
		t.params = append(t.params, p.Name)
	}
	if d.Several() {
		v, err := store.ViewOf(d, trials)
		if err != nil {
			return nil, err
		}
		t.front = map[int]bool{}
		for _, trial := range v.Pareto().Front {
			t.front[trial.ID] = true
		}
	}
	removed, numbers := map[string]bool{}, map[string]bool{}
	for _, name := range slices.Concat(d.Declared(), d.StandardErrors()) {
		numbers[name] = name != t.objective
	}
	for i := range trials {
		if err := t.names(i, func(name string) {
			if _, ok := removed[name]; !ok {
				removed[name] = !slices.Contains(t.params, name)
			}
		}); err != nil {
			return nil, err
		}
		for name := range trials[i].Numbers {
			numbers[name] = name != t.objective
		}
	}
	t.removed, t.numbers = selected(removed), selected(numbers)
	return t, nil
}

func (t *trialTable) header() []string {
	row := []string{columnTrial}
	for _, name := range t.params {
		if name == columnValue || name == t.objective || slices.Contains(bookkeeping, name) || slices.Contains(t.numbers, name) {
			name = "params." + name
		}
		row = append(row, name)
	}
	for _, name := range t.removed {
		row = append(row, "params."+name)
	}
	number := func(name string) {
		if name == columnValue || slices.Contains(bookkeeping, name) {
			name = "numbers." + name
		}
		row = append(row, name)
	}
	if t.definition.Several() {
		number(t.objective)
	} else {
		row = append(row, columnValue)
	}
	for _, name := range t.numbers {
		number(name)
	}
	row = append(row, columnState, columnSeconds, columnFailure, columnMessage)
	if t.definition.Several() {
		row = append(row, columnFront)
	}
	return row
}

// names calls each for the names of the parameters of the i-th trial.
func (t *trialTable) names(i int, each func(name string)) error {
	if flatjson.Names(string(t.trials[i].Params), each) {
		return nil
	}
	if err := t.read(i); err != nil {
		return err
	}
	for name := range t.values {
		each(name)
	}
	return nil
}

// read reads the parameters of the i-th trial.
func (t *trialTable) read(i int) error {
	if err := flatjson.Values(t.trials[i].Params, t.values); err != nil {
		return fmt.Errorf("trial %d: params: %w", t.trials[i].Number, err)
	}
	fixedDefaults(t.definition, t.values)
	return nil
}

// row returns the cells of the i-th trial. They are valid until the next call.
func (t *trialTable) row(i int) ([]string, error) {
	if err := t.read(i); err != nil {
		return nil, err
	}
	trial := &t.trials[i]
	measured := trial.Measured()
	row := append(t.cells[:0], strconv.Itoa(trial.Number))
	for _, names := range [][]string{t.params, t.removed} {
		for _, name := range names {
			row = append(row, t.cell(t.values[name]))
		}
	}
	number := func(name string) {
		text := ""
		if v, ok := measured[name]; ok {
			text = t.cell(v)
		}
		row = append(row, text)
	}
	number(t.objective)
	for _, name := range t.numbers {
		number(name)
	}
	row = append(row, string(trial.State), t.cell(trial.Seconds), string(trial.Failure), literal(trial.Message))
	if t.definition.Several() {
		row = append(row, map[bool]string{true: "true"}[t.front[trial.Number]])
	}
	t.cells = row
	return t.cells, nil
}

// cell writes a value so that it reads back exactly.
func (t *trialTable) cell(v any) string {
	if x, ok := v.(float64); ok {
		return t.dialect.Number(x)
	}
	return cell(v)
}

// selected returns the keys that are true, sorted.
func selected(names map[string]bool) []string {
	maps.DeleteFunc(names, func(_ string, ok bool) bool { return !ok })
	return slices.Sorted(maps.Keys(names))
}

// cell is the text of a value in a table with decimal points.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return table.Commas.Number(v)
	}
	return fmt.Sprint(v)
}

// ReadCSV reads a table of trials as evaluations of a study: a column for each parameter,
// except fixed parameters and parameters with a default, and one with the name of the
// objective, or else value. Columns of other numbers are read as numbers. A column "state" may mark failed rows, and rows of
// stopped trials, which are lost; pending rows are left out. Messages begin with the given file name. The notes name columns and rows that
// are left out. Errors wrap ErrFormat or ErrTooLarge and name row, line and column. For wrong rows
// the error wraps a space.Faults, with one fault of each of the first ten and the number of the others.
func ReadCSV(name string, r io.Reader, d *study.Definition) (evaluated []store.Evaluated, notes []string, err error) {
	return readCSV(name, r, d, false)
}

// ReadEarlier reads a table as ReadCSV does, as evaluations made before a study. Values outside
// the ranges of the space are no error. Lost trials are left out, because they say nothing about their points, and so
// are stopped ones, whose steps are not in a table.
func ReadEarlier(name string, r io.Reader, d *study.Definition) (earlier []study.Told, notes []string, err error) {
	evaluated, notes, err := readCSV(name, r, d, true)
	if err != nil {
		return nil, nil, err
	}
	lost := 0
	for _, e := range evaluated {
		t := study.Told{Params: e.Params, Numbers: e.Numbers}
		switch {
		case e.Failure == store.Lost:
			lost++
			continue
		case e.Failure != "":
			t.State = string(loop.Failed)
		}
		earlier = append(earlier, t)
	}
	if lost > 0 {
		notes = append(notes, fmt.Sprintf("rows of lost or stopped trials are left out: %d", lost))
	}
	return earlier, notes, nil
}

// readCSV reads a table; a wide one may have values outside the ranges of the space.
func readCSV(name string, r io.Reader, d *study.Definition, wide bool) (evaluated []store.Evaluated, notes []string, err error) {
	t, err := table.Read(name, &limited{r: r, left: MaxTable}, texts...)
	if err == nil {
		t.Limit = loop.MaxValue
		evaluated, notes, err = readRows(t, d, wide)
	}
	if err != nil && !errors.Is(err, ErrTooLarge) {
		err = fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return evaluated, notes, err
}

// columns are the meanings of a table's columns; -1 is none.
type columns struct {
	params                  map[int]space.Parameter
	objective               int
	numbers                 map[int]string
	state, failure, message int
	wide                    bool // values may lie outside the ranges
}

func readRows(t *table.Table, d *study.Definition, wide bool) (evaluated []store.Evaluated, notes []string, err error) {
	s, err := d.Space()
	if err != nil {
		return nil, nil, err
	}
	c, notes, err := columnsOf(t, d, s, false)
	if err != nil {
		return nil, nil, err
	}
	c.wide = wide
	pending, wrong := 0, faults.List{What: "rows"}
	for i := range t.Rows {
		switch e, ok, err := c.row(t, i, d, s); {
		case err != nil:
			wrong.Add(err)
		case ok:
			evaluated = append(evaluated, e)
		default:
			pending++
		}
	}
	if list := wrong.Errors(); list != nil {
		return nil, nil, space.Faults(list)
	}
	if pending > 0 {
		notes = append(notes, fmt.Sprintf("pending rows are left out: %d", pending))
	}
	return evaluated, notes, nil
}

// columnsOf returns the meanings of the columns of a table. A table of results needs no parameters.
func columnsOf(t *table.Table, d *study.Definition, s *space.Space, results bool) (*columns, []string, error) {
	find := func(names ...string) int {
		for _, name := range names {
			if j := slices.Index(t.Header, name); j >= 0 {
				return j
			}
		}
		return -1
	}
	c := &columns{params: map[int]space.Parameter{}, numbers: map[int]string{}}
	var missing, absent []string
	for _, p := range s.Parameters() {
		names := []string{"params." + p.Name, p.Name}
		j := find(names...)
		if _, ok := d.Defaults[p.Name]; j < 0 && (ok || results || p.Kind == space.KindFixed) {
			absent = append(absent, p.Name)
			continue
		}
		if j < 0 {
			missing = append(missing, p.Name)
			continue
		}
		c.params[j] = p
	}
	objective := d.Objective().Name
	c.objective = find("numbers."+objective, objective)
	if j := find(columnValue); c.objective < 0 && j >= 0 && c.params[j].Name == "" {
		c.objective = j
	}
	if c.objective < 0 {
		missing = append(missing, objective)
	}
	if _, twice := c.params[c.objective]; twice {
		return nil, nil, fmt.Errorf("%s: column %q is a parameter and the objective: name the parameter's params.%[2]s", t.Name, objective)
	}
	c.state, c.failure, c.message = find(columnState), find(columnFailure), find(columnMessage, "reason")
	var ignored, notes []string
	named := slices.Concat(d.Declared(), d.StandardErrors())
	for j, name := range t.Header {
		_, param := c.params[j]
		if param || j == c.objective || slices.Contains(bookkeeping, name) {
			continue
		}
		number := strings.TrimPrefix(name, "numbers.")
		if !strings.HasPrefix(name, "params.") && (numeric(t, j) || slices.Contains(named, number)) {
			c.numbers[j] = number
			if best, near := didyoumean.Near(number, absent); near && !slices.Contains(d.Declared(), number) {
				notes = append(notes, fmt.Sprintf("column %q is read as a number of the trial: did you mean the parameter %s?", name, best))
			}
		} else {
			ignored = append(ignored, name)
		}
	}
	if missing = append(missing, c.missingNumbers(t, d)...); missing != nil {
		return nil, nil, c.missingColumns(t, d, missing)
	}
	for _, name := range d.StandardErrors() {
		if !slices.Contains(slices.Collect(maps.Values(c.numbers)), name) {
			notes = append(notes, fmt.Sprintf("there is no column %q: the values are read without standard errors", name))
		}
	}
	if ignored != nil {
		notes = append(notes, "columns that are neither parameters nor numbers are left out: "+strings.Join(ignored, ", "))
	}
	return c, notes, nil
}

// numeric reports whether all cells of a column are numbers or empty.
func numeric(t *table.Table, j int) bool {
	for i := range t.Rows {
		if _, err := t.Number(i, j); err != nil && t.Rows[i][j] != "" {
			return false
		}
	}
	return true
}

// missingColumns returns the error of names without a column. Several are several faults; the last one lists
// columns without a meaning.
func (c *columns) missingColumns(t *table.Table, d *study.Definition, names []string) error {
	var others []string
	known := slices.Concat(d.Declared(), d.StandardErrors())
	for j, name := range t.Header {
		_, param := c.params[j]
		if !param && j != c.objective && !slices.Contains(bookkeeping, name) && !slices.Contains(known, c.numbers[j]) {
			others = append(others, name)
		}
	}
	unused := "columns with other names: " + strings.Join(others, ", ")
	var faults space.Faults
	for _, name := range names {
		near, ok := didyoumean.Near(name, others)
		text := fmt.Sprintf("%s: no column %q", t.Name, name)
		if name == d.Objective().Name {
			text += ", the objective"
			if name != columnValue {
				text = fmt.Sprintf("%s: no column %q or %q, the objective", t.Name, name, columnValue)
			}
			if !ok {
				near, ok = didyoumean.Near(columnValue, others)
			}
			if !ok && len(names) == 1 && others != nil {
				text += "; " + unused
			}
		}
		if ok {
			text += fmt.Sprintf(": did you mean %s?", near)
		}
		switch _, err := t.Column(name); {
		case err == nil: // a bookkeeping column
			faults = append(faults, readElsewhere(t, name))
		case len(names) == 1 && name != d.Objective().Name:
			return err
		default:
			faults = append(faults, errors.New(text))
		}
	}
	if len(faults) == 1 {
		return faults[0]
	}
	if others != nil {
		faults = append(faults, fmt.Errorf("%s: %s", t.Name, unused))
	}
	return faults
}

// readElsewhere returns the error of a declared number with the name of a bookkeeping column, such as seconds.
func readElsewhere(t *table.Table, name string) error {
	return fmt.Errorf("%s: column %q is not read as a number: name it numbers.%[2]s", t.Name, name)
}

// missingNumbers returns the declared numbers other than the objective without a column, nil if all rows are failed or
// pending.
func (c *columns) missingNumbers(t *table.Table, d *study.Definition) (missing []string) {
	complete := func(row []string) bool {
		return c.state < 0 || !slices.Contains([]store.State{store.Pending, store.Failed, store.Stopped}, stateOf(row[c.state]))
	}
	if !slices.ContainsFunc(t.Rows, complete) {
		return nil
	}
	read := slices.Collect(maps.Values(c.numbers))
	for _, name := range d.Declared() {
		if name != d.Objective().Name && !slices.Contains(read, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// row returns the evaluation of a row, or false if the row is pending.
func (c *columns) row(t *table.Table, i int, d *study.Definition, s *space.Space) (store.Evaluated, bool, error) {
	text := func(j int) string {
		if j < 0 {
			return ""
		}
		return t.Rows[i][j]
	}
	state := stateOf(text(c.state))
	switch state {
	case store.Pending:
		if text(c.objective) != "" {
			return store.Evaluated{}, false, fmt.Errorf("%s: a pending row has the value %s: bo tell STUDY --table FILE records results of trials of the study; for a new trial write %s", t.Cell(i, c.state), table.Quote(text(c.objective)), store.Complete)
		}
		return store.Evaluated{}, false, nil
	case "", store.Complete, store.Failed, store.Stopped:
	default:
		return store.Evaluated{}, false, fmt.Errorf("%s: %q is not one of %s, %s, %s and %s", t.Cell(i, c.state), text(c.state), store.Complete, store.Failed, store.Stopped, store.Pending)
	}
	e := store.Evaluated{Params: map[string]any{}, Numbers: map[string]float64{}}
	for _, j := range slices.Sorted(maps.Keys(c.params)) {
		p := c.params[j]
		if text(j) == "" && p.When.Text != "" {
			continue // inactive
		}
		if err := checkDecimal(t, i, j, p); err != nil {
			return e, false, err
		}
		v := cellValue(p, text(j), t.Decimal(i, j))
		x, number := v.(float64)
		err := p.Check(v)
		if _, ok := d.Defaults[p.Name]; err != nil && text(j) == "" && (ok || p.Kind == space.KindFixed) {
			continue // as without the column
		}
		switch {
		case err != nil && text(j) == "":
			return e, false, fmt.Errorf("%s: the cell is empty", t.Cell(i, j))
		case err != nil && (!c.wide || !number || math.IsNaN(x) || math.IsInf(x, 0)):
			return e, false, fmt.Errorf("%s: %w%s", t.Cell(i, j), err, cellHint(t, i, j, p))
		}
		e.Params[p.Name] = v
	}
	point, err := s.PointWith(e.Params, d.Defaults)
	if err != nil && !c.wide {
		return e, false, fmt.Errorf("%s: %w", t.Row(i), err)
	}
	if err == nil {
		addDefaults(e.Params, point, d)
	}
	failed := state == store.Failed || state == store.Stopped
	if err := c.readNumbers(t, i, d, failed, e.Numbers); err != nil {
		return e, false, err
	}
	e.Message = unliteral(text(c.message))
	if failed {
		e.Failure = failureOf(text(c.failure))
		if state == store.Stopped && e.Failure == store.FailedByProgram { // by a rule; without its steps the value does not compare with others
			e.Failure = store.Lost
		}
		if state == store.Stopped && e.Message == "" {
			e.Message = "stopped early"
		}
	}
	return e, true, nil
}

// failureOf returns the kind of failure in a cell.
func failureOf(text string) store.Failure {
	f := store.Failure(text)
	if slices.Contains([]store.Failure{store.TimedOut, store.NotFinite, store.Lost, store.Unfit}, f) {
		return f
	}
	return store.FailedByProgram
}

// stateOf returns the state in a cell, in which case does not count.
func stateOf(text string) store.State { return store.State(strings.ToLower(text)) }

// numberHint describes the form of a number in a table, for a cell that has digits and is no number; else "".
func numberHint(text string, d table.Dialect) string {
	switch _, err := strconv.ParseFloat(text, 64); {
	case err == nil || errors.Is(err, strconv.ErrRange) || !strings.ContainsAny(text, "0123456789"):
		return ""
	case strings.ContainsAny(text, "\u2212\u2013"):
		return ": write the minus sign as -, as in -1.5"
	}
	if d.DecimalComma {
		return ": want digits with a decimal comma, without unit and blanks, such as 95 or 1,5e-3"
	}
	return ": want digits with a decimal point, without unit and blanks, such as 95 or 1.5e-3"
}

// cellHint is the end of a message about a wrong value of a parameter in row i of column j.
func cellHint(t *table.Table, i, j int, p space.Parameter) string {
	if p.Kind == space.KindFloat || p.Kind == space.KindInt {
		return numberHint(t.Decimal(i, j), t.Dialect)
	}
	var values []string
	for _, v := range p.Values {
		values = append(values, cell(v))
	}
	if near, ok := didyoumean.Near(t.Rows[i][j], values); ok {
		return ": did you mean " + near + "?"
	}
	return ""
}

// readNumbers reads the numbers of a row. A row that has not failed has all declared numbers.
func (c *columns) readNumbers(t *table.Table, i int, d *study.Definition, failed bool, into map[string]float64) error {
	read := map[string]int{}
	for _, j := range slices.Sorted(maps.Keys(c.numbers)) {
		read[c.numbers[j]] = j
	}
	read[d.Objective().Name] = c.objective
	declared := d.Declared()
	for _, name := range slices.Sorted(maps.Keys(read)) {
		j := read[name]
		wanted := !failed && slices.Contains(declared, name)
		if t.Rows[i][j] == "" && !wanted {
			continue
		}
		v, err := t.Number(i, j)
		hint := numberHint(t.Decimal(i, j), t.Dialect)
		switch {
		case err == nil:
			into[name] = v
		case hint != "":
			return fmt.Errorf("%w%s", err, hint)
		case t.CheckDecimal(i, j) != nil:
			return err
		case wanted:
			return fmt.Errorf("%w: write failed into the column %q of a row without a result", err, columnState)
		case slices.Contains(declared, name) && c.state >= 0:
			return fmt.Errorf("%w: leave the cell empty, and write failed into the column %q if the trial failed", err, columnState)
		default:
			return fmt.Errorf("%w: leave the cell empty if it has no number", err)
		}
	}
	return nil
}

// addDefaults adds the defaults of the active parameters of a point that have no value.
func addDefaults(values map[string]any, p space.Point, d *study.Definition) {
	for name, v := range d.Defaults {
		if _, ok := values[name]; !ok && p.Active(name) {
			values[name] = v
		}
	}
}

// checkDecimal is CheckDecimal of t for a cell of a parameter whose values are numbers. A text such as the version 3.10 is none.
func checkDecimal(t *table.Table, i, j int, p space.Parameter) error {
	if p.Kind == space.KindCategorical || p.Kind == space.KindFixed || p.Check(t.Rows[i][j]) == nil {
		return nil
	}
	return t.CheckDecimal(i, j)
}

// cellValue returns the value of a parameter whose text is in a cell, or the text itself. number is the text with a decimal
// point.
func cellValue(p space.Parameter, text, number string) any {
	values := p.Values
	switch p.Kind {
	case space.KindFloat, space.KindInt:
		values = nil
	case space.KindBool:
		values = []any{false, true}
	case space.KindFixed:
		values = []any{p.Value}
	}
	for _, text := range []string{text, number} {
		for _, v := range values {
			if cell(v) == text {
				return v
			}
		}
	}
	for _, v := range values {
		if b, ok := v.(bool); ok && strings.EqualFold(strconv.FormatBool(b), text) { // True and TRUE, from Python and spreadsheets
			return v
		}
	}
	if v, err := strconv.ParseFloat(number, 64); err == nil {
		return v
	}
	return text
}
