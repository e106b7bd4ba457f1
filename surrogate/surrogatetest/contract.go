package surrogatetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
)

// result holds the numbers that one call writes to one destination.
type result struct {
	of      string
	numbers []float64
}

// results returns the numbers that a posterior and a path write at x. All destinations are
// filled with fill before.
func results(p surrogate.Posterior, path surrogate.Path, x *mat.Dense, fill float64) []result {
	m, d := x.Dims()
	mean, variance := filled(m, fill), filled(m, fill)
	p.Predict(mean, variance, x)
	g := predictGrad(p, x, fill)
	jointMean, cov := filled(m, fill), mat.NewSymDense(m, filled(m*m, fill))
	p.Joint(jointMean, cov, x)
	value, grad := filled(m, fill), mat.NewDense(m, d, filled(m*d, fill))
	path.Eval(value, grad, x)
	return []result{
		{"mean of Predict", mean}, {"variance of Predict", variance},
		{"mean of PredictGrad", g.mean}, {"variance of PredictGrad", g.variance},
		{"gradient of the mean", data(g.dmean)}, {"gradient of the variance", data(g.dvariance)},
		{"mean of Joint", jointMean}, {"covariance", data(cov)},
		{"path", value}, {"gradient of a path", data(grad)},
	}
}

// everything returns all predictions of a posterior at x in one slice.
func everything(p surrogate.Posterior, x *mat.Dense) []float64 {
	m, d := x.Dims()
	dx, cbar := mat.NewDense(m, d, nil), mat.NewSymDense(m, nil)
	for i := range m {
		cbar.SetSym(i, 0, float64(1+i))
	}
	var out []float64
	for i, path := range p.Paths(2, random.New(8, "everything", 0)) {
		all := results(p, path, x, 0)
		if i == 0 {
			p.JointVJP(dx, all[0].numbers, cbar, x)
		}
		for _, r := range all {
			out = append(out, r.numbers...)
		}
	}
	return append(out, data(dx)...)
}

// checkDestinations checks that results do not depend on the previous content of
// destinations, and that calls leave the points unchanged.
func checkDestinations(s *suite) error {
	const m = 4
	x := points(m, 2)
	before := mat.DenseCopyOf(x)
	path := s.post.Paths(1, random.New(9, "destinations", 0))[0]
	clean := results(s.post, path, x, 0)
	for _, dirt := range []float64{7, math.NaN()} {
		for i, r := range results(s.post, path, x, dirt) {
			if err := identical(r.of+" into a used destination", r.numbers, clean[i].numbers); err != nil {
				return err
			}
		}
	}

	// The stride of a view of a larger matrix differs from its width.
	wide := mat.NewDense(m, 5, nil)
	view := wide.Slice(0, m, 2, 4).(*mat.Dense)
	view.Copy(x)
	if err := identical("everything at a view of a larger matrix", everything(s.post, view), everything(s.post, x)); err != nil {
		return err
	}
	if !mat.Equal(before, x) {
		return errors.New("a prediction changed its points")
	}
	return nil
}

// checkShapes checks that wrong sizes panic.
func checkShapes(s *suite) error {
	x, v := points(3, 2), func(n int) []float64 { return make([]float64, n) }
	g := func(r, c int) *mat.Dense { return mat.NewDense(r, c, nil) }
	for _, c := range []struct {
		what string
		call func()
	}{
		{"Predict of points with one column too many", func() { s.post.Predict(v(3), v(3), points(3, 3)) }},
		{"Predict of points with one column too few", func() { s.post.Predict(v(3), v(3), points(3, 1)) }},
		{"Predict into a mean that is too short", func() { s.post.Predict(v(2), v(3), x) }},
		{"Predict into a variance that is too long", func() { s.post.Predict(v(3), v(4), x) }},
		{"PredictGrad into a gradient with too many rows", func() { s.post.PredictGrad(v(3), v(3), g(4, 2), g(3, 2), x) }},
		{"PredictGrad into a gradient with too few columns", func() { s.post.PredictGrad(v(3), v(3), g(3, 2), g(3, 1), x) }},
		{"Joint into a covariance that is too large", func() { s.post.Joint(v(3), mat.NewSymDense(4, nil), x) }},
		{"JointVJP into a gradient with too many rows", func() { s.post.JointVJP(g(4, 2), v(3), mat.NewSymDense(3, nil), x) }},
	} {
		if !panics(c.call) {
			return fmt.Errorf("%s does not panic", c.what)
		}
	}
	return nil
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

// checkConcurrency checks that four goroutines get the same predictions as one.
func checkConcurrency(s *suite) error {
	x := points(5, 2)
	want := everything(s.post, x)
	errs := make([]error, 4)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() {
			own := mat.DenseCopyOf(x)
			for range 3 {
				if err := identical("a concurrent prediction", everything(s.post, own), want); err != nil {
					errs[i] = err
				}
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// checkDeterminism checks that the same seed gives the same bits on one processor and on two.
// It also checks that a posterior does not read its dataset after the fit.
func checkDeterminism(s *suite) error {
	x := points(4, 2)
	want := everything(s.post, x)
	processors := []int{1, 2}
	if s.Fast {
		processors = []int{3 - min(runtime.GOMAXPROCS(0), 2)}
	}
	for _, procs := range processors {
		d := clone(s.data)
		old := runtime.GOMAXPROCS(procs)
		post, err := s.fit(d)
		runtime.GOMAXPROCS(old)
		if err != nil {
			return err
		}
		what := fmt.Sprintf("a second fit with GOMAXPROCS=%d", procs)
		if err := identical(what, everything(post, x), want); err != nil {
			return err
		}
		d.X.Zero()
		clear(d.Y)
		clear(d.Hi)
		if err := identical("the posterior after its dataset was overwritten", everything(post, x), want); err != nil {
			return err
		}
	}
	return nil
}

// checkBadData checks that invalid data give the errors of package surrogate.
func checkBadData(s *suite) error {
	for _, c := range []struct {
		what string
		want error
		harm func(d *surrogate.Dataset)
	}{
		{"no data", surrogate.ErrNoData, func(d *surrogate.Dataset) { *d = surrogate.Dataset{} }},
		{"a target of NaN", surrogate.ErrNotFinite, func(d *surrogate.Dataset) { d.Y[3] = math.NaN() }},
		{"an infinite target", surrogate.ErrNotFinite, func(d *surrogate.Dataset) { d.Y[0] = math.Inf(-1) }},
		{"an input of NaN", surrogate.ErrNotFinite, func(d *surrogate.Dataset) { d.X.Set(4, 1, math.NaN()) }},
		{"an infinite input", surrogate.ErrNotFinite, func(d *surrogate.Dataset) { d.X.Set(4, 1, math.Inf(1)) }},
		{"a target too few", surrogate.ErrShape, func(d *surrogate.Dataset) { d.Y = d.Y[1:] }},
		{"a box of another dimension", surrogate.ErrShape, func(d *surrogate.Dataset) { d.Lo = d.Lo[1:] }},
	} {
		d := clone(s.data)
		c.harm(&d)
		post, err := s.model.Fit(context.Background(), d, random.New(1, "surrogatetest", 0))
		if err := rejected("a fit to "+c.what, post, err, c.want); err != nil {
			return err
		}
	}
	return nil
}

// checkCancellation checks that a fit returns the error of a cancelled context.
func checkCancellation(s *suite) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("enough"))
	post, err := s.model.Fit(ctx, s.data, random.New(1, "surrogatetest", 0))
	return rejected("a fit with a cancelled context", post, err, context.Canceled)
}
