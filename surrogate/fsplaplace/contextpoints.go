package fsplaplace

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// contextBox is the box that context points are spread over.
func (m Model) contextBox(d surrogate.Dataset) (lo, hi []float64) {
	margin := searchMargin
	if m.Box == "data" {
		d.Lo, d.Hi = nil, nil
		margin = dataMargin
	}
	a, b := d.Box()
	lo, hi = make([]float64, len(a)), make([]float64, len(a))
	for j := range a {
		pad := margin * (b[j] - a[j])
		if pad == 0 {
			pad = 0.5 // a single value: nothing tells the scale
		}
		lo[j], hi[j] = a[j]-pad, b[j]+pad
	}
	return lo, hi
}

// holdoutPoints is the number of points at which the ridge is chosen.
const holdoutPoints = 128

// contextPoints returns n points of a scrambled Halton set in the box, and
// holdoutPoints further ones.
func (p *problem) contextPoints(n int, rng *rand.Rand) (context, holdout *mat.Dense) {
	all := space.Halton(n+holdoutPoints, len(p.lo), rng)
	p.stretch(all)
	d := len(p.lo)
	return all.Slice(0, n, 0, d).(*mat.Dense), all.Slice(n, n+holdoutPoints, 0, d).(*mat.Dense)
}

// uniformPoints returns n independent uniform points of the box.
func (p *problem) uniformPoints(n int, rng *rand.Rand) *mat.Dense {
	x := mat.NewDense(n, len(p.lo), nil)
	for i := range n {
		row := x.RawRowView(i)
		for j := range row {
			row[j] = rng.Float64()
		}
	}
	p.stretch(x)
	return x
}

// stretch maps the unit cube to the box.
func (p *problem) stretch(x *mat.Dense) {
	n, _ := x.Dims()
	for i := range n {
		for j, u := range x.RawRowView(i) {
			x.RawRowView(i)[j] = p.lo[j] + u*(p.hi[j]-p.lo[j])
		}
	}
}

// withInputs returns the context points followed by the distinct training
// inputs, or by a random inducingRows of them where there are more than
// maxExact.
func (p *problem) withInputs(context *mat.Dense, rng *rand.Rand) *mat.Dense {
	n, d := p.data.Dims()
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	if n > maxExact {
		rows = rng.Perm(n)[:inducingRows]
	}
	c, _ := context.Dims()
	out := mat.NewDense(c+len(rows), d, nil)
	out.Slice(0, c, 0, d).(*mat.Dense).Copy(context)
	seen := make(map[string]bool, len(rows))
	k := c
	for _, i := range rows {
		row := p.data.X.RawRowView(i)
		if key := rowKey(row); !seen[key] {
			seen[key] = true
			out.SetRow(k, row)
			k++
		}
	}
	return out.Slice(0, k, 0, d).(*mat.Dense)
}

func rowKey(row []float64) string {
	b := make([]byte, 0, 8*len(row))
	for _, v := range row {
		u := math.Float64bits(v + 0) // -0 is 0
		for range 8 {
			b = append(b, byte(u))
			u >>= 8
		}
	}
	return string(b)
}

// affine maps the dataset's inputs to those of the network: (x - shift)·scale.
type affine struct {
	shift, scale []float64
}

func (a affine) apply(x *mat.Dense) *mat.Dense {
	m, d := x.Dims()
	out := mat.NewDense(m, d, nil)
	for i := range m {
		dst := out.RawRowView(i)
		for j, v := range x.RawRowView(i) {
			dst[j] = (v - a.shift[j]) * a.scale[j]
		}
	}
	return out
}

// pull turns gradients with respect to the network's inputs into gradients with
// respect to the dataset's.
func (a affine) pull(dx *mat.Dense) {
	m, _ := dx.Dims()
	for i := range m {
		row := dx.RawRowView(i)
		for j := range row {
			row[j] *= a.scale[j]
		}
	}
}

// scaleInputs centres the box and divides each input by the distance over which
// the prior varies along it, so that the network starts out as smooth as the
// prior in every direction, and blind to inputs that do not matter. No input
// spreads further than a uniform variable of unit variance, [-√3, √3], where
// tanh units still answer.
func scaleInputs(k prior.Kernel, lo, hi []float64) affine {
	d := len(lo)
	a := affine{shift: make([]float64, d), scale: make([]float64, d)}
	for j := range d {
		a.shift[j] = (lo[j] + hi[j]) / 2
	}
	for j := range d {
		width := hi[j] - lo[j]
		a.scale[j] = 1 / max(variationLength(k, a.shift, j, width), width/(2*math.Sqrt(3)))
	}
	return a
}

// variationLength is the smallest distance s along input j, around mid, at which
// the variogram ½(k(a,a) + k(b,b)) - k(a,b) reaches 1-e^{-1/2} of the variance:
// the lengthscale of an RBF kernel. It looks up to ten widths far.
func variationLength(k prior.Kernel, mid []float64, j int, width float64) float64 {
	const steps = 120
	x, y := mat.NewDense(steps+1, len(mid), nil), mat.NewDense(steps+1, len(mid), nil)
	dist := make([]float64, steps+1)
	for i := range dist {
		dist[i] = width * math.Pow(10, -2+3*float64(i)/steps)
		x.SetRow(i, mid)
		y.SetRow(i, mid)
		x.Set(i, j, mid[j]-dist[i]/2)
		y.Set(i, j, mid[j]+dist[i]/2)
	}
	kx, ky := make([]float64, steps+1), make([]float64, steps+1)
	k.Diag(kx, x)
	k.Diag(ky, y)
	cross := mat.NewDense(1, 1, nil)
	for i := range dist {
		xi, yi := x.Slice(i, i+1, 0, len(mid)).(*mat.Dense), y.Slice(i, i+1, 0, len(mid)).(*mat.Dense)
		k.Cross(cross, xi, yi)
		variance := (kx[i] + ky[i]) / 2
		if variance-cross.At(0, 0) >= (1-math.Exp(-0.5))*variance {
			return dist[i]
		}
	}
	return dist[steps]
}
