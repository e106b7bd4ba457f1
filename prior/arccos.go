package prior

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/mat"
)

// arcCosine is the covariance of a ReLU network of infinite width.
type arcCosine struct {
	leaf
	depth int
}

// defaultNetDepth is the depth of an arccos kernel without the argument depth.
const defaultNetDepth = 1

// ArcCosine is the covariance of an infinitely wide ReLU network with depth hidden layers. Its weights have
// variance σ_w²/fan-in and its biases variance σ_b² (Cho and Saul 2009; Lee et al. 2018, eq. 11):
//
//	k⁰(x,x')   = σ_b² + σ_w² x·x'/d
//	kˡ⁺¹(x,x') = σ_b² + σ_w²/2π √(kˡ(x,x)kˡ(x',x')) (sin t + (π-t) cos t)
//	cos t      = kˡ(x,x')/√(kˡ(x,x)kˡ(x',x'))
//
// The hyperparameters are "weight", σ_w², and "bias", σ_b².
func ArcCosine(dim, depth int) Kernel {
	if depth == 0 {
		depth = defaultNetDepth
	}
	if depth < 0 {
		panic(fmt.Sprintf("prior: network of depth %d", depth))
	}
	params := []Param{unitParam("weight", tiny, huge), unitParam("bias", tiny, huge)}
	return arcCosine{leaf{name: "arccos", dim: dim, args: "depth=" + strconv.Itoa(depth), params: params}, depth}
}

func (k arcCosine) WithParams(theta []float64) Kernel {
	k.leaf = k.with(theta)
	return k
}

func (k arcCosine) String() string { return term(k) }

func (k arcCosine) weight() float64 { return k.params[0].Value }
func (k arcCosine) bias() float64   { return k.params[1].Value }

func (k arcCosine) base(a, b []float64) float64 {
	var s float64
	for j, v := range a {
		s += v * b[j]
	}
	return k.bias() + k.weight()*s/float64(k.dim)
}

// norms returns kˡ(x_i,x_i) for l = 0 … depth, a row per point.
func (k arcCosine) norms(x *mat.Dense) [][]float64 {
	out := make([][]float64, checkPoints("points", x, k.dim))
	all := make([]float64, len(out)*(k.depth+1))
	for i := range out {
		out[i] = all[i*(k.depth+1) : (i+1)*(k.depth+1)]
		out[i][0] = k.base(x.RawRowView(i), x.RawRowView(i))
		for l := range k.depth {
			out[i][l+1] = k.bias() + 0.5*k.weight()*out[i][l]
		}
	}
	return out
}

// layer computes kˡ⁺¹(x,x') and its derivatives from kˡ(x,x') = c, kˡ(x,x) = a and
// kˡ(x',x') = b. The derivatives with respect to a and b are half/a and half/b.
func (k arcCosine) layer(c, a, b float64) (next, dc, half float64) {
	q := math.Sqrt(a * b)
	cos := min(max(c/q, -1), 1)
	t, sin := math.Acos(cos), math.Sqrt((1-cos)*(1+cos))
	w := k.weight() / (2 * math.Pi)
	return k.bias() + w*q*(sin+(math.Pi-t)*cos), w * (math.Pi - t), 0.5 * w * q * sin
}

func (k arcCosine) value(xi, yj, na, nb []float64) float64 {
	c := k.base(xi, yj)
	for l := range k.depth {
		c, _, _ = k.layer(c, na[l], nb[l])
	}
	return c
}

func (k arcCosine) Gram(dst *mat.SymDense, x *mat.Dense) {
	norms := k.norms(x)
	checkSym("Gram matrix", dst, len(norms))
	for i, a := range norms {
		row := upper(dst, i)
		row[0] = a[k.depth]
		for j := 1; j < len(row); j++ {
			row[j] = k.value(x.RawRowView(i), x.RawRowView(i+j), a, norms[i+j])
		}
	}
}

func (k arcCosine) Cross(dst, x, y *mat.Dense) {
	nx, ny := k.norms(x), k.norms(y)
	checkSize("cross matrix", dst, len(nx), len(ny))
	for i, a := range nx {
		row := dst.RawRowView(i)
		for j, b := range ny {
			row[j] = k.value(x.RawRowView(i), y.RawRowView(j), a, b)
		}
	}
}

func (k arcCosine) Diag(dst []float64, x *mat.Dense) {
	norms := k.norms(x)
	checkLen("diagonal", len(dst), len(norms))
	for i, a := range norms {
		dst[i] = a[k.depth]
	}
}

// reverse propagates kbar, the adjoint of one value, back through the layers. It
// returns the adjoint of k⁰(x,x'). It adds the adjoints of k⁰(x,x) and k⁰(x',x') to
// abar and bbar, and the adjoints of log σ_w² and log σ_b² to dw and db.
func (k arcCosine) reverse(kbar float64, xi, yj, na, nb, c []float64, abar, bbar, dw, db *float64) float64 {
	c[0] = k.base(xi, yj)
	for l := range k.depth {
		c[l+1], _, _ = k.layer(c[l], na[l], nb[l])
	}
	var a, b float64
	for l := k.depth - 1; l >= 0; l-- {
		*dw += kbar*(c[l+1]-k.bias()) + a*(na[l+1]-k.bias()) + b*(nb[l+1]-k.bias())
		*db += (kbar + a + b) * k.bias()
		_, dc, half := k.layer(c[l], na[l], nb[l])
		a = 0.5*k.weight()*a + kbar*half/na[l]
		b = 0.5*k.weight()*b + kbar*half/nb[l]
		kbar *= dc
	}
	*dw += kbar*(c[0]-k.bias()) + a*(na[0]-k.bias()) + b*(nb[0]-k.bias())
	*db += (kbar + a + b) * k.bias()
	*abar += a
	*bbar += b
	return kbar
}

func (k arcCosine) CrossVJP(dx, x, y, kbar *mat.Dense) {
	nx, ny := k.norms(x), k.norms(y)
	checkSize("gradient", dx, len(nx), k.dim)
	checkSize("kbar", kbar, len(nx), len(ny))
	c, scale := make([]float64, k.depth+1), k.weight()/float64(k.dim)
	var b, dw, db float64
	for i, na := range nx {
		xi, g := x.RawRowView(i), dx.RawRowView(i)
		var abar float64
		for j, bar := range kbar.RawRowView(i) {
			yj := y.RawRowView(j)
			bar = scale * k.reverse(bar, xi, yj, na, ny[j], c, &abar, &b, &dw, &db)
			for d, v := range yj {
				g[d] += bar * v
			}
		}
		for d, v := range xi {
			g[d] += 2 * scale * abar * v
		}
	}
}

func (k arcCosine) DiagVJP(dx *mat.Dense, x *mat.Dense, dbar []float64) {
	n := checkPoints("points", x, k.dim)
	checkSize("gradient", dx, n, k.dim)
	checkLen("dbar", len(dbar), n)
	scale := 2 * k.weight() / float64(k.dim) * math.Pow(0.5*k.weight(), float64(k.depth))
	for i, bar := range dbar {
		for d, v := range x.RawRowView(i) {
			dx.RawRowView(i)[d] += scale * bar * v
		}
	}
}

func (k arcCosine) ParamVJP(dtheta []float64, x *mat.Dense, kbar *mat.SymDense) {
	norms := k.norms(x)
	checkLen("dtheta", len(dtheta), len(k.params))
	checkSym("kbar", kbar, len(norms))
	c := make([]float64, k.depth+1)
	var a, b float64
	for i, na := range norms {
		for j, bar := range upper(kbar, i) {
			if j > 0 {
				bar *= 2
			}
			k.reverse(bar, x.RawRowView(i), x.RawRowView(i+j), na, norms[i+j], c, &a, &b, &dtheta[0], &dtheta[1])
		}
	}
}

func (k arcCosine) fix(name string, values []float64) (Kernel, int) {
	var want int
	k.leaf, want = k.fixed(name, values)
	return k, want
}
