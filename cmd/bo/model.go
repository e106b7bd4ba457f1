package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/table"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/store/exchange"
	"github.com/functionspace/bo/surrogate"
)

// newMethod returns the named surrogate and, unless acquisition is nil, the
// named acquisition, with the key=value pairs set.
func newMethod(name string, acquisition *string, pairs []string) (*catalog.Method, error) {
	m, err := catalog.NewMethod(name)
	if err == nil && acquisition != nil {
		err = m.Choose(*acquisition)
	}
	given := map[string]bool{}
	for i := 0; err == nil && i < len(pairs); i++ {
		key, _, _ := strings.Cut(pairs[i], "=")
		if key = strings.TrimSpace(key); given[key] {
			return nil, usagef("--set %s is given twice", key)
		}
		given[key] = true
		err = m.Set(pairs[i])
	}
	if err != nil {
		return nil, usageError{err}
	}
	return m, nil
}

// check reports settings that fail whatever the data, before any are collected.
func check(m *catalog.Method, dim int) error {
	if err := m.Check(dim); err != nil {
		return usageError{err}
	}
	return nil
}

// required returns an error that names the missing files of pairs of a flag and its value.
func required(pairs ...string) error {
	var missing []string
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			missing = append(missing, pairs[i]+" FILE")
		}
	}
	if missing != nil {
		return usagef("missing %s", strings.Join(missing, "; "))
	}
	return nil
}

// openTable reads the table at path, or from stdin for "-".
func openTable(path string, stdin io.Reader) (*table.Table, error) {
	name, r := "stdin", stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		name, r = path, f
	}
	bounded := &io.LimitedReader{R: r, N: exchange.MaxTable + 1}
	t, err := table.Read(name, bounded)
	if bounded.N <= 0 {
		err = fmt.Errorf("%s: more than %d bytes", name, exchange.MaxTable)
	}
	if err != nil {
		return nil, err
	}
	t.Limit = loop.MaxValue
	return t, nil
}

// targets returns the numbers of one column.
func targets(t *table.Table, name string) ([]float64, error) {
	x, err := t.Numbers(name)
	if err != nil {
		return nil, err
	}
	return x.RawMatrix().Data, nil
}

// modelFlags are the flags of the commands that fit a table.
type modelFlags struct {
	Train  string `group:"data" placeholder:"FILE" help:"CSV file with the training data and a header line; - reads standard input."`
	Target string `group:"data" placeholder:"COLUMN" help:"Column of the target. Default: the last column."`

	StandardError string `group:"data" placeholder:"COLUMN" help:"Column of --train with the standard error of each target, in its unit: the standard deviation of its noise. An empty cell is not known. For surrogate gp."`

	Surrogate  string   `group:"model" complete:"surrogates" default:"gp" placeholder:"NAME" help:"Surrogate model to fit (see bo list surrogates). Default: ${default}."`
	Set        []string `group:"model" complete:"settings" sep:"none" placeholder:"KEY=VALUE" help:"Setting of the surrogate model, in scaled units (see bo describe surrogate NAME). May be repeated."`
	Likelihood string   `group:"model" enum:"gaussian,bernoulli,categorical" default:"gaussian" placeholder:"NAME" help:"Distribution of the target: gaussian for numbers with Gaussian noise, bernoulli for two labels, categorical for two or more labels. Default: ${default}."`
	NoiseFree  bool     `group:"model" help:"Declare the targets exact: a learned noise variance may fall to 1e-8, or to 1e-6 if it is learned with the weights of a network."`
	Inputs     string   `group:"model" enum:"raw,unit,zscore" default:"unit" placeholder:"NAME" help:"Scaling of each input before the fit: raw, unit (training range to [0,1]) or zscore (mean 0, standard deviation 1). Default: ${default}."`
	Outputs    string   `group:"model" enum:"raw,zscore" default:"zscore" placeholder:"NAME" help:"Scaling of the target before the fit: raw or zscore. Predictions are in the units of the file. Default: ${default}."`
	Seed       uint64   `group:"model" default:"0" placeholder:"N" help:"Seed of all random numbers. Default: ${default}."`
}

// training is a table read for a fit, with inputs in the units of the file.
type training struct {
	method   *catalog.Method
	table    *table.Table
	features []string
	target   string
	x        *mat.Dense
}

// open reads the training table, of which other is the file to predict at.
func (m modelFlags) open(e *env, other string) (*training, error) {
	t := &training{target: m.Target}
	var err error
	if t.method, err = newMethod(m.Surrogate, nil, m.Set); err != nil {
		return nil, err
	}
	if m.Train == "-" && other == "-" {
		return nil, usagef("standard input can be one of the two tables, not both")
	}
	if t.table, err = openTable(m.Train, e.stdin); err != nil {
		return nil, err
	}
	if t.target == "" {
		t.target = t.table.Header[len(t.table.Header)-1]
	} else if _, err := t.table.Column(t.target); err != nil {
		return nil, usageError{err}
	}
	if m.StandardError != "" {
		if err := m.checkErrors(t); err != nil {
			return nil, err
		}
	}
	t.features = slices.DeleteFunc(slices.Clone(t.table.Header), func(name string) bool { return name == t.target || name == m.StandardError })
	if len(t.features) == 0 {
		return nil, fmt.Errorf("%s: no input columns beside the target %q", t.table.Name, t.target)
	}
	if err := check(t.method, len(t.features)); err != nil {
		return nil, err
	}
	t.x, err = t.table.Numbers(t.features...)
	return t, err
}

// checkErrors returns the fault of --standard-error for the training data t.
func (m modelFlags) checkErrors(t *training) error {
	if m.Likelihood != gaussian {
		return usagef("--standard-error is for numbers, and --likelihood is %s", m.Likelihood)
	}
	if _, ok := t.method.Surrogate.(surrogate.NoiseTaker); !ok {
		return usagef("--standard-error: surrogate %s takes one noise for all targets: use gp", m.Surrogate)
	}
	if m.NoiseFree {
		return usagef("--standard-error and --noise-free: use one of them")
	}
	if m.StandardError == t.target {
		return usagef("--standard-error names the target %q", t.target)
	}
	if _, err := t.table.Column(m.StandardError); err != nil {
		return usageError{err}
	}
	return nil
}

// standardErrors returns the numbers of a column of t, NaN for empty cells.
func standardErrors(t *table.Table, name string) ([]float64, error) {
	j, err := t.Column(name)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(t.Rows))
	for i, row := range t.Rows {
		if out[i] = math.NaN(); row[j] == "" {
			continue
		}
		if out[i], err = t.Number(i, j); err == nil && out[i] < 0 {
			err = fmt.Errorf("%s: the standard error %s is negative", t.Cell(i, j), row[j])
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// giveErrors states the noise of each target of d by its standard error in the user's units, NaN if that is not known. It
// returns the model with the median noise of these targets for others, unless the model has a noise or less than half are known.
func giveErrors(m surrogate.Model, d *surrogate.Dataset, errors []float64, scale surrogate.Standardization) (surrogate.Model, error) {
	for _, sd := range errors {
		d.Noise = append(d.Noise, scale.Noise(sd))
	}
	variance, ok := d.MedianNoise()
	if !ok {
		return m, nil
	}
	if free, err := surrogate.FixNoise(m, nil); err != nil || !reflect.DeepEqual(free, m) {
		return m, nil
	}
	return surrogate.FixNoise(m, &variance)
}

// scale scales the training inputs and the points to predict at, and returns the
// box of both.
func (m modelFlags) scale(t *training, points *mat.Dense) (x, at *mat.Dense, lo, hi []float64, err error) {
	lo, hi = surrogate.Dataset{X: t.x}.Box()
	inputs, err := surrogate.NewInputMap(surrogate.Scaling(m.Inputs), t.x, lo, hi)
	if err != nil {
		return nil, nil, nil, nil, fmt.Errorf("%s: %w", t.table.Name, err)
	}
	x, at = inputs.Apply(t.x), inputs.Apply(points)
	lo, hi = box(x, at)
	return x, at, lo, hi, nil
}

// timed runs a fit to so many rows under watch and returns its seconds.
func timed(e *env, rows int, fit func(ctx context.Context) error) (float64, error) {
	started := time.Now()
	ctx, done := watch(e.ctx, e.stderr, rows)
	err := fit(ctx)
	done()
	return time.Since(started).Seconds(), err
}

func warn(e *env, warnings []string) {
	for _, w := range warnings {
		fmt.Fprintf(e.stderr, "bo: warning: %s\n", oneLine(w))
	}
}

// fitted is a posterior with the maps between its units and the user's units.
type fitted struct {
	posterior surrogate.Posterior
	inputs    *mat.Dense // scaled rows to predict at
	output    surrogate.Standardization
	trained   int // rows
	seconds   float64

	training *training
	targets  []float64 // of the training data
}

// fit fits the training table and scales the inputs of the other table, which at
// reads.
func (m modelFlags) fit(e *env, other string, at func(features []string, target string) (*mat.Dense, error)) (*fitted, error) {
	t, err := m.open(e, other)
	if err != nil {
		return nil, err
	}
	y, err := targets(t.table, t.target)
	if err != nil {
		return nil, err
	}
	points, err := at(t.features, t.target)
	if err != nil {
		return nil, err
	}
	var errors []float64
	if m.StandardError != "" {
		if errors, err = standardErrors(t.table, m.StandardError); err != nil {
			return nil, err
		}
	}
	f := &fitted{training: t, targets: y, trained: len(y), output: newOutputScale(m.Outputs, y, errors)}
	data := surrogate.Dataset{Y: f.output.Apply(nil, y), NoiseFree: m.NoiseFree}
	if data.X, f.inputs, data.Lo, data.Hi, err = m.scale(t, points); err != nil {
		return nil, err
	}
	model, err := giveErrors(t.method.Surrogate, &data, errors, f.output)
	if err != nil {
		return nil, err
	}
	f.seconds, err = timed(e, f.trained, func(ctx context.Context) error {
		f.posterior, err = model.Fit(ctx, data, random.New(m.Seed, "fit", 0))
		return err
	})
	if err != nil {
		return nil, err
	}
	if m.NoiseFree {
		warn(e, conflict(t.x, y))
	}
	if m.Outputs == "raw" {
		warn(e, farFromStandard(y))
	}
	warn(e, f.posterior.Warnings())
	return f, nil
}

// conflict warns of the first two rows with equal inputs and different targets.
func conflict(x *mat.Dense, y []float64) []string {
	first := map[string]int{}
	for i := range y {
		key := fmt.Sprint(x.RawRowView(i))
		j, repeated := first[key]
		if !repeated {
			first[key] = i
		} else if y[j] != y[i] {
			return []string{fmt.Sprintf("rows %d and %d have equal inputs and different targets: leave out --noise-free, or the fit is wrong there", j+1, i+1)}
		}
	}
	return nil
}

// predictAtOnce is the maximum number of rows of one call of Predict.
const predictAtOnce = 1024

// moments returns the mean and the standard deviation of f at the inputs, and the
// standard deviation of the noise, in the units of the target. A value that is not
// finite is an error.
func (f *fitted) moments() (mean, sd []float64, noise float64, err error) {
	n, d := f.inputs.Dims()
	mean, sd = make([]float64, n), make([]float64, n)
	averaged := surrogate.Averaged(f.posterior)
	for i := 0; i < n; i += predictAtOnce {
		j := min(n, i+predictAtOnce)
		averaged.Predict(mean[i:j], sd[i:j], f.inputs.Slice(i, j, 0, d).(*mat.Dense))
	}
	for i := range mean {
		mean[i] = f.output.Invert(mean[i])
		sd[i] = math.Sqrt(max(0, sd[i])) * f.output.SD
		if v := mean[i] + sd[i]; math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, nil, 0, fmt.Errorf("the prediction at row %d is not finite: mean %v, standard deviation %v", i+1, mean[i], sd[i])
		}
	}
	return mean, sd, math.Sqrt(averaged.Noise()) * f.output.SD, nil
}
