package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/surrogate"
)

// predictRequest is a request of bo predict --pipe. Each action uses some of the fields.
type predictRequest struct {
	Action string `json:"action"` // fit, predict, sample or drop
	Model  int    `json:"model"`  // number of the fitted model, chosen by the caller
	Drop   []int  `json:"drop"`   // models to drop; in any request

	Surrogate string      `json:"surrogate"`
	Set       []string    `json:"set"` // settings of the surrogate model, KEY=VALUE
	X         [][]float64 `json:"x"`   // a row for each point
	Y         []float64   `json:"y"`
	Errors    []*float64  `json:"standard_errors"` // of y; null is not known
	Labels    []int       `json:"labels"`          // in place of y: classes from 0
	Classes   int         `json:"classes"`
	Min       []float64   `json:"min"` // bounds of later points; default the range of x
	Max       []float64   `json:"max"`
	NoiseFree bool        `json:"noise_free"`
	Inputs    string      `json:"inputs"`
	Outputs   string      `json:"outputs"`
	Seed      uint64      `json:"seed"`

	Covariance bool `json:"covariance"` // of the function at all points
	N          int  `json:"n"`          // samples
}

// predictAnswer is the answer to a predictRequest.
type predictAnswer struct {
	Model           int                `json:"model"`
	Hyperparameters map[string]float64 `json:"hyperparameters,omitempty"`
	Warnings        []string           `json:"warnings,omitempty"`

	Mean          []float64   `json:"mean,omitempty"`
	SD            []float64   `json:"sd,omitempty"`
	NoiseSD       *float64    `json:"noise_sd,omitempty"`
	Covariance    [][]float64 `json:"covariance,omitempty"`
	Probabilities [][]float64 `json:"probabilities,omitempty"`
	Samples       [][]float64 `json:"samples,omitempty"` // n rows
}

// errRequest is wrapped by errors about a request.
var errRequest = errors.New("invalid request")

// pipedModel is a model that bo predict --pipe has fitted.
type pipedModel struct {
	inputs    surrogate.InputMap
	output    surrogate.Standardization
	posterior surrogate.Posterior      // of numbers
	classes   surrogate.ClassPosterior // of labels
	warnings  []string
}

// servePredictions answers requests, one JSON document after the other, with one line of JSON
// each. A request that cannot be answered does not end the stream.
func servePredictions(ctx context.Context, r io.Reader, w io.Writer) error {
	dec := json.NewDecoder(r)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	models := map[int]*pipedModel{}
	for {
		var text json.RawMessage
		if err := dec.Decode(&text); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return usageError{fmt.Errorf("%w: %w", errRequest, err)}
		}
		answer, err := answerPrediction(ctx, models, text)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			kind := "failed"
			if errors.Is(err, errRequest) || errors.As(err, new(usageError)) {
				kind = "request"
			}
			err = enc.Encode(map[string]string{"error": oneLine(err.Error()), "kind": kind})
		} else {
			err = enc.Encode(answer)
		}
		if err != nil {
			return err
		}
	}
}

func answerPrediction(ctx context.Context, models map[int]*pipedModel, text []byte) (*predictAnswer, error) {
	r := predictRequest{Surrogate: catalog.Surrogates()[0].Name, Outputs: "zscore"}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		return nil, fmt.Errorf("%w: %w", errRequest, err)
	}
	if bytes.Contains(text, []byte("null")) { // which encoding/json reads as 0
		var list struct {
			X                   [][]*float64
			Y, Labels, Min, Max []*float64
		}
		_ = json.Unmarshal(text, &list)
		for _, row := range append(list.X, list.Y, list.Labels, list.Min, list.Max) {
			if slices.Contains(row, nil) {
				return nil, fmt.Errorf("%w: null in a list of numbers", errRequest)
			}
		}
	}
	for _, number := range r.Drop {
		delete(models, number)
	}
	if r.Action == "drop" {
		return &predictAnswer{}, nil
	}
	x, err := r.points()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRequest, err)
	}
	if r.Action == "fit" {
		m, err := r.fit(ctx, x)
		if err != nil {
			return nil, err
		}
		models[r.Model] = m
		return m.fitted(r.Model), nil
	}
	m := models[r.Model]
	if m == nil {
		return nil, fmt.Errorf("%w: there is no model %d", errRequest, r.Model)
	}
	if _, dim := x.Dims(); dim != len(m.inputs) {
		return nil, fmt.Errorf("%w: x has %d columns, the model has %d", errRequest, dim, len(m.inputs))
	}
	switch r.Action {
	case "predict":
		return m.predict(&r, x)
	case "sample":
		return m.sample(&r, x)
	}
	return nil, fmt.Errorf("%w: action is %q, want fit, predict, sample or drop", errRequest, r.Action)
}

// points returns x as a matrix of finite numbers.
func (r *predictRequest) points() (*mat.Dense, error) {
	if len(r.X) == 0 || len(r.X[0]) == 0 {
		return nil, errors.New("x has no numbers")
	}
	x := mat.NewDense(len(r.X), len(r.X[0]), nil)
	for i, row := range r.X {
		if len(row) != len(r.X[0]) {
			return nil, fmt.Errorf("row %d of x has %d numbers, the first row has %d", i+1, len(row), len(r.X[0]))
		}
		for _, v := range row {
			if math.Abs(v) > loop.MaxValue {
				return nil, fmt.Errorf("row %d of x: %v is not a usable number", i+1, v)
			}
		}
		x.SetRow(i, row)
	}
	return x, nil
}

// bounds returns the box of the points and of min and max.
func (r *predictRequest) bounds(x *mat.Dense) (lo, hi []float64, err error) {
	lo, hi = surrogate.Dataset{X: x}.Box()
	for _, b := range []struct {
		name   string
		given  []float64
		to     []float64
		choose func(float64, float64) float64
	}{{"min", r.Min, lo, math.Min}, {"max", r.Max, hi, math.Max}} {
		if b.given == nil {
			continue
		}
		if len(b.given) != len(b.to) {
			return nil, nil, fmt.Errorf("%w: %s has %d numbers, x has %d columns", errRequest, b.name, len(b.given), len(b.to))
		}
		for j, v := range b.given {
			b.to[j] = b.choose(b.to[j], v)
		}
	}
	return lo, hi, nil
}

func (r *predictRequest) fit(ctx context.Context, x *mat.Dense) (*pipedModel, error) {
	method, err := newMethod(r.Surrogate, nil, r.Set)
	if err != nil {
		return nil, err
	}
	n, dim := x.Dims()
	if err := check(method, dim); err != nil {
		return nil, err
	}
	targets := len(r.Y) + len(r.Labels)
	switch {
	case r.Y != nil && r.Labels != nil:
		return nil, fmt.Errorf("%w: it has y and labels: give y for numbers, or labels for classes", errRequest)
	case targets != n:
		return nil, fmt.Errorf("%w: %d targets for %d rows of x", errRequest, targets, n)
	}
	if r.Outputs != "raw" && r.Outputs != "zscore" {
		return nil, fmt.Errorf("%w: outputs is %q, want raw or zscore", errRequest, r.Outputs)
	}
	lo, hi, err := r.bounds(x)
	if err != nil {
		return nil, err
	}
	m := &pipedModel{}
	if m.inputs, err = surrogate.NewInputMap(surrogate.Scaling(r.Inputs), x, lo, hi); err != nil {
		return nil, fmt.Errorf("%w: %w", errRequest, err)
	}
	lo, hi = m.row(lo), m.row(hi)
	rng := random.New(r.Seed, "fit", 0)
	if r.Labels != nil {
		classifier, err := method.Classifier()
		if err != nil {
			return nil, usageError{err}
		}
		m.classes, err = classifier.FitLabels(ctx, surrogate.Labels{X: m.inputs.Apply(x), Y: r.Labels, Classes: r.Classes, Lo: lo, Hi: hi}, rng)
		if err == nil {
			m.warnings = m.classes.Warnings()
		}
		return m, err
	}
	errors, err := r.standardErrors(method.Surrogate)
	if err != nil {
		return nil, err
	}
	m.output = newOutputScale(r.Outputs, r.Y, errors)
	data := surrogate.Dataset{X: m.inputs.Apply(x), Y: m.output.Apply(nil, r.Y), Lo: lo, Hi: hi, NoiseFree: r.NoiseFree}
	model, err := giveErrors(method.Surrogate, &data, errors, m.output)
	if err != nil {
		return nil, err
	}
	m.posterior, err = model.Fit(ctx, data, rng)
	if err == nil {
		m.warnings = m.posterior.Warnings()
	}
	return m, err
}

// standardErrors returns the standard errors of the targets for a model, NaN for null; nil if there are none.
func (r *predictRequest) standardErrors(m surrogate.Model) ([]float64, error) {
	if r.Errors == nil {
		return nil, nil
	}
	if _, ok := m.(surrogate.NoiseTaker); !ok {
		return nil, fmt.Errorf("%w: surrogate %s takes one noise for all targets: use gp", errRequest, r.Surrogate)
	}
	if len(r.Errors) != len(r.Y) {
		return nil, fmt.Errorf("%w: %d standard errors for %d targets", errRequest, len(r.Errors), len(r.Y))
	}
	out := make([]float64, len(r.Errors))
	for i, sd := range r.Errors {
		if out[i] = math.NaN(); sd == nil {
			continue
		}
		if out[i] = *sd; !(*sd >= 0 && *sd <= loop.MaxValue) {
			return nil, fmt.Errorf("%w: standard error %d is %v, want a number of at least 0", errRequest, i+1, *sd)
		}
	}
	return out, nil
}

// row returns one point in the model's units.
func (m *pipedModel) row(x []float64) []float64 {
	return m.inputs.Apply(mat.NewDense(1, len(x), x)).RawRowView(0)
}

// fitted describes the fit.
func (m *pipedModel) fitted(number int) *predictAnswer {
	return &predictAnswer{Model: number, Warnings: m.warnings, Hyperparameters: hypersOf(m.posterior)}
}

func (m *pipedModel) predict(r *predictRequest, x *mat.Dense) (*predictAnswer, error) {
	a := &predictAnswer{Model: r.Model}
	at := m.inputs.Apply(x)
	if m.classes != nil {
		a.Probabilities = rows(probabilities(m.classes, at))
		return a, nil
	}
	f := &fitted{posterior: m.posterior, inputs: at, output: m.output}
	var noise float64
	var err error
	if a.Mean, a.SD, noise, err = f.moments(); err != nil {
		return nil, err
	}
	a.NoiseSD = &noise
	if r.Covariance {
		_, cov, err := m.joint(at)
		if err != nil {
			return nil, err
		}
		cov.ScaleSym(m.output.SD*m.output.SD, cov)
		a.Covariance = rows(cov)
	}
	return a, nil
}

// sample returns joint samples of the function at all points.
func (m *pipedModel) sample(r *predictRequest, x *mat.Dense) (*predictAnswer, error) {
	if m.posterior == nil {
		return nil, fmt.Errorf("%w: samples are for numbers, not for labels", errRequest)
	}
	if r.N < 1 || r.N > 100_000 {
		return nil, fmt.Errorf("%w: n is %d, want 1 to 100000", errRequest, r.N)
	}
	mean, cov, err := m.joint(m.inputs.Apply(x))
	if err != nil {
		return nil, err
	}
	draws, err := jointDraws(mean, cov, m.output, r.N, r.Seed)
	if err != nil {
		return nil, err
	}
	return &predictAnswer{Model: r.Model, Samples: draws}, nil
}

// joint returns the joint posterior at points in the model's units.
func (m *pipedModel) joint(at *mat.Dense) ([]float64, *mat.SymDense, error) {
	n, _ := at.Dims()
	if n > maxJoint {
		return nil, nil, fmt.Errorf("%w: %d points, a joint posterior takes at most %d", errRequest, n, maxJoint)
	}
	mean, cov := make([]float64, n), mat.NewSymDense(n, nil)
	surrogate.Averaged(m.posterior).Joint(mean, cov, at)
	return mean, cov, nil
}

// rows returns the rows of a matrix.
func rows(a mat.Matrix) [][]float64 {
	n, _ := a.Dims()
	out := make([][]float64, n)
	for i := range out {
		out[i] = mat.Row(nil, i, a)
	}
	return out
}
