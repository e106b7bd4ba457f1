package study

import (
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
)

// Complete returns a point of the space s of d with the given values. Active parameters that are left out have
// random values, which depend on the seed of d and on index alone; a parameter that is Given is an error. The error
// wraps space.ErrPoint.
func (d *Definition) Complete(s *space.Space, values map[string]any, index int) (space.Point, error) {
	if err := s.CheckGiven(values); err != nil {
		return space.Point{}, err
	}
	rng := random.New(d.Seed, "enqueued", index)
	u := make([]float64, s.Dim())
	for i := range u {
		u[i] = rng.Float64()
	}
	return s.Complete(values, u, rng)
}
