package insight

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/parallel"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// ImportanceOptions configures Importance. The zero value is the default.
type ImportanceOptions struct {
	// Points is the number of Sobol points of the indices of the posterior mean; 16 to
	// 65,536, and powers of two are best. 0 is 4096.
	Points int
	// Paths is the number of functions drawn from the posterior for the intervals; at most
	// 1,000. 0 is 32, and negative is none: the intervals are then empty. A path is evaluated
	// at an eighth of Points, at least 16, and the error of the
	// posterior mean at these points is subtracted.
	Paths int
}

// Effect is the influence of one parameter on the posterior mean, in the user's units, over the
// search space.
type Effect struct {
	Parameter string `json:"parameter"`
	// First is the first-order Sobol index: the part of the variance explained by this
	// parameter alone. Total is the total index, with all interactions. Both are
	// between 0 and 1 up to the error of integration.
	First Number `json:"first"`
	Total Number `json:"total"`
	// The intervals hold the central 90 % of the indices of functions drawn from the
	// posterior. They are null without paths. A drawn function varies where the mean is flat,
	// so that an interval need not contain the index of the mean.
	FirstInterval Interval `json:"first_interval"`
	TotalInterval Interval `json:"total_interval"`

	// Direction describes the mean over the other parameters.
	Direction Direction `json:"direction"`
	// Correlation is the correlation of the posterior mean with the encoded value, null for a
	// categorical parameter.
	Correlation Number `json:"correlation"`
}

// Undefined returns the reason why the indices of an effect with null indices are null.
func (e Effect) Undefined() string {
	if e.Direction == NotVaried {
		return "not varied: no two complete trials have different values"
	}
	return "undefined: the prediction is constant"
}

// Direction is the direction of an effect, in the order of the values of a parameter.
type Direction string

// The directions.
const (
	Increases Direction = "increases" // larger values raise the objective
	Decreases Direction = "decreases" // larger values lower it
	Mixed     Direction = "mixed"     // neither explains most of the effect
	Unordered Direction = "unordered" // the parameter is categorical
	None      Direction = "none"      // the first-order index is below 0.01
	// NotVaried is the direction of a parameter with one value in all complete trials. Its indices are null.
	NotVaried Direction = "not varied"
)

// Unimportant returns a sentence if the trials of v are too few for Importance or have equal values, else "". A
// linear function of p parameters has p+1 coefficients.
func Unimportant(v *loop.View) string {
	n, equal := equalValues(v)
	p := len(free(v.Space))
	switch {
	case equal:
		return fmt.Sprintf("All %d values are equal, so that no parameter has an effect.", n)
	case n <= p && p == 1:
		return fmt.Sprintf("%s too few for 1 parameter; 2 are needed.", completeTrials(n))
	case n <= p:
		return fmt.Sprintf("%s too few for %d parameters; %d are needed.", completeTrials(n), p, p+1)
	}
	return ""
}

// Importance returns the Sobol indices of the parameters that are not fixed, in descending
// order of the total index. A parameter with one value in all complete trials has the direction NotVaried, null
// indices and the last place; the function is taken at this value. The other parameters are independent and uniform on the
// encoded space. A point that violates a constraint on numbers is replaced by its space.Space.Balance if that
// is feasible. The shares of a mixture are therefore divided by their sum. Other points that violate a
// constraint are counted unchanged, such as most of a - b >= 0.1, and many with several constraints. If values
// were log transformed, the function is the posterior median. The default Gaussian process is fitted to the
// complete trials again, with the likelier of the kernels matern52 and rbf. Its fit starts from the
// hyperparameters of v.
//
// With scrambled Sobol points A and B, and A_i equal to A with parameter i of B, the indices
// are
//
//	first = mean f(B) (f(A_i) - f(A)) / V   (Saltelli et al. 2010, table 2 b)
//	total = mean (f(A) - f(A_i))² / (2V)    (Jansen 1999)
//
// where V is the variance of f over A and B, and f is centred. Importance costs the means at (p+2)·Points
// points for p parameters, and an eighth of these per path. It also costs one or two fits to at most 500
// observations. The error wraps ErrArgument or comes from the context.
func Importance(ctx context.Context, v *loop.View, o ImportanceOptions) ([]Effect, error) {
	if o.Points == 0 {
		o.Points = 4096
	}
	if o.Paths == 0 {
		o.Paths = 32
	}
	if o.Points < 16 || o.Points > 65_536 || o.Paths > 1000 {
		return nil, fmt.Errorf("%w: %d points and %d paths, want 16 to 65536 and at most 1000", ErrArgument, o.Points, o.Paths)
	}
	params, held, at := varied(v)
	// Indices do not change if a constant is subtracted from the values, or if they are scaled.
	value := func(f function) function {
		return func(y []float64, x *mat.Dense) {
			f(y, x)
			for i, z := range y {
				y[i] = v.Units.Relative(z)
			}
		}
	}
	posterior, err := explaining(ctx, v)
	if err != nil {
		return nil, err
	}
	s := newSaltelli(v.Space, params, o.Points)
	s.hold(held, at)
	mean := value(meanOf(posterior))
	f, err := s.indices(ctx, mean)
	if err != nil {
		return nil, err
	}
	out := make([]Effect, len(params))
	for i, p := range params {
		out[i] = Effect{Parameter: p.Name, First: Number(f.first[i]), Total: Number(f.total[i])}
		out[i].FirstInterval, out[i].TotalInterval = noInterval, noInterval
		out[i].Correlation = Number(s.correlation(i, f.a))
		if out[i].Direction = directionOf(out[i]); p.Kind == space.KindCategorical {
			out[i].Direction = Unordered
		}
	}
	if o.Paths > 0 {
		paths := posterior.Paths(o.Paths, random.New(0, "importance paths", 0))
		small := newSaltelli(v.Space, params, max(16, o.Points/8))
		small.hold(held, at)
		err = small.intervals(ctx, out, mean, len(paths), func(k int) function {
			return value(func(y []float64, x *mat.Dense) { paths[k].Eval(y, nil, x) })
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(out, func(a, b Effect) int { return cmp.Compare(b.Total, a.Total) })
	nan := Number(math.NaN())
	for _, p := range held {
		out = append(out, Effect{p.Name, nan, nan, noInterval, noInterval, NotVaried, nan})
	}
	return out, nil
}

// varied splits the parameters that are not fixed into those with several values in the complete trials of v and those
// with one value. It returns an encoded point with these values. With fewer than two complete trials it holds none.
func varied(v *loop.View) (params, held []space.Parameter, at []float64) {
	var rows [][]float64
	for i, row := range v.Rows {
		if v.Trials[row].State == loop.Complete {
			rows = append(rows, v.Data.X.RawRowView(i))
		}
	}
	for _, p := range free(v.Space) {
		from, end := v.Space.Columns(p.Name)
		other := func(x []float64) bool { return !slices.Equal(x[from:end], rows[0][from:end]) }
		if len(rows) > 1 && !slices.ContainsFunc(rows, other) {
			held = append(held, p)
		} else {
			params = append(params, p)
		}
	}
	if len(held) > 0 {
		at = rows[0]
	}
	return params, held, at
}

// meanOf returns the mean of a posterior.
func meanOf(p surrogate.Posterior) function {
	return func(y []float64, x *mat.Dense) { surrogate.Means(p, y, x) }
}

// intervals sets the intervals of the effects from n drawn functions. The error of the indices
// of mean at the points of s is subtracted: mean is a control variate of the integration.
func (s *saltelli) intervals(ctx context.Context, effects []Effect, mean function, n int, draw func(k int) function) error {
	if len(s.space.Constraints()) > 0 {
		s.kept = make([]*mat.Dense, len(s.params))
		err := parallel.Try(len(s.params), func(i int) error {
			s.kept[i] = s.mixed(i)
			return ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	coarse, err := s.indices(ctx, mean)
	if err != nil {
		return err
	}
	firsts, totals := make([][]float64, n), make([][]float64, n)
	err = parallel.Try(n, func(k int) error {
		f, err := s.indices(ctx, draw(k))
		if err != nil {
			return err
		}
		for i := range f.first {
			f.first[i] += float64(effects[i].First) - coarse.first[i]
			f.total[i] += float64(effects[i].Total) - coarse.total[i]
		}
		firsts[k], totals[k] = f.first, f.total
		return nil
	})
	if err != nil {
		return err
	}
	for i := range effects {
		effects[i].FirstInterval, effects[i].TotalInterval = spread(firsts, i), spread(totals, i)
	}
	return nil
}

// function writes its values at the rows of x to y. It is safe for concurrent use.
type function func(y []float64, x *mat.Dense)

var noInterval = Interval{Number(math.NaN()), Number(math.NaN())}

// spread returns the central 90 % of column i: a further draw lies below the ends with probabilities 0.05 and 0.95.
// With n draws the ends have the ranks 0.05(n+1) and 0.95(n+1), from 1 to n, interpolated.
func spread(draws [][]float64, i int) Interval {
	column := make([]float64, len(draws))
	for k, d := range draws {
		column[k] = d[i]
	}
	slices.Sort(column)
	end := func(p float64) Number {
		last := len(column) - 1
		whole, rest := math.Modf(min(max(p*float64(len(column)+1)-1, 0), float64(last)))
		low := int(whole)
		return Number(column[low] + rest*(column[min(low+1, last)]-column[low]))
	}
	return Interval{end(0.05), end(0.95)}
}

// directionOf compares the variance that a line in the encoded value explains with the
// first-order index.
func directionOf(e Effect) Direction {
	c := float64(e.Correlation)
	switch {
	case !(float64(e.First) >= 0.01):
		return None
	case c*c < 0.5*float64(e.First) || math.IsNaN(c):
		return Mixed
	case c > 0:
		return Increases
	default:
		return Decreases
	}
}

// saltelli holds the points of Importance.
type saltelli struct {
	space  *space.Space
	params []space.Parameter
	a, b   *mat.Dense   // points before Project
	at, bt *mat.Dense   // rows of a and b, projected
	kept   []*mat.Dense // mixed of each parameter, if constraints make it dear; else nil
}

// newSaltelli draws two sets of n points from one scrambled Sobol sequence.
func newSaltelli(s *space.Space, params []space.Parameter, n int) *saltelli {
	d := s.Dim()
	both := space.Sobol(n, 2*d, random.New(0, "importance", 0))
	out := &saltelli{space: s, params: params, a: mat.DenseCopyOf(both.Slice(0, n, 0, d)), b: mat.DenseCopyOf(both.Slice(0, n, d, 2*d))}
	out.at, out.bt = out.projected(out.a), out.projected(out.b)
	return out
}

// hold gives all points the values of parameters in an encoded point.
func (s *saltelli) hold(params []space.Parameter, at []float64) {
	if len(params) == 0 {
		return
	}
	n, _ := s.a.Dims()
	for _, p := range params {
		from, end := s.space.Columns(p.Name)
		for k := range n {
			copy(s.a.RawRowView(k)[from:end], at[from:end])
			copy(s.b.RawRowView(k)[from:end], at[from:end])
		}
	}
	s.at, s.bt = s.projected(s.a), s.projected(s.b)
}

// projected returns the points of the space nearest to the rows of x, balanced if they violate a constraint.
func (s *saltelli) projected(x *mat.Dense) *mat.Dense {
	out := mat.DenseCopyOf(x)
	n, _ := out.Dims()
	for k := range n {
		row := out.RawRowView(k)
		s.space.Project(row)
		if !s.space.Feasible(row) {
			if u, ok := balanced(s.space, row, nil); ok {
				copy(row, u)
			}
		}
	}
	return out
}

// mixed returns the rows of a with parameter i of b, projected.
func (s *saltelli) mixed(i int) *mat.Dense {
	out := mat.DenseCopyOf(s.a)
	from, end := s.space.Columns(s.params[i].Name)
	n, _ := out.Dims()
	for k := range n {
		copy(out.RawRowView(k)[from:end], s.b.RawRowView(k)[from:end])
	}
	return s.projected(out)
}

// indices are the indices of a function for each parameter, and its values at a minus their mean.
// Indices are NaN if the function is constant.
type indices struct{ first, total, a []float64 }

// indices returns the indices of f.
func (s *saltelli) indices(ctx context.Context, f function) (indices, error) {
	n, _ := s.a.Dims()
	fa, fb := make([]float64, n), make([]float64, n)
	f(fa, s.at)
	f(fb, s.bt)
	var centre, variance float64
	for k := range n {
		centre += (fa[k] + fb[k]) / float64(2*n)
	}
	for k := range n {
		fa[k], fb[k] = fa[k]-centre, fb[k]-centre
		variance += (fa[k]*fa[k] + fb[k]*fb[k]) / float64(2*n)
	}
	const rounding = 1e-20 // of values in units of about 1
	if !(variance > rounding) {
		variance = math.NaN()
	}
	out := indices{make([]float64, len(s.params)), make([]float64, len(s.params)), fa}
	err := parallel.Try(len(s.params), func(i int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		fi := make([]float64, n)
		if s.kept != nil {
			f(fi, s.kept[i])
		} else {
			f(fi, s.mixed(i))
		}
		var v, t float64
		for k := range n {
			c := fi[k] - centre
			v += fb[k] * (c - fa[k]) / float64(n)
			t += (fa[k] - c) * (fa[k] - c) / float64(2*n)
		}
		out.first[i], out.total[i] = v/variance, t/variance
		return nil
	})
	return out, err
}

// correlation returns the correlation of the values fa at A with the encoded value of parameter i; NaN if
// the parameter is categorical, or the values are constant.
func (s *saltelli) correlation(i int, fa []float64) float64 {
	from, end := s.space.Columns(s.params[i].Name)
	if s.params[i].Kind == space.KindCategorical || end-from != 1 {
		return math.NaN()
	}
	n, _ := s.at.Dims()
	var mu, mf, cov, vu, vf float64
	for k, f := range fa {
		mu += s.at.At(k, from) / float64(n)
		mf += f / float64(n)
	}
	for k, f := range fa {
		u := s.at.At(k, from) - mu
		cov, vu, vf = cov+u*(f-mf), vu+u*u, vf+(f-mf)*(f-mf)
	}
	return cov / math.Sqrt(vu*vf)
}
