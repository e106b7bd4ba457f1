package main

import (
	"math"
	"slices"
)

const (
	signBit = 1 << 63
	// The low bits of magic + n are n, for integers |n| < 2⁵¹.
	magic = 0x1.8p52
	// 1/√2π as a sum.
	invSqrt2PiHi = 0x1.9884533d43651p-2
	invSqrt2PiLo = -0x1.bc0d30ebfd15cp-56
)

// poly is Σ c_k x^k, in pairs by Horner's scheme; x2 is x².
func (p *program) poly(x, x2 *node, c []float64) *node {
	pair := func(k int) *node {
		if k+1 == len(c) {
			return p.c(c[k])
		}
		return p.fma(x, p.c(c[k+1]), p.c(c[k]))
	}
	k := (len(c) - 1) &^ 1
	sum := pair(k)
	for k -= 2; k >= 0; k -= 2 {
		sum = p.fma(sum, x2, pair(k))
	}
	return sum
}

// power is factor·2ⁿ for normal results.
func (p *program) power(factor float64, k reduced) *node {
	return p.addInt(p.shl(k.t, 52), p.c(factor))
}

// reduced is x = n log 2 + r, |r| ≤ ½ log 2, and t = n + magic.
type reduced struct{ n, t, r *node }

// reduce splits x + low into n log 2 + r. low is much smaller than x; nil is 0.
func (p *program) reduce(x, low *node) reduced {
	t := p.fma(x, p.c(math.Log2E), p.c(magic))
	n := p.sub(t, p.c(magic))
	high := p.fnma(n, p.c(ln2Hi), x) // exact
	if low == nil {
		return reduced{n, t, p.fnma(n, p.c(ln2Lo), high)}
	}
	return reduced{n, t, p.add(high, p.fnma(n, p.c(ln2Lo), low))}
}

// reduceTwice is reduce and the rounding error low of r.
func (p *program) reduceTwice(x *node) (k reduced, low *node) {
	t := p.fma(x, p.c(math.Log2E), p.c(magic))
	n := p.sub(t, p.c(magic))
	high := p.fnma(n, p.c(ln2Hi), x)
	r := p.fnma(n, p.c(ln2Lo), high)
	return reduced{n, t, r}, p.fnma(n, p.c(ln2Lo), p.sub(high, r)) // high - r is exact
}

// expm1Reduced is e^r - 1.
func (p *program) expm1Reduced(r *node) *node {
	r2 := p.mul(r, r)
	return p.fma(p.poly(r, r2, expTail), r2, r)
}

func exp() *program {
	p := newProgram("exp")
	x := p.max(p.c(-746), p.min(p.c(710), p.x))
	k := p.reduce(x, nil)
	p.outs = []*node{p.scale(p.add(p.expm1Reduced(k.r), p.c(1)), k.n, k.t)}
	return p
}

// tanh is E/(E+2) with E = e^2|x| - 1, and the sign of x. Its slope is 1 - tanh²x.
func tanh(slope bool) *program {
	p := newProgram("tanh")
	size := p.and(p.x, p.word(^uint64(signBit)))
	y := p.min(p.c(40), p.add(size, size))
	k, low := p.reduceTwice(y)
	r2 := p.mul(k.r, k.r)
	rest := p.fma(p.poly(k.r, r2, expTail), r2, low)
	s := p.power(1, k)
	e := p.fma(s, rest, p.fma(s, k.r, p.sub(s, p.c(1))))
	v := p.or(p.div(e, p.add(e, p.c(2))), p.and(p.x, p.word(signBit)))
	p.outs = []*node{v}
	if slope {
		p.name = "tanhSlope"
		p.outs = append(p.outs, p.fnma(v, v, p.c(1)))
	}
	return p
}

// logSum is log(u) + rest for a normal u > 0: with u = 2ᵏ(1+f), √½ ≤ 1+f < √2, and
// s = f/(2+f), log(1+f) = f - f²/2 + s(f²/2 + s²T(s²)).
func (p *program) logSum(u, rest *node) *node {
	root := math.Float64bits(math.Sqrt2 / 2)
	i := p.addInt(u, p.word(math.Float64bits(1)-root))
	m := p.addInt(p.and(i, p.word(1<<52-1)), p.word(root))
	k := p.sub(p.or(p.shr(i, 52), p.c(0x1p52)), p.c(0x1p52+1023))
	f := p.sub(m, p.c(1))
	s := p.div(f, p.add(f, p.c(2)))
	z := p.mul(s, s)
	half := p.mul(p.mul(f, p.c(0.5)), f)
	t := p.fma(p.poly(z, p.mul(z, z), logTail), z, half)
	t = p.fma(s, t, p.fma(k, p.c(ln2Lo), rest))
	return p.fma(k, p.c(ln2Hi), p.sub(f, p.sub(half, t)))
}

// special replaces the logarithm y of u by its values at 0, Inf, NaN and below 0.
func (p *program) special(y, u *node) *node {
	y = p.pick(p.equal(u, p.c(0)), p.c(math.Inf(-1)), y)
	y = p.pick(p.less(u, p.c(0)), p.c(math.NaN()), y)
	return p.pick(p.beyond(u, p.c(math.MaxFloat64)), u, y)
}

// lost is the rounding error (a + b) - u of the sum u = a + b.
func (p *program) lost(u, a, b *node) *node {
	bb := p.sub(u, a)
	return p.add(p.sub(a, p.sub(u, bb)), p.sub(b, bb))
}

// log1p is log(u) + c/u, u + c = 1 + x.
func log1p() *program {
	p := newProgram("log1p")
	u := p.add(p.x, p.c(1))
	y := p.logSum(u, p.div(p.lost(u, p.c(1), p.x), u))
	y = p.special(y, u)
	p.outs = []*node{p.or(y, p.and(p.x, p.word(signBit)))}
	return p
}

// gauss is e^(-a²/2 + extra)/2ⁿ - 1 for tiny extra (nil is 0), with compensation of the
// rounding of a². With doubled, the exponent is -a² + extra.
func (p *program) gauss(a, extra *node, doubled bool) (reduced, *node) {
	h := p.mul(a, a)
	l := p.fnma(a, a, h) // h - a²
	minus := p.c(-0.5)
	if doubled {
		minus = p.c(-1)
	}
	low := p.mul(l, p.c(-minus.float()))
	if extra != nil {
		low = p.add(low, extra)
	}
	k := p.reduce(p.mul(h, minus), low)
	return k, p.expm1Reduced(k.r)
}

func (n *node) float() float64 { return math.Float64frombits(n.bits) }

// mills is m + rest = (1-Φ(a))e^(a²/2) for a ≥ 0, as P(q)w with w = 1/(a+K). The rest has
// the rounding errors of the last step of P, of the product and of w. The result
// magnifies the relative error of w by (a+K)(φ(a)/(1-Φ(a)) - a), approximated here by a
// quadratic in q to 3 %.
func (p *program) mills(a *node) (m, rest *node) {
	sum := p.add(a, p.c(millsK))
	w := p.div(p.c(1), sum)
	more := p.fnma(p.lost(sum, a, p.c(millsK)), w, p.fnma(sum, w, p.c(1)))
	q := p.fma(w, p.c(-2*millsK), p.c(1))
	more = p.mul(more, p.fma(p.fma(q, p.c(0.62), p.c(-1.5)), q, p.c(1.87)))
	inner := p.fma(p.poly(q, p.mul(q, q), mills[2:]), q, p.c(mills[1]))
	value := p.fma(inner, q, p.c(mills[0]))
	low := p.fma(inner, q, p.sub(p.c(mills[0]), value))
	m = p.mul(value, w)
	rest = p.sub(p.mul(low, w), p.fnma(value, w, m))
	return m, p.fma(m, more, rest)
}

// tail is (m + rest)(1 + e)2ⁿ.
func (p *program) tail(m, rest, e *node, k reduced) *node {
	low := p.fma(rest, e, p.fma(m, e, rest))
	return p.scale(p.add(m, low), k.n, k.t)
}

func normPDF() *program {
	p := newProgram("normPDF")
	a := p.min(p.c(40), p.and(p.x, p.word(^uint64(signBit))))
	k, e := p.gauss(a, p.c(invSqrt2PiLo/invSqrt2PiHi), false)
	p.outs = []*node{p.scale(p.fma(e, p.c(invSqrt2PiHi), p.c(invSqrt2PiHi)), k.n, k.t)}
	return p
}

// cdf is Φ(x), and e with (1+e)2ⁿ = e^(-x²/2).
func (p *program) cdf() (cdf, e *node, k reduced) {
	a := p.min(p.c(40), p.and(p.x, p.word(^uint64(signBit))))
	m, rest := p.mills(a)
	k, e = p.gauss(a, nil, false)
	lower := p.tail(m, rest, e, k)
	return p.pick(p.less(p.c(0), p.x), p.sub(p.c(1), lower), lower), e, k
}

// gelu is xΦ(x), its slope Φ(x) + xφ(x).
func gelu(slope bool) *program {
	p := newProgram("gelu")
	v, e, k := p.cdf()
	p.outs = []*node{p.mul(v, p.x)}
	if slope {
		p.name = "geluSlope"
		density := p.scale(p.fma(e, p.c(invSqrt2PiHi), p.c(invSqrt2PiHi)), k.n, k.t)
		p.outs = append(p.outs, p.fma(density, p.x, v))
	}
	return p
}

// erf is x(2/√π + x²T(x²)) for |x| < 1 and 1 - 2(1-Φ(√2|x|)) beyond; its slope is
// 2/√π e^-x².
func erf(slope bool) *program {
	p := newProgram("erf")
	a := p.min(p.c(28), p.and(p.x, p.word(^uint64(signBit))))
	m, _ := p.mills(p.mul(a, p.c(math.Sqrt2)))
	k, e := p.gauss(a, nil, true)
	m = p.add(m, m)
	big := p.sub(p.c(1), p.scale(p.fma(m, e, m), k.n, k.t))
	t := p.mul(a, a)
	small := p.fma(t, p.poly(t, p.mul(t, t), erfTail), p.c(erfSlopeLo))
	small = p.fma(a, p.c(erfSlopeHi), p.mul(a, small))
	v := p.pick(p.less(a, p.c(1)), small, big)
	p.outs = []*node{p.or(v, p.and(p.x, p.word(signBit)))}
	if slope {
		p.name = "erfSlope"
		p.outs = append(p.outs, p.scale(p.fma(e, p.c(erfSlopeHi), p.c(erfSlopeHi)), k.n, k.t))
	}
	return p
}

// sin is ±sin(r) or ±cos(r), depending on n mod 4, with x = nπ/2 + r, |x| ≤ 2²⁰. Its
// slope is cos.
func sin(slope bool) *program {
	p := newProgram("sin")
	t := p.fma(p.x, p.c(2/math.Pi), p.c(magic))
	n := p.sub(t, p.c(magic))
	r := p.fnma(n, p.c(halfPiLow), p.fnma(n, p.c(halfPiMiddle), p.fnma(n, p.c(halfPiHigh), p.x)))
	z := p.mul(r, r)
	z2 := p.mul(z, z)
	s := p.fma(p.mul(p.poly(z, z2, sinTail), z), r, r)
	s = p.pick(p.equal(p.x, p.c(0)), p.x, s) // keeps -0
	c := p.fma(p.poly(z, z2, cosTail), z2, p.fnma(z, p.c(0.5), p.c(1)))
	quadrant := p.shl(t, 62) // bit 0 of n at the bit of 2.0, bit 1 at the sign bit
	odd := p.equal(p.and(quadrant, p.c(2)), p.c(2))
	p.outs = []*node{p.xor(p.pick(odd, c, s), p.and(quadrant, p.word(signBit)))}
	if slope {
		p.name = "sinSlope"
		next := p.shl(p.addInt(t, p.word(1)), 62)
		p.outs = append(p.outs, p.xor(p.pick(odd, s, c), p.and(next, p.word(signBit))))
	}
	return p
}

// lowest is the distance at which e^-a and its products become 0: n is -1023 there, and
// power returns 0.
const lowest = 709.09

// decay is e^-a = e·2ⁿ for 0 ≤ a ≤ lowest.
func (p *program) decay(a *node) (e, two *node) {
	t := p.fma(a, p.c(-math.Log2E), p.c(magic))
	n := p.sub(t, p.c(magic))
	r := p.fma(n, p.c(ln2Lo), p.fma(n, p.c(ln2Hi), a)) // e^-a = 2ⁿe^-r
	flipped := slices.Clone(expTail)
	for k := 1; k < len(flipped); k += 2 {
		flipped[k] = -flipped[k]
	}
	r2 := p.mul(r, r)
	e = p.sub(p.c(1), p.fnma(p.poly(r, r2, flipped), r2, r))
	return e, p.power(1, reduced{n, t, r})
}

// rbf is e^(-x/2); its slope is -v/2.
func rbf(slope bool) *program {
	p := newProgram("rbf")
	e, two := p.decay(p.mul(p.min(p.c(2*lowest), p.x), p.c(0.5)))
	v := p.mul(e, two)
	p.outs = []*node{v}
	if slope {
		p.name = "rbfSlope"
		p.outs = append(p.outs, p.mul(v, p.c(-0.5)))
	}
	return p
}

// matern12 is e^-a, a = √x; its slope is -v/2a, and 0 at 0.
func matern12(slope bool) *program {
	p := newProgram("matern12")
	a := p.min(p.c(lowest), p.sqrt(p.x))
	e, two := p.decay(a)
	v := p.mul(e, two)
	p.outs = []*node{v}
	if slope {
		p.name = "matern12Slope"
		d := p.div(p.mul(v, p.c(-0.5)), a)
		p.outs = append(p.outs, p.pick(p.equal(a, p.c(0)), p.c(0), d))
	}
	return p
}

// matern32 is (1+a)e^-a, a = √3x; its slope is -3/2 e^-a.
func matern32(slope bool) *program {
	p := newProgram("matern32")
	a := p.sqrt(p.min(p.c(lowest*lowest), p.mul(p.x, p.c(3))))
	e, two := p.decay(a)
	v := p.mul(e, two)
	p.outs = []*node{p.fma(a, v, v)}
	if slope {
		p.name = "matern32Slope"
		p.outs = append(p.outs, p.mul(v, p.c(-1.5)))
	}
	return p
}

// matern52 is (1+a+a²/3)e^-a, a = √5x; its slope is -5/6 (1+a)e^-a.
func matern52(slope bool) *program {
	p := newProgram("matern52")
	square := p.min(p.c(lowest*lowest), p.mul(p.x, p.c(5)))
	a := p.sqrt(square)
	e, two := p.decay(a)
	v := p.mul(e, two)
	linear := p.fma(a, v, v)
	p.outs = []*node{p.fma(p.mul(square, p.c(1./3)), v, linear)}
	if slope {
		p.name = "matern52Slope"
		p.outs = append(p.outs, p.mul(linear, p.c(-5./6)))
	}
	return p
}

func programs() []*program {
	all := []*program{exp(), log1p(), normPDF()}
	for _, build := range []func(slope bool) *program{tanh, erf, gelu, sin, rbf, matern12, matern32, matern52} {
		all = append(all, build(false), build(true))
	}
	for _, p := range all {
		p.prune()
	}
	return all
}
