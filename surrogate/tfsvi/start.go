package tfsvi

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/surrogate/internal/target"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

const (
	startRows  = 500  // largest number of observations in the start of a diagonal q
	startScale = 0.01 // initial s

	// Beyond manyRows observations the hidden layers are trained before the regression.
	manyRows = 500
	chunk    = 256 // observations in one Jacobian
)

// startMean fits m to the data approximately and increases s.
func (p *problem) startMean(ctx context.Context, v *variational.Gaussian, rng *rand.Rand) error {
	n, _ := p.data.Dims()
	x, y := subset.TakeBoth(p.data.X, p.data.Y, rng.Perm(n)[:min(n, startRows)])
	if err := target.FitData(ctx, p.net, p.inputs.Apply(x), y, v.M); err != nil {
		return fmt.Errorf("tfsvi: start: %w", err)
	}
	v.SetScales(startScale)
	return nil
}

// solve sets q of the output weights to their exact posterior given the hidden layers, σ and
// N(0, v² I). It sets s to
//
//	1/s_j² = 1/0.01² + 10 (p/n) Σ_i J_ij²/σ².
//
// The hidden weights then change f by a third of the noise at the average observation. The cost
// is O(np + nk² + k³).
func (p *problem) solve(ctx context.Context, v *variational.Gaussian) error {
	n, _ := p.data.Dims()
	h, np := len(v.LogS), len(v.M)
	k := np - h
	gram, response, squares := mat.NewSymDense(k, nil), make([]float64, k), make([]float64, np)
	jacobian := mat.NewDense(chunk, np, nil)
	var tape nn.Tape
	for from := 0; from < n; from += chunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		m := min(chunk, n-from)
		j := jacobian.Slice(0, m, 0, np).(*mat.Dense)
		tape.Record(p.net, v.M, p.inputs.Apply(p.data.X.Slice(from, from+m, 0, p.net.In).(*mat.Dense)))
		tape.Jacobian(j)
		phi, y := j.Slice(0, m, h, np).(*mat.Dense), p.data.Y[from:from+m]
		if p.net.Custom != nil { // f is affine in the output weights: y - (f - φm)
			y = slices.Clone(y)
			linalg.Axpy(-1, tape.Value(), y)
			linalg.MulVec(y, 1, linalg.N, phi, v.M[h:], 1)
		}
		linalg.Syrk(gram, 1, linalg.T, phi, 1)
		linalg.MulVec(response, 1, linalg.T, phi, y, 1)
		linalg.AddColumnSquares(squares, j)
	}
	noise := math.Exp(2 * v.LogSD[0])
	a := mat.NewSymDense(k, nil)
	a.ScaleSym(1/noise, gram)
	linalg.AddDiagonal(a, 1/(p.outputScale*p.outputScale))
	chol, err := linalg.Factorize(a)
	if err != nil {
		return fmt.Errorf("tfsvi: start: %w", err)
	}
	for i, r := range response {
		v.M[h+i] = r / noise
	}
	chol.SolveVec(v.M[h:])
	linalg.SetIdentity(v.Ut)
	chol.SolveLower(v.Ut)
	for l := range v.LogS {
		v.LogS[l] = -0.5 * math.Log(1/(startScale*startScale)+10*squares[l]*float64(np)/(float64(n)*noise))
	}
	return nil
}
