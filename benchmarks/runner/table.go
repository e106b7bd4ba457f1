package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/score"
	"github.com/functionspace/bo/internal/table"
	"github.com/functionspace/bo/surrogate"
)

// ErrData reports missing or invalid data of a suite of datasets.
var ErrData = errors.New("bad data")

// Dataset is a table with several splits into training and test rows. Its folder
// holds data.csv, a header and rows of numbers with the target last, and the file
// Splits: the test rows of each split as lines split,row below a header, both from 0.
type Dataset struct {
	Name   string
	Folder string // "" is Name
	Splits string // name of the file
	Seeds  int    // default number of splits; 0 takes all
	// Validation replaces the splits by splits of the training rows of the first split. Its test rows
	// are dropped.
	Validation bool
	// Folds replaces the splits by the folds of all rows. A tenth of the other rows of each is held out.
	Folds bool

	Class string // property by which a report groups datasets; may be empty

	// Read, if not nil, reads the table from other files of the folder.
	Read func(folder string) (*Table, error)
	// Draw, if not nil, draws another table of Dim inputs for each seed. The dataset then has
	// no folder.
	Draw   func(seed uint64) *Table
	Dim    int
	Labels bool // Y of the drawn tables holds labels
	// Prior has settings key=value for methods with a kernel; a method's own settings
	// override them.
	Prior []string
}

// Table is a dataset in memory.
type Table struct {
	Name string
	X    *mat.Dense
	Y    []float64
	Test [][]int // rows of each split
	Held [][]int // rows of each split that are in neither part, to choose settings; nil holds none out

	Prior   []string          // prior of the Dataset
	Classes int               // Y holds labels 0 … Classes-1; 0: Y holds numbers
	Inputs  surrogate.Scaling // "" is surrogate.ZScore
	Outputs surrogate.Scaling // "" is surrogate.ZScore
	Lo, Hi  []float64         // box of all rows; nil is the box of the training rows
	Shown   []int             // inputs of a Prediction; nil records no prediction

	draw func() *Table // makes the table when a run needs it; nil for a table in memory
}

// ready returns the table in memory.
func (t *Table) ready() *Table {
	if t.draw == nil {
		return t
	}
	return t.draw()
}

// drawn returns the table of a seed, which is drawn once.
func (d Dataset) drawn(seed uint64) *Table {
	return &Table{Name: d.Name, draw: sync.OnceValue(func() *Table {
		t := d.Draw(seed)
		t.Name, t.Prior = d.Name, d.Prior
		return t
	})}
}

// Load reads the dataset from its folder in dir. The error wraps ErrData if the data
// are missing or invalid.
func (d Dataset) Load(dir string) (*Table, error) {
	folder := filepath.Join(dir, d.folder())
	if d.Read != nil {
		t, err := d.Read(folder)
		if err != nil {
			return nil, err
		}
		t.Name, t.Prior = d.Name, d.Prior
		return t, nil
	}
	x, err := readRows(filepath.Join(folder, "data.csv"))
	if err != nil {
		return nil, err
	}
	n, width := x.Dims()
	t := &Table{Name: d.Name, Prior: d.Prior, X: mat.DenseCopyOf(x.Slice(0, n, 0, width-1)), Y: mat.Col(nil, width-1, x)}
	if d.Folds {
		t.Test, t.Held = t.folds()
		return t, nil
	}
	path := filepath.Join(folder, d.Splits)
	splits, err := open(path)
	if err != nil {
		return nil, err
	}
	lines, err := numbers(splits)
	if err != nil {
		return nil, err
	}
	for i := range splits.Rows {
		line := lines.RawRowView(i)
		if len(line) != 2 || line[0] != math.Trunc(line[0]) || line[0] < 0 || line[0] > float64(len(t.Test)) ||
			line[1] != math.Trunc(line[1]) || line[1] < 0 || line[1] >= float64(n) {
			return nil, fmt.Errorf("%w: %s: %v is not a split and a row of %d, splits in order", ErrData, path, line, n)
		}
		split := int(line[0])
		if split == len(t.Test) {
			t.Test = append(t.Test, nil)
		}
		t.Test[split] = append(t.Test[split], int(line[1]))
	}
	if d.Validation {
		t = t.validation()
	}
	return t, nil
}

// readRows reads a CSV file of inputs and a target.
func readRows(path string) (*mat.Dense, error) {
	data, err := open(path)
	if err != nil {
		return nil, err
	}
	if len(data.Header) < 2 {
		return nil, fmt.Errorf("%w: %s has one column, want inputs and a target", ErrData, data.Name)
	}
	return numbers(data)
}

// validationParts is the number of parts of the training rows of a Dataset with Validation. Each part
// is held out once.
const validationParts = 10

// validation returns the table of the training rows of the first split, divided at random into
// validationParts parts.
func (t *Table) validation() *Table {
	train, _ := t.split(1)
	q := *t
	q.X, q.Y = t.rows(train)
	q.Test = make([][]int, min(validationParts, len(train)))
	for i, row := range random.New(1, "validation of "+t.Name, 0).Perm(len(train)) {
		part := i % len(q.Test)
		q.Test[part] = append(q.Test[part], row)
	}
	return &q
}

func (d Dataset) folder() string { return cmp.Or(d.Folder, d.Name) }

// open reads a CSV file; the error wraps ErrData if the file is missing or its
// content is invalid.
func open(path string) (*table.Table, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no %s", ErrData, path)
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := table.Read(path, f)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrData, err)
	}
	return t, nil
}

// numbers returns all columns of a table.
func numbers(t *table.Table) (*mat.Dense, error) {
	x, err := t.Numbers(t.Header...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrData, err)
	}
	return x, nil
}

// split returns training and test rows of a seed, which numbers the splits from 1.
func (t *Table) split(seed uint64) (train, test []int) {
	test = t.Test[seed-1]
	out := make([]bool, len(t.Y))
	for _, i := range slices.Concat(test, t.held(seed)) {
		out[i] = true
	}
	for i := range out {
		if !out[i] {
			train = append(train, i)
		}
	}
	return train, test
}

// held returns the rows of a seed that are held out to choose settings.
func (t *Table) held(seed uint64) []int {
	if t.Held == nil {
		return nil
	}
	return t.Held[seed-1]
}

// rows returns the given rows of the table.
func (t *Table) rows(which []int) (*mat.Dense, []float64) {
	_, dim := t.X.Dims()
	x, y := mat.NewDense(len(which), dim, nil), make([]float64, len(which))
	for i, row := range which {
		x.SetRow(i, t.X.RawRowView(row))
		y[i] = t.Y[row]
	}
	return x, y
}

// Score holds the scores of a method on the test rows. Inputs and targets are
// standardised by mean and standard deviation of the training rows.
type Score struct {
	Train int `json:"train"` // number of training rows
	Test  int `json:"test"`  // number of test rows

	// LogDensity is the mean of log N(y; m, v+σ²) over the test rows, in nats, with
	// moments m, v of the latent function and noise variance σ². LogLikelihood is the
	// mean of E log N(y; f, σ²), f ~ N(m, v), which is never larger.
	LogDensity    float64 `json:"log_density"`
	LogLikelihood float64 `json:"log_likelihood"`
	RMSE          float64 `json:"rmse"`      // root mean squared error of m
	RMSERaw       float64 `json:"rmse_raw"`  // root mean squared error in the units of the file
	Noise         float64 `json:"noise"`     // σ², of standardised targets
	Spread        float64 `json:"mean_var"`  // mean of v over test rows
	Fit           float64 `json:"fit_s"`     // seconds
	Predict       float64 `json:"predict_s"` // seconds, of all test rows

	// Held is LogLikelihood at the rows that are held out to choose settings, 0 without such rows.
	Held float64 `json:"held_log_likelihood,omitzero"`
	// Coverage is the share of test rows in the central 90 % intervals of N(m, v+σ²).
	Coverage float64 `json:"coverage_90,omitzero"`
	// Processor is the user CPU time of the process during the fit in seconds, 0 if not
	// measured. It includes the other runs of several workers.
	Processor float64 `json:"fit_cpu_s,omitzero"`

	// Labels have LogDensity, the mean log probability, and these: the share of wrong labels
	// and the expected calibration error over 15 bins.
	Wrong       float64 `json:"wrong,omitzero"`
	Calibration float64 `json:"calibration_error,omitzero"`
}

// atOnce is the largest number of rows of one call of Predict.
const atOnce = 1024

// fit trains the method on the training rows of the split and scores it on the test
// rows.
func (r Run) fit(ctx context.Context, rec *Record) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %v", fault)
		}
	}()
	c, err := r.Method.chooser(r.Table.Prior...)
	if err != nil {
		return err
	}
	if r.Table.Classes > 0 {
		return r.fitLabels(ctx, c, rec)
	}
	train, test := r.Table.split(r.Seed)
	x, y := r.Table.rows(train)
	model := surrogate.Scaled{Model: c.Surrogate, Inputs: cmp.Or(r.Table.Inputs, surrogate.ZScore), Outputs: surrogate.Raw}
	scale := surrogate.Standardization{SD: 1}
	if r.Table.Outputs != surrogate.Raw {
		scale = surrogate.Standardize(y)
	}
	start, used := time.Now(), processor()
	data := surrogate.Dataset{X: x, Y: scale.Apply(nil, y), Lo: r.Table.Lo, Hi: r.Table.Hi}
	posterior, err := model.Fit(ctx, data, random.New(r.Seed, "fit of "+r.Table.Name, 0))
	if err != nil {
		return err
	}
	s := &Score{Train: len(train), Test: len(test), Noise: posterior.Noise(), Fit: nanoseconds(time.Since(start).Seconds()), Processor: nanoseconds(processor() - used)}
	rec.warn(posterior.Warnings())
	at, want := r.Table.rows(test)
	want = scale.Apply(want, want)
	start = time.Now()
	mean, variance, err := predict(ctx, posterior, at)
	if err != nil {
		return err
	}
	s.Predict = nanoseconds(time.Since(start).Seconds())
	s.rate(want, mean, variance)
	s.RMSERaw = s.RMSE * scale.SD
	if held := r.Table.held(r.Seed); held != nil {
		at, want := r.Table.rows(held)
		mean, variance, err := predict(ctx, posterior, at)
		if err != nil {
			return err
		}
		s.Held = score.ExpectedLogLikelihood(scale.Apply(want, want), mean, variance, max(s.Noise, minNoise))
	}
	rec.Score = s
	if r.Table.Shown != nil && r.Seed == 1 {
		rec.Prediction, err = r.Table.prediction(ctx, posterior, scale, train, test)
	}
	return err
}

// predict returns the moments of the latent function at the rows of x.
func predict(ctx context.Context, p surrogate.Posterior, x *mat.Dense) (mean, variance []float64, err error) {
	n, dim := x.Dims()
	mean, variance = make([]float64, n), make([]float64, n)
	for i := 0; i < n; i += atOnce {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		j := min(n, i+atOnce)
		p.Predict(mean[i:j], variance[i:j], x.Slice(i, j, 0, dim).(*mat.Dense))
	}
	return mean, variance, nil
}

// minNoise is the least noise variance of a score: the density of an exact model of
// exact data would be infinite.
const minNoise = 1e-12

// rate scores Gaussian predictions of the latent function against targets.
func (s *Score) rate(y, mean, variance []float64) {
	noise := max(s.Noise, minNoise)
	sd := make([]float64, len(y))
	for i, v := range variance {
		s.Spread += max(0, v) / float64(len(y))
		sd[i] = math.Sqrt(max(0, v) + noise)
	}
	g := score.Observations(y, mean, sd)
	s.LogDensity, s.RMSE, s.Coverage = g.LogDensity, g.RMSE, g.Coverage["90"]
	s.LogLikelihood = score.ExpectedLogLikelihood(y, mean, variance, noise)
}
