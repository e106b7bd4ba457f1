package acquisition

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/surrogate"
)

// multi is a function of joint samples of several independent outputs at the points of a
// candidate, each as in monteCarlo. It costs as much as a monteCarlo for each output.
type multi struct {
	outputs []*monteCarlo // with the same q and numbers of base samples and points behind
	gain    multiGain
}

// multiGain maps the samples of each output (S×k) to a value. If fbar is not nil, it overwrites
// fbar with the gradients.
type multiGain func(f, fbar []*mat.Dense) float64

// newMulti returns a function of q points and the pending points without a gain. Its outputs are
// objectives and then the constraints of p, all with the points ahead.
func (p Problem) newMulti(q, samples int, objectives []surrogate.Posterior, ahead *mat.Dense, rng *rand.Rand) *multi {
	f := &multi{}
	all := append([]surrogate.Posterior{}, objectives...)
	for _, c := range p.Constraints {
		all = append(all, c.Posterior)
	}
	columns := rowCount(ahead) + q + rowCount(p.Pending)
	base := baseSamples(samples, columns*len(all), rng)
	for i, posterior := range all {
		own := mat.DenseCopyOf(base.Slice(0, samples, i*columns, (i+1)*columns))
		f.outputs = append(f.outputs, &monteCarlo{posterior: posterior, joint: anchored(posterior, ahead), q: q, ahead: ahead, behind: p.Pending, base: own})
	}
	return f
}

func (f *multi) Dim() int { return f.outputs[0].Dim() }

func (f *multi) Eval(value []float64, grad, x *mat.Dense) {
	checkEval(f, value, grad, x)
	inBlocks(f.block, f.outputs[0].q, value, grad, x)
}

// block is monteCarlo.block for several outputs.
func (f *multi) block(value []float64, grad, x *mat.Dense) {
	mem := workspace.Borrow()
	defer mem.Return()
	q, d := f.outputs[0].q, f.outputs[0].posterior.Dim()
	blocks := make([]*mcBlock, len(f.outputs))
	samples, bars := make([]*mat.Dense, len(blocks)), make([]*mat.Dense, len(blocks))
	for i, o := range f.outputs {
		blocks[i] = o.newBlock(mem, x, grad != nil)
		samples[i], bars[i] = blocks[i].samples, blocks[i].fbar
	}
	if grad == nil {
		bars = nil
	} else {
		grad.Zero()
	}
	failed := make([]bool, len(value))
	active := false
	for c := range value {
		for _, b := range blocks {
			failed[c] = failed[c] || !b.sample(c)
		}
		if failed[c] {
			value[c] = math.Inf(-1)
			continue
		}
		value[c] = f.gain(samples, bars)
		if grad == nil {
			continue
		}
		active = true
		for _, b := range blocks {
			b.accumulate()
		}
	}
	if !active {
		return
	}
	for i, b := range blocks {
		dx := mem.Zeros(b.n, b.d)
		f.outputs[i].joint.JointVJP(dx, b.mbar, b.cbar, b.points)
		for i := range len(value) * q {
			if !failed[i/q] {
				linalg.Axpy(1, dx.RawRowView(b.before+i), grad.RawRowView(i / q)[i%q*d:(i%q+1)*d])
			}
		}
	}
}
