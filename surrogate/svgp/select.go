package svgp

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate/internal/domain"
)

const (
	selectRows   = 20_000 // largest number of rows among which inducing points are chosen
	lloyd        = 10     // iterations of k-means
	pivotTol     = 1e-10  // remaining variance, relative to the first pivot, that ends pivoting
	pointEpsilon = 1e-24  // squared distance below which points coincide
)

// choose returns at most m inducing points for the rows of x. If x has at most m
// distinct rows, it returns them.
func choose(ctx context.Context, how string, k prior.Kernel, x *mat.Dense, lo, hi []float64, m int, rng *rand.Rand) (*mat.Dense, error) {
	n, _ := x.Dims()
	distinct := subset.Distinct(x, subset.All(n))
	if len(distinct) > selectRows {
		shuffle(distinct, rng)
		distinct = distinct[:selectRows]
	}
	x = subset.Take(x, distinct)
	if len(distinct) <= m {
		return x, nil
	}
	if how == "pivoted" {
		return pivoted(ctx, k, x, m)
	}
	return kmeans(ctx, x, domain.ScaleInputs(k, lo, hi), m, rng)
}

// kmeans returns m centres by ten iterations of Lloyd's algorithm in the units of scale. An iteration costs O(nmd).
func kmeans(ctx context.Context, x *mat.Dense, scale domain.Affine, m int, rng *rand.Rand) (*mat.Dense, error) {
	u := scale.Apply(x)
	n, d := u.Dims()
	centres := apart(u, m, rng)
	count, _ := centres.Dims()
	owner, size := make([]int, n), make([]float64, count)
	for range lloyd {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for i := range owner {
			best, row := math.Inf(1), u.RawRowView(i)
			for c := range count {
				if v := sqdist(row, centres.RawRowView(c)); v < best {
					best, owner[i] = v, c
				}
			}
		}
		clear(size)
		sum := mat.NewDense(count, d, nil)
		for i, c := range owner {
			size[c]++
			linalg.Axpy(1, u.RawRowView(i), sum.RawRowView(c))
		}
		for c, s := range size {
			if s > 0 {
				row := centres.RawRowView(c)
				for j, v := range sum.RawRowView(c) {
					row[j] = v / s
				}
			}
		}
	}
	// Centres in the inputs' units, averaged also along inputs that scale maps to 0.
	out := mat.NewDense(count, d, nil)
	for i, c := range owner {
		linalg.Axpy(1/size[c], x.RawRowView(i), out.RawRowView(c))
	}
	kept := make([]int, 0, count)
	for c, s := range size {
		if s > 0 {
			kept = append(kept, c)
		}
	}
	return subset.Take(out, kept), nil
}

// apart returns m rows of u, or fewer if the others coincide with them. Each is drawn with probability proportional to
// the squared distance from the earlier ones (Arthur and Vassilvitskii 2007). It costs O(nmd).
func apart(u *mat.Dense, m int, rng *rand.Rand) *mat.Dense {
	n, d := u.Dims()
	near := make([]float64, n)
	linalg.Fill(near, math.Inf(1))
	chosen := mat.NewDense(m, d, nil)
	next, count := rng.IntN(n), 0
	for count < m {
		chosen.SetRow(count, u.RawRowView(next))
		var total float64
		for i := range near {
			near[i] = min(near[i], sqdist(u.RawRowView(i), chosen.RawRowView(count)))
			total += near[i]
		}
		count++
		if !(total > pointEpsilon) {
			break
		}
		left := rng.Float64() * total
		for i, v := range near {
			if v > 0 {
				next = i
			}
			if left -= v; left < 0 {
				break
			}
		}
	}
	return chosen.Slice(0, count, 0, d).(*mat.Dense)
}

// pivoted returns the first m pivots of a pivoted Cholesky factor of k(x,x), or fewer if no
// variance remains. Each pivot is the row of largest remaining variance. The cost is O(nm²).
func pivoted(ctx context.Context, k prior.Kernel, x *mat.Dense, m int) (*mat.Dense, error) {
	n, d := x.Dims()
	left := make([]float64, n)
	k.Diag(left, x)
	columns, col := mat.NewDense(m, n, nil), mat.NewDense(n, 1, nil)
	var pivots []int
	var first float64
	at := make([]float64, m)
	for len(pivots) < m {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p := 0
		for i, v := range left {
			if v > left[p] {
				p = i
			}
		}
		if len(pivots) == 0 {
			first = left[p]
		}
		if !(left[p] > pivotTol*first) {
			break
		}
		k.Cross(col, x, x.Slice(p, p+1, 0, d).(*mat.Dense))
		r := len(pivots)
		row := columns.RawRowView(r)
		copy(row, col.RawMatrix().Data)
		if r > 0 {
			known := columns.Slice(0, r, 0, n).(*mat.Dense)
			for i := range r {
				at[i] = known.At(i, p)
			}
			linalg.MulVec(row, -1, linalg.T, known, at[:r], 1)
		}
		root := math.Sqrt(left[p])
		for i := range row {
			row[i] /= root
			left[i] -= row[i] * row[i]
		}
		left[p] = 0
		pivots = append(pivots, p)
	}
	return subset.Take(x, pivots), nil
}

func sqdist(a, b []float64) float64 {
	var s float64
	for i, v := range a {
		v -= b[i]
		s += v * v
	}
	return s
}

func shuffle(v []int, rng *rand.Rand) {
	rng.Shuffle(len(v), func(i, j int) { v[i], v[j] = v[j], v[i] })
}
