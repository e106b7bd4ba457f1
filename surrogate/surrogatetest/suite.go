package surrogatetest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
)

// Options relaxes the suite for slow or approximate models. The zero value has the
// strictest tolerances.
type Options struct {
	// Fast merges datasets, halves the number of fits and draws 500 instead of 2000
	// paths, for slow models.
	Fast bool

	// Tol is the tolerance between two computations of the same number, relative to
	// the posterior standard deviation; 0 is 1e-6.
	Tol float64

	// GradTol is the tolerance of gradients, relative to one plus their size; 0 is
	// 1e-5.
	GradTol float64

	// PathTol is the tolerance between the moments of paths and the moments of Joint,
	// relative to the standard deviations. The Monte Carlo error is added to it. 0 is
	// Tol. Models with approximate paths need it.
	PathTol float64
}

func (o Options) withDefaults() Options {
	o.Tol = cmp.Or(o.Tol, 1e-6)
	o.GradTol = cmp.Or(o.GradTol, 1e-5)
	o.PathTol = cmp.Or(o.PathTol, o.Tol)
	return o
}

// Run runs the suite with default options, a sub-test for each check.
func Run(t *testing.T, m surrogate.Model) { Options{}.Run(t, m) }

// Run runs the suite, a sub-test for each check.
func (o Options) Run(t *testing.T, m surrogate.Model) {
	s, err := newSuite(o, m)
	if err != nil {
		t.Fatal(err)
	}
	run(t, checks, s)
}

// check is one check of a T: a suite or a classifier.
type check[T any] struct {
	name string
	run  func(T) error
}

// run runs each check of s as a sub-test.
func run[T any](t *testing.T, checks []check[T], s T) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if err := c.run(s); err != nil {
				t.Error(err)
			}
		})
	}
}

// Check runs the suite and joins the errors of the checks that failed.
func (o Options) Check(m surrogate.Model) error {
	s, err := newSuite(o, m)
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range checks {
		if err := c.run(s); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c.name, err))
		}
	}
	return errors.Join(errs...)
}

var checks = []check[*suite]{
	{"predict", checkPredict},
	{"rows", checkRows},
	{"joint", checkJoint},
	{"gradient", checkGradient},
	{"joint gradient", checkJointVJP},
	{"paths", checkPaths},
	{"moments of paths", checkPathMoments},
	{"destinations", checkDestinations},
	{"shapes", checkShapes},
	{"concurrency", checkConcurrency},
	{"determinism", checkDeterminism},
	{"bad data", checkBadData},
	{"cancellation", checkCancellation},
	{"datasets", checkDatasets},
	{"condition", checkCondition},
	{"anchor", checkAnchor},
	{"averager", checkAverager},
	{"mean alone", checkMeanPredictor},
	{"leave one out", checkLeaveOneOut},
	{"features", checkFeatures},
	{"weights", checkWeights},
	{"evidence", checkEvidence},
	{"warm start", checkWarmStart},
	{"hyperparameters", checkHypers},
}

// suite is a model with its posterior on the main dataset, which most checks use.
type suite struct {
	Options
	model surrogate.Model
	data  surrogate.Dataset
	post  surrogate.Posterior
}

func newSuite(o Options, m surrogate.Model) (*suite, error) {
	s := &suite{Options: o.withDefaults(), model: m, data: smooth(12, 2)}
	d := clone(s.data)
	before := describe(m)
	post, err := s.fit(d)
	if err != nil {
		return nil, err
	}
	s.post = post
	switch {
	case post.Dim() != 2:
		return nil, fmt.Errorf("Dim() is %d after a fit to 2 inputs", post.Dim())
	case describe(m) != before:
		return nil, fmt.Errorf("the fit changed the model from\n%s\nto\n%s", before, describe(m))
	case !mat.Equal(d.X, s.data.X) || !slices.Equal(slices.Concat(d.Y, d.Lo, d.Hi), slices.Concat(s.data.Y, s.data.Lo, s.data.Hi)):
		return nil, errors.New("the fit changed the dataset")
	}
	return s, nil
}

// describe formats the exported fields of a model and the values that its pointers refer to.
func describe(m surrogate.Model) string {
	text, err := json.Marshal(m)
	return fmt.Sprint(string(text), err)
}

// fit fits the model with the common seed of all fits.
func (s *suite) fit(d surrogate.Dataset) (surrogate.Posterior, error) {
	post, err := s.model.Fit(context.Background(), d, random.New(1, "surrogatetest", 0))
	if err != nil {
		return nil, fmt.Errorf("fit: %w", err)
	}
	if post == nil {
		return nil, errors.New("the fit returns neither a posterior nor an error")
	}
	return post, nil
}
