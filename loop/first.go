package loop

import (
	"fmt"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
)

// MaxFirst is the largest number of points of Options.First.
const MaxFirst = 1000

// FirstPoint returns the i-th point of o.First as a point of s. Parameters without a value are
// completed by a point of the initial design. The result depends on s, o.First, o.Design and
// o.Seed alone. The error wraps space.ErrPoint.
func (o *Options) FirstPoint(s *space.Space, i int) (space.Point, error) {
	points, ok := designs[o.Design]
	if !ok {
		points = designs[Sobol]
	}
	design := points(len(o.First), s.Dim(), random.New(o.Seed, "first", 0))
	return s.Complete(o.First[i], design.RawRowView(i), random.New(o.Seed, "complete", i))
}

// firstPoints returns the points of o.First, or an error that wraps ErrOptions.
func (o *Options) firstPoints(s *space.Space) ([]space.Point, error) {
	if len(o.First) > MaxFirst {
		return nil, fmt.Errorf("%w: %d entries of First, want at most %d", ErrOptions, len(o.First), MaxFirst)
	}
	points := make([]space.Point, len(o.First))
	for i := range points {
		var err error
		if points[i], err = o.FirstPoint(s, i); err != nil {
			return nil, fmt.Errorf("%w: first point %d: %w", ErrOptions, i+1, err)
		}
	}
	return points, nil
}
