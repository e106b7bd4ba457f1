package loop

import (
	"fmt"
	"iter"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
)

// MaxFirst is the largest number of points of Options.First.
const MaxFirst = 1000

// FirstPoints returns the points of o.First as points of s, in order. Parameters without a value are
// completed by a point of the initial design; a parameter that is Given is an error. The result depends on s,
// o.First, o.Design and o.Seed alone. The error of a point wraps space.ErrPoint.
func (o *Options) FirstPoints(s *space.Space) iter.Seq2[space.Point, error] {
	return func(yield func(space.Point, error) bool) {
		if len(o.First) == 0 {
			return
		}
		points, ok := designs[o.Design]
		if !ok {
			points = designs[Sobol]
		}
		design := points(len(o.First), s.Dim(), random.New(o.Seed, "first", 0))
		for i, values := range o.First {
			var p space.Point
			err := s.CheckGiven(values)
			if err == nil {
				p, err = s.Complete(values, design.RawRowView(i), random.New(o.Seed, "complete", i))
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

// firstPoints returns the points of o.First, or an error that wraps ErrOptions.
func (o *Options) firstPoints(s *space.Space) ([]space.Point, error) {
	if len(o.First) > MaxFirst {
		return nil, fmt.Errorf("%w: %d entries of First, want at most %d", ErrOptions, len(o.First), MaxFirst)
	}
	var points []space.Point
	for p, err := range o.FirstPoints(s) {
		if err != nil {
			return nil, fmt.Errorf("%w: first point %d: %w", ErrOptions, len(points)+1, err)
		}
		points = append(points, p)
	}
	return points, nil
}
