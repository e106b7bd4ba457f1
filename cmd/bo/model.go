package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/catalog"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/internal/stream"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// Prefixes of the keys of --set; a surrogate's keys have none.
const (
	acquisitionPrefix = "acquisition."
	maximizerPrefix   = "maximizer."
)

// A method is a surrogate with, for a search, what chooses points by it.
type method struct {
	name        string // of the surrogate
	model       surrogate.Model
	acquisition acquisition.Acquisition
	maximizer   acquisition.MaximizeOptions
	owners      []owner
}

// An owner is an option struct that --set reaches by a prefix.
type owner struct {
	prefix, name string
	options      any
}

// newMethod returns the named surrogate and, if acquisitionName is not empty, the
// named acquisition, with the key=value pairs set.
func newMethod(surrogateName, acquisitionName string, pairs []string) (*method, error) {
	m := &method{name: surrogateName}
	var err error
	if m.model, err = catalog.Surrogate(surrogateName); err != nil {
		return nil, usageError{err}
	}
	m.owners = []owner{{"", "surrogate " + surrogateName, m.model}}
	if acquisitionName != "" {
		if m.acquisition, err = catalog.Acquisition(acquisitionName); err != nil {
			return nil, usageError{err}
		}
		m.owners = append(m.owners,
			owner{acquisitionPrefix, "acquisition " + acquisitionName, m.acquisition},
			owner{maximizerPrefix, "maximizer", &m.maximizer})
	}
	for _, pair := range pairs {
		if err := m.set(pair); err != nil {
			return nil, usageError{err}
		}
	}
	return m, nil
}

func (m *method) set(pair string) error {
	key, text, ok := strings.Cut(pair, "=")
	if key = strings.TrimSpace(key); !ok || key == "" {
		return fmt.Errorf("--set %s: want key=value", pair)
	}
	to := m.owners[0]
	for _, o := range m.owners[1:] {
		if strings.HasPrefix(key, o.prefix) {
			to = o
		}
	}
	bare := strings.TrimPrefix(key, to.prefix)
	err := settings.Set(to.options, bare, text)
	if errors.Is(err, settings.ErrUnknown) {
		for _, o := range m.owners {
			if slices.ContainsFunc(settings.List(o.options), func(s settings.Setting) bool { return s.Key == bare }) {
				return fmt.Errorf("%s: %w %q: did you mean %s%s?", to.name, settings.ErrUnknown, bare, o.prefix, bare)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", to.name, err)
	}
	return nil
}

// A checker is a model that knows whether its settings make sense for dim inputs;
// a stated one knows it of the prior in them.
type (
	checker interface{ Check(dim int) error }
	stated  interface {
		Process(dim int) (prior.Process, error)
	}
)

// check reports settings that fail whatever the data, before any are collected.
func (m *method) check(ctx context.Context, dim int) error {
	var err error
	switch model := m.model.(type) {
	case checker:
		err = model.Check(dim)
	case stated:
		_, err = model.Process(dim)
	}
	if err != nil {
		return usageError{fmt.Errorf("surrogate %w", named(err, m.name))}
	}
	if m.acquisition == nil {
		return nil
	}
	// A rehearsal: one suggestion from one observation of one input.
	line, err := space.New(space.Float("x", 0, 1))
	if err != nil {
		return err
	}
	one := surrogate.Dataset{X: mat.NewDense(1, 1, []float64{0.5}), Y: []float64{0}}
	posterior, err := gp.Model{}.Fit(ctx, one, stream.New(0, "rehearsal", 0))
	if err != nil {
		return err
	}
	problem := acquisition.Problem{Posterior: posterior, Observed: one.X}
	_, err = acquisition.Suggest(ctx, m.acquisition, problem, line, 1, m.maximizer, stream.New(0, "rehearsal", 1))
	if err != nil && ctx.Err() == nil {
		err = usageError{fmt.Errorf("%s: %w", m.owners[1].name, err)}
	}
	return err
}

// named begins err with name, unless it does already.
func named(err error, name string) error {
	if strings.HasPrefix(err.Error(), name+": ") {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// arguments lists every setting, given or not.
func (m *method) arguments() []argument {
	var args []argument
	for _, o := range m.owners {
		for _, s := range settings.List(o.options) {
			text, err := settings.Get(o.options, s.Key)
			if err != nil {
				panic(err)
			}
			args = append(args, argument{"--set " + o.prefix + s.Key, text})
		}
	}
	return args
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

// fit fits the training table and scales the inputs of the table at.
func (m modelFlags) fit(e *env, at func(features []string, target string) (*mat.Dense, error)) (*fitted, error) {
	method, err := newMethod(m.Surrogate, "", m.Set)
	if err != nil {
		return nil, err
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
	if err := method.check(e.ctx, len(f.features)); err != nil {
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
	if f.posterior, err = method.model.Fit(e.ctx, data, stream.New(m.Seed, "fit", 0)); err != nil {
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

// moments returns the mean and the variance of f at the inputs, and the variance
// of the noise, in the units of the target.
func (f *fitted) moments() (mean, variance []float64, noise float64) {
	n, d := f.inputs.Dims()
	mean, variance = make([]float64, n), make([]float64, n)
	for i := 0; i < n; i += predictAtOnce {
		j := min(n, i+predictAtOnce)
		f.posterior.Predict(mean[i:j], variance[i:j], f.inputs.Slice(i, j, 0, d).(*mat.Dense))
	}
	unit := f.output.SD * f.output.SD
	for i := range mean {
		mean[i] = f.output.Invert(mean[i])
		variance[i] = max(0, variance[i]) * unit
	}
	return mean, variance, f.posterior.Noise() * unit
}
