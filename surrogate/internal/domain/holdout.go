package domain

import (
	"math"
	"math/rand/v2"

	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/surrogate"
)

// HoldOut divides d at random: held has the given share of the observations, rounded up, but not all
// of them. Both parts have the box of d.
func HoldOut(d surrogate.Dataset, share float64, rng *rand.Rand) (rest, held surrogate.Dataset) {
	n, _ := d.Dims()
	k := min(int(math.Ceil(share*float64(n))), n-1)
	part := func(index []int) surrogate.Dataset {
		out := surrogate.Dataset{NoiseFree: d.NoiseFree}
		out.X, out.Y = subset.TakeBoth(d.X, d.Y, index)
		out.Lo, out.Hi = d.Box()
		return out
	}
	order := rng.Perm(n)
	return part(order[k:]), part(order[:k])
}
