package domain

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
)

// Source draws the points of a surrogate.PointSource and keeps the first error in them. A nil
// Source has no points of its own.
type Source struct {
	draw surrogate.PointSource
	err  error
}

// NewSource returns nil for a nil source.
func NewSource(s surrogate.PointSource) *Source {
	if s == nil {
		return nil
	}
	return &Source{draw: s}
}

// Points returns the points of s for n points of a box. A nil s, or one with an error, returns
// design(n, rng).
func (s *Source) Points(b Box, n int, rng *rand.Rand, design func(n int, rng *rand.Rand) *mat.Dense) *mat.Dense {
	if s == nil || s.err != nil {
		return design(n, rng)
	}
	x := s.draw(n, slices.Clone(b.Lo), slices.Clone(b.Hi), rng)
	if s.err = check(x, len(b.Lo)); s.err != nil {
		return design(n, rng)
	}
	return x
}

// Err returns the error of the first invalid points.
func (s *Source) Err() error {
	if s == nil {
		return nil
	}
	return s.err
}

// check returns an error of surrogate.PointSource unless x has at least one row, dim columns and
// finite numbers.
func check(x *mat.Dense, dim int) error {
	if x == nil || x.IsEmpty() {
		return fmt.Errorf("%w: a source of points returned none", surrogate.ErrNoData)
	}
	n, d := x.Dims()
	if d != dim {
		return fmt.Errorf("%w: a source of points returned %d columns for %d inputs", surrogate.ErrShape, d, dim)
	}
	for i := range n {
		for j, v := range x.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%w: input %d of context point %d is %v", surrogate.ErrNotFinite, j+1, i+1, v)
			}
		}
	}
	return nil
}
