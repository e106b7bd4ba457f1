package prior

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/kernelgrad"
)

// periodic is an RBF kernel on a circle per input. With the embedding u(x_j) =
// (cos, sin)(2π x_j/p_j), |u(x)-u(x')|² = 4 sin²(π(x-x')/p), so the RBF kernel
// of u is exp(-2 Σ_j sin²(π(x_j-x'_j)/p_j)/ℓ_j²).
type periodic struct{ leaf }

// Periodic is exp(-2 Σ_j sin²(π(x_j-x'_j)/p_j)/ℓ_j²) (MacKay 1998) with a
// lengthscale and a period per input. Lengthscales are relative to a circle of
// radius 1; periods have the unit of the inputs.
func Periodic(dim int) Kernel { return newPeriodic(dim, false) }

func newPeriodic(dim int, shared bool) Kernel {
	ls := perInput("lengthscale", dim, shared, func(name string) Param { return lengthscaleParam(name, dim) })
	ps := perInput("period", dim, shared, periodParam)
	return periodic{leaf{name: "periodic", dim: dim, shared: shared, params: append(ls, ps...)}}
}

func (k periodic) WithParams(theta []float64) Kernel { return periodic{k.with(theta)} }
func (k periodic) String() string                    { return term(k) }

func (k periodic) periods() []float64 { return k.spread(k.width()) }

// onCircles is the RBF kernel of the embedding.
func (k periodic) onCircles() Kernel {
	theta := make([]float64, 0, 2*k.dim)
	for _, l := range k.spread(0) {
		theta = append(theta, l, l)
	}
	return RBF(2 * k.dim).WithParams(theta)
}

func (k periodic) embed(x *mat.Dense) *mat.Dense {
	n := checkPoints("points", x, k.dim)
	if n == 0 {
		return &mat.Dense{}
	}
	u, periods := mat.NewDense(n, 2*k.dim, nil), k.periods()
	for i := range n {
		row := u.RawRowView(i)
		for j, v := range x.RawRowView(i) {
			row[2*j+1], row[2*j] = math.Sincos(2 * math.Pi * v / periods[j])
		}
	}
	return u
}

// pull adds to dx the gradient with respect to x, given the gradient du with respect to
// the embedding u of x.
func (k periodic) pull(dx, du, u *mat.Dense) {
	periods := k.periods()
	for i := range du.RawMatrix().Rows {
		row, at, g := dx.RawRowView(i), u.RawRowView(i), du.RawRowView(i)
		for j, p := range periods {
			row[j] += 2 * math.Pi / p * (at[2*j]*g[2*j+1] - at[2*j+1]*g[2*j])
		}
	}
}

func (k periodic) Gram(dst *mat.SymDense, x *mat.Dense) { k.onCircles().Gram(dst, k.embed(x)) }
func (k periodic) Cross(dst, x, y *mat.Dense)           { k.onCircles().Cross(dst, k.embed(x), k.embed(y)) }
func (k periodic) Diag(dst []float64, x *mat.Dense)     { k.onCircles().Diag(dst, k.embed(x)) }

func (k periodic) CrossVJP(dx, x, y, kbar *mat.Dense) {
	u := k.embed(x)
	checkSize("gradient", dx, u.RawMatrix().Rows, k.dim)
	du := zerosLike(u)
	k.onCircles().CrossVJP(du, u, k.embed(y), kbar)
	k.pull(dx, du, u)
}

func (k periodic) DiagVJP(dx *mat.Dense, x *mat.Dense, dbar []float64) {}

func (k periodic) ParamVJP(dtheta []float64, x *mat.Dense, kbar *mat.SymDense) {
	checkLen("dtheta", len(dtheta), len(k.params))
	u, circles := k.embed(x), k.onCircles()
	twice := make([]float64, 2*k.dim)
	circles.ParamVJP(twice, u, kbar)
	ls := make([]float64, k.dim)
	for j := range ls {
		ls[j] = twice[2*j] + twice[2*j+1]
	}
	k.gather(dtheta, 0, ls)

	// k depends on x_j and p_j through x_j/p_j alone, so ∂/∂log p_j is
	// -Σ_i x_ij ∂/∂x_ij.
	dx, du := zerosLike(x), zerosLike(u)
	kernelgrad.Gram(circles, du, u, kbar)
	k.pull(dx, du, u)
	ps := make([]float64, k.dim)
	for i := range dx.RawMatrix().Rows {
		for j, v := range x.RawRowView(i) {
			ps[j] -= v * dx.RawRowView(i)[j]
		}
	}
	k.gather(dtheta, k.width(), ps)
}

func (k periodic) fix(name string, values []float64) (Kernel, int) {
	var want int
	k.leaf, want = k.fixed(name, values)
	return k, want
}
