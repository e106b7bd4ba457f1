package hmc

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/internal/nuts"
)

const (
	maxRHat = 1.05
	each    = 50 // points from the data, and from the box
)

// points returns the points at which the chains are compared.
func points(d surrogate.Dataset, rng *rand.Rand) *mat.Dense {
	n, _ := d.Dims()
	observed := subset.Take(d.X, rng.Perm(n)[:min(n, each)])
	lo, hi := d.Box()
	out := new(mat.Dense)
	out.Stack(observed, domain.Box{Lo: lo, Hi: hi}.Halton(each, rng))
	return out
}

// agreement returns the largest R̂ and the smallest bulk effective sample size of f at
// the rows of x. The networks are sorted by chain, with equal numbers from each.
func agreement(ctx context.Context, p *mapnet.Problem, networks [][]float64, chains int, x *mat.Dense) (rhat, ess float64, err error) {
	u := p.Inputs.Apply(x)
	m, _ := u.Dims()
	f, at := make([]float64, m), make([][][]float64, m) // points × chains × draws
	for i := range at {
		at[i] = make([][]float64, chains)
	}
	for k, w := range networks {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		p.Net.Forward(f, w, u)
		for i, v := range f {
			chain := k * chains / len(networks)
			at[i][chain] = append(at[i][chain], v)
		}
	}
	for i, values := range at {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		r, e := nuts.RHat(values), nuts.ESS(values)
		if i == 0 || r > rhat {
			rhat = r
		}
		if i == 0 || e < ess {
			ess = e
		}
	}
	return rhat, ess, nil
}
