package train

import "math"

// Damping is the damping λ of Levenberg–Marquardt steps. The ratio of the decrease of the
// objective to the decrease that its quadratic model predicts controls λ (Nielsen 1999).
type Damping struct {
	Lambda float64

	grow float64 // factor of the last increase; 0 after an accepted step
	slow int     // consecutive accepted steps with a small decrease
}

const maxDamping = 1e12

// Accept reports whether to take a step that lowers the objective by fell, and updates λ. A
// decrease of at most settled is small.
func (d *Damping) Accept(fell, predicted, settled float64) bool {
	gain := fell / predicted
	if !(gain > 0) {
		d.grow = max(2*d.grow, 2)
		d.Lambda *= d.grow
		return false
	}
	d.slow++
	if fell > settled {
		d.slow = 0
	}
	d.Lambda = max(d.Lambda*max(0.1, 1-math.Pow(2*min(gain, 1.5)-1, 3)), 1e-12)
	d.grow = 0
	return true
}

// Stalled reports three consecutive small decreases, or a λ that permits no further decrease.
func (d *Damping) Stalled() bool { return d.slow >= 3 || d.Lambda >= maxDamping }

// Resume continues for a changed objective after Stalled.
func (d *Damping) Resume() { d.slow, d.Lambda = 0, min(d.Lambda, maxDamping/1e6) }
