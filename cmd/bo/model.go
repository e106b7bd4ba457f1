package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/catalog"
	"github.com/functionspace/bo/internal/stream"
	"github.com/functionspace/bo/surrogate"
)

// newMethod returns the named surrogate and, unless acquisition is nil, the
// named acquisition, with the key=value pairs set.
func newMethod(name string, acquisition *string, pairs []string) (*catalog.Method, error) {
	m, err := catalog.NewMethod(name)
	if err == nil && acquisition != nil {
		err = m.Choose(*acquisition)
	}
	for i := 0; err == nil && i < len(pairs); i++ {
		err = m.Set(pairs[i])
	}
	if err != nil {
		return nil, usageError{err}
	}
	return m, nil
}

// check reports settings that fail whatever the data, before any are collected.
func check(ctx context.Context, m *catalog.Method, dim int) error {
	if err := m.Check(ctx, dim); err != nil && ctx.Err() == nil {
		return usageError{err}
	}
	return ctx.Err()
}

// modelFlags are those of the commands that fit a table.
type modelFlags struct {
	Train  string `group:"data" required:"" placeholder:"FILE" help:"CSV file with a header: the target and its inputs; - reads standard input."`
	Target string `group:"data" placeholder:"COLUMN" help:"Column to predict; the last one if left out."`

	Surrogate string   `group:"model" default:"gp" placeholder:"NAME" help:"Model of the function (bo list surrogates); default ${default}."`
	Set       []string `group:"model" sep:"none" placeholder:"KEY=VALUE" help:"A setting of the surrogate (bo describe surrogate NAME), in scaled units. Repeat for more."`
	NoiseFree bool     `group:"model" help:"The targets are exact: allow a learned noise variance down to 1e-6."`
	Inputs    string   `group:"model" enum:"raw,unit,zscore" default:"unit" placeholder:"HOW" help:"Scaling of each input before the fit: raw, unit (range of the training rows to [0,1]) or zscore; default ${default}."`
	Outputs   string   `group:"model" enum:"raw,zscore" default:"zscore" placeholder:"HOW" help:"Scaling of the target before the fit: raw or zscore; default ${default}. Predictions come back in the units of the file."`
	Seed      uint64   `group:"model" default:"0" placeholder:"N" help:"Root of all random numbers; default ${default}."`
}

// A fitted is a posterior together with the way to and from the user's units.
type fitted struct {
	posterior surrogate.Posterior
	inputs    *mat.Dense // scaled rows to predict at
	output    surrogate.Standardization
	features  []string
	target    string
	trained   int // rows
	seconds   float64
}

// fit fits the training table and scales the inputs of the other one, which at
// reads.
func (m modelFlags) fit(e *env, other string, at func(features []string, target string) (*mat.Dense, error)) (*fitted, error) {
	method, err := newMethod(m.Surrogate, nil, m.Set)
	if err != nil {
		return nil, err
	}
	if m.Train == "-" && other == "-" {
		return nil, usagef("standard input can be one of the two tables, not both")
	}
	train, err := openTable(m.Train, e.stdin)
	if err != nil {
		return nil, err
	}
	f := &fitted{target: m.Target, trained: len(train.rows)}
	if f.target == "" {
		f.target = train.header[len(train.header)-1]
	} else if _, err := train.column(f.target); err != nil {
		return nil, usageError{err}
	}
	f.features = slices.DeleteFunc(slices.Clone(train.header), func(name string) bool { return name == f.target })
	if len(f.features) == 0 {
		return nil, fmt.Errorf("%s: no input columns beside the target %q", train.name, f.target)
	}
	if err := check(e.ctx, method, len(f.features)); err != nil {
		return nil, err
	}
	x, err := train.numbers(f.features)
	if err != nil {
		return nil, err
	}
	y, err := train.targets(f.target)
	if err != nil {
		return nil, err
	}
	points, err := at(f.features, f.target)
	if err != nil {
		return nil, err
	}
	scale := newInputScale(m.Inputs, x)
	x, f.inputs = scale.apply(x), scale.apply(points)
	f.output = newOutputScale(m.Outputs, y)
	lo, hi := box(x, f.inputs)
	data := surrogate.Dataset{X: x, Y: f.output.Apply(nil, y), Lo: lo, Hi: hi, NoiseFree: m.NoiseFree}
	started := time.Now()
	ctx, done := watch(e.ctx, e.stderr, f.trained)
	f.posterior, err = method.Surrogate.Fit(ctx, data, stream.New(m.Seed, "fit", 0))
	done()
	if err != nil {
		return nil, err
	}
	f.seconds = time.Since(started).Seconds()
	for _, w := range f.posterior.Warnings() {
		fmt.Fprintf(e.stderr, "bo: warning: %s\n", w)
	}
	return f, nil
}

// predictAtOnce bounds the rows that a surrogate is asked about in one call.
const predictAtOnce = 1024

// moments returns the mean and the standard deviation of f at the inputs, and the
// standard deviation of the noise, in the units of the target.
func (f *fitted) moments() (mean, sd []float64, noise float64) {
	n, d := f.inputs.Dims()
	mean, sd = make([]float64, n), make([]float64, n)
	for i := 0; i < n; i += predictAtOnce {
		j := min(n, i+predictAtOnce)
		f.posterior.Predict(mean[i:j], sd[i:j], f.inputs.Slice(i, j, 0, d).(*mat.Dense))
	}
	for i := range mean {
		mean[i] = f.output.Invert(mean[i])
		sd[i] = math.Sqrt(max(0, sd[i])) * f.output.SD
	}
	return mean, sd, math.Sqrt(f.posterior.Noise()) * f.output.SD
}
