package prior

import "gonum.org/v1/gonum/mat"

// joined concatenates the features of several models.
type joined struct {
	dim   int
	parts []Features
}

func (f joined) Dim() int { return f.dim }

func (f joined) Len() int {
	n := 0
	for _, p := range f.parts {
		n += p.Len()
	}
	return n
}

// each calls do for every part with features, with the part's columns of phi.
func (f joined) each(phi *mat.Dense, do func(p Features, columns *mat.Dense)) {
	at, rows := 0, phi.RawMatrix().Rows
	for _, p := range f.parts {
		if n := p.Len(); n > 0 && rows > 0 {
			do(p, phi.Slice(0, rows, at, at+n).(*mat.Dense))
			at += n
		}
	}
}

func (f joined) Eval(phi, x *mat.Dense) {
	f.each(phi, func(p Features, columns *mat.Dense) { p.Eval(columns, x) })
}

func (f joined) EvalVJP(dx, x, phibar *mat.Dense) {
	f.each(phibar, func(p Features, columns *mat.Dense) { p.EvalVJP(dx, x, columns) })
}

// crossed has all products of one feature from each model; the index of the last
// model varies fastest.
type crossed []Features

func (f crossed) Dim() int { return f[0].Dim() }

func (f crossed) Len() int {
	n := 1
	for _, p := range f {
		n *= p.Len()
	}
	return n
}

func (f crossed) eval(x *mat.Dense) []*mat.Dense {
	out := make([]*mat.Dense, len(f))
	for i, p := range f {
		out[i] = mat.NewDense(x.RawMatrix().Rows, p.Len(), nil)
		p.Eval(out[i], x)
	}
	return out
}

func (f crossed) Eval(phi, x *mat.Dense) {
	parts := f.eval(x)
	for i := range x.RawMatrix().Rows {
		outer(phi.RawRowView(i), parts, i, -1)
	}
}

// outer writes the products of rows i of the parts to dst. The excluded part counts
// as 1 and keeps its axis, so that dst has one number per feature.
func outer(dst []float64, parts []*mat.Dense, i, without int) {
	dst[0] = 1
	filled := 1
	for p, part := range parts {
		row := part.RawRowView(i)
		// Backwards, so that each number is read before it is overwritten.
		for a := filled - 1; a >= 0; a-- {
			v := dst[a]
			for b := len(row) - 1; b >= 0; b-- {
				w := row[b]
				if p == without {
					w = 1
				}
				dst[a*len(row)+b] = v * w
			}
		}
		filled *= len(row)
	}
}

func (f crossed) EvalVJP(dx, x, phibar *mat.Dense) {
	parts, n := f.eval(x), f.Len()
	rest := make([]float64, n)
	inner := n
	for p, part := range parts {
		m := part.RawMatrix().Cols
		inner /= m
		bar := mat.NewDense(x.RawMatrix().Rows, m, nil)
		for i := range x.RawMatrix().Rows {
			outer(rest, parts, i, p)
			row, g := bar.RawRowView(i), phibar.RawRowView(i)
			for at, v := range rest {
				row[at/inner%m] += v * g[at]
			}
		}
		f[p].EvalVJP(dx, x, bar)
	}
}
