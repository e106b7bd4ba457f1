package surrogatetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
)

// RunClassifier checks that a classifier fulfils the contract of package surrogate, by
// about eight fits to at most 30 labels.
func RunClassifier(t *testing.T, c surrogate.Classifier) {
	run(t, []check[surrogate.Classifier]{
		{"two classes", func(c surrogate.Classifier) error { return classesAgree(c, labelled(30, 2)) }},
		{"three classes", func(c surrogate.Classifier) error { return classesAgree(c, labelled(30, 3)) }},
		{"datasets", checkLabelDatasets},
		{"bad data", checkBadLabels},
		{"cancellation", checkLabelCancellation},
	}, c)
}

// labelled returns n points of the unit square, labelled in stripes.
func labelled(n, classes int) surrogate.Labels {
	d := smooth(n, 2)
	l := surrogate.Labels{X: d.X, Y: make([]int, n), Classes: classes, Lo: d.Lo, Hi: d.Hi}
	for i := range l.Y {
		l.Y[i] = min(int(float64(classes)*(d.X.At(i, 0)+0.3*d.X.At(i, 1))/1.3), classes-1)
	}
	return l
}

func fitLabels(c surrogate.Classifier, l surrogate.Labels) (surrogate.ClassPosterior, error) {
	return c.FitLabels(context.Background(), l, random.New(1, "surrogatetest", 0))
}

func probabilities(p surrogate.ClassPosterior, x *mat.Dense) *mat.Dense {
	m, _ := x.Dims()
	prob := mat.NewDense(m, p.Classes(), nil)
	p.Predict(prob, x)
	return prob
}

// classesAgree checks that all predictions of a ClassPosterior are consistent.
func classesAgree(c surrogate.Classifier, l surrogate.Labels) error {
	p, err := fitLabels(c, l)
	if err != nil {
		return err
	}
	const m = 7
	x := points(m, 2)
	prob := probabilities(p, x)
	again, err := fitLabels(c, l)
	if err != nil {
		return err
	}
	if err := errors.Join(
		saneClasses(p, l.Classes, x),
		identical("a second fit", data(probabilities(again, x)), data(prob)),
		gradientOfClasses(p, x),
	); err != nil {
		return err
	}
	for i := range m {
		if err := near("probabilities of a point alone", data(probabilities(p, rowsOf(x, i))), prob.RawRowView(i), 1e-9); err != nil {
			return err
		}
	}
	right := 0
	at := probabilities(p, l.X)
	for i, y := range l.Y {
		if floats.MaxIdx(at.RawRowView(i)) == y {
			right++
		}
	}
	if right < len(l.Y)*8/10 {
		return fmt.Errorf("%d of %d training labels have the largest probability, want 80 %%", right, len(l.Y))
	}
	return nil
}

// saneClasses checks that probabilities add up to 1, that variances are positive, and
// that wrong sizes panic.
func saneClasses(p surrogate.ClassPosterior, classes int, x *mat.Dense) error {
	m, d := x.Dims()
	latents := classes
	if classes == 2 {
		latents = 1
	}
	if p.Classes() != classes || p.Latents() != latents || p.Dim() != d {
		return fmt.Errorf("the posterior has %d classes, %d latents and %d inputs, want %d, %d and %d", p.Classes(), p.Latents(), p.Dim(), classes, latents, d)
	}
	prob := probabilities(p, x)
	mean, variance := mat.NewDense(m, latents, nil), mat.NewDense(m, latents, nil)
	p.Latent(mean, variance, x)
	for i := range m {
		var sum float64
		for _, v := range prob.RawRowView(i) {
			if !(v >= 0 && v <= 1) {
				return fmt.Errorf("a probability is %v, want a number in [0,1]", v)
			}
			sum += v
		}
		if math.Abs(sum-1) > 1e-9 {
			return fmt.Errorf("probabilities add up to %v, want 1", sum)
		}
		for c, v := range variance.RawRowView(i) {
			if !(v >= 0) || math.IsInf(v, 0) || math.IsNaN(mean.At(i, c)) {
				return fmt.Errorf("latent mean %v and variance %v", mean.At(i, c), v)
			}
		}
	}
	if e, ok := p.(surrogate.ClassEvidence); ok {
		if v := e.LogMarginalLikelihood(); !(v <= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("the log marginal likelihood of the labels is %v", v)
		}
	}
	if len(p.Hypers()) == 0 {
		return errors.New("no hyperparameters")
	}
	if !panics(func() { p.Predict(mat.NewDense(m, classes+1, nil), x) }) || !panics(func() { p.Latent(mean, mat.NewDense(m+1, latents, nil), x) }) {
		return errors.New("a destination of the wrong size does not panic")
	}
	return nil
}

func gradientOfClasses(p surrogate.ClassPosterior, x *mat.Dense) error {
	m, d := x.Dims()
	value, grad := make([]float64, m), mat.NewDense(m, d, nil)
	if p.Classes() > 2 {
		if !panics(func() { p.PredictGrad(value, grad, x) }) {
			return errors.New("PredictGrad does not panic for more than two classes")
		}
		return nil
	}
	p.PredictGrad(value, grad, x)
	second := func(x *mat.Dense) []float64 { return mat.Col(nil, 1, probabilities(p, x)) }
	return errors.Join(
		near("probability of PredictGrad against Predict", value, second(x), 1e-9),
		differences("probability", second, x, grad, 1e-5),
	)
}

// checkLabelDatasets fits one label, absent classes, and contradictory labels.
func checkLabelDatasets(c surrogate.Classifier) error {
	absent := labelled(8, 2)
	clear(absent.Y)
	contradiction := labelled(6, 2)
	contradiction.X = rowsOf(contradiction.X, 0, 0, 0, 1, 1, 2)
	one := surrogate.Labels{X: mat.NewDense(1, 1, []float64{0.4}), Y: []int{1}, Classes: 3}
	for _, set := range []struct {
		name string
		l    surrogate.Labels
	}{{"one label", one}, {"one class of two", absent}, {"contradictory labels", contradiction}} {
		p, err := fitLabels(c, set.l)
		if err == nil {
			err = saneClasses(p, set.l.Classes, points(3, p.Dim()))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", set.name, err)
		}
	}
	p, err := fitLabels(c, absent)
	if err == nil && !(probabilities(p, absent.X).At(0, 0) > 0.5) {
		err = errors.New("the only class among the labels does not have the larger probability")
	}
	return err
}

func checkBadLabels(c surrogate.Classifier) error {
	for _, b := range []struct {
		what string
		want error
		harm func(l *surrogate.Labels)
	}{
		{"no data", surrogate.ErrNoData, func(l *surrogate.Labels) { *l = surrogate.Labels{Classes: 2} }},
		{"an input of NaN", surrogate.ErrNotFinite, func(l *surrogate.Labels) { l.X.Set(2, 1, math.NaN()) }},
		{"a label too few", surrogate.ErrShape, func(l *surrogate.Labels) { l.Y = l.Y[1:] }},
		{"a label outside the classes", surrogate.ErrLabel, func(l *surrogate.Labels) { l.Y[3] = 2 }},
		{"one class", surrogate.ErrLabel, func(l *surrogate.Labels) { l.Classes = 1 }},
	} {
		l := labelled(5, 2)
		b.harm(&l)
		post, err := fitLabels(c, l)
		if err := rejected("a fit to "+b.what, post, err, b.want); err != nil {
			return err
		}
	}
	return nil
}

func checkLabelCancellation(c surrogate.Classifier) error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	post, err := c.FitLabels(ctx, labelled(12, 2), random.New(1, "surrogatetest", 0))
	return rejected("a fit with a cancelled context", post, err, context.Canceled)
}
