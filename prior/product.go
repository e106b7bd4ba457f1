package prior

import (
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// product is Π_f k_f.
type product struct{ factors []Kernel }

// Product multiplies kernels of one dimension.
func Product(factors ...Kernel) Kernel {
	checkTogether(factors)
	if len(factors) == 1 {
		return factors[0]
	}
	return product{flatten(factors, func(k Kernel) []Kernel {
		p, _ := k.(product)
		return p.factors
	})}
}

func (k product) Dim() int { return k.factors[0].Dim() }

func (k product) Gram(dst *mat.SymDense, x *mat.Dense) {
	k.factors[0].Gram(dst, x)
	part := mat.NewSymDense(dst.SymmetricDim(), nil)
	for _, f := range k.factors[1:] {
		f.Gram(part, x)
		mulSym(dst, part)
	}
}

func (k product) tape(mem *memory, dst *mat.SymDense, x *mat.Dense) backward {
	n := dst.SymmetricDim()
	backs, grams := make([]backward, len(k.factors)), make([]*mat.SymDense, len(k.factors))
	for i, f := range k.factors {
		grams[i] = mem.sym(n)
		backs[i] = gramTape(f, mem, grams[i], x)
		if i == 0 {
			dst.CopySym(grams[0])
		} else {
			mulSym(dst, grams[i])
		}
	}
	bar := mem.sym(n)
	return func(dtheta []float64, kbar *mat.SymDense) {
		for i, part := range split(dtheta, k.factors) {
			bar.CopySym(kbar)
			for j, g := range grams {
				if j != i {
					mulSym(bar, g)
				}
			}
			backs[i](part, bar)
		}
	}
}

func (k product) Cross(dst, x, y *mat.Dense) {
	k.factors[0].Cross(dst, x, y)
	part := zerosLike(dst)
	for _, f := range k.factors[1:] {
		f.Cross(part, x, y)
		mulDense(dst, part)
	}
}

func (k product) Diag(dst []float64, x *mat.Dense) {
	k.factors[0].Diag(dst, x)
	part := make([]float64, len(dst))
	for _, f := range k.factors[1:] {
		f.Diag(part, x)
		floats.Mul(dst, part)
	}
}

func (k product) CrossVJP(dx, x, y, kbar *mat.Dense) {
	parts := make([]*mat.Dense, len(k.factors))
	for i, f := range k.factors {
		parts[i] = zerosLike(kbar)
		f.Cross(parts[i], x, y)
	}
	bar := zerosLike(kbar)
	for i, f := range k.factors {
		bar.Copy(kbar)
		for j, p := range parts {
			if j != i {
				mulDense(bar, p)
			}
		}
		f.CrossVJP(dx, x, y, bar)
	}
}

func (k product) DiagVJP(dx *mat.Dense, x *mat.Dense, dbar []float64) {
	parts := make([][]float64, len(k.factors))
	for i, f := range k.factors {
		parts[i] = make([]float64, len(dbar))
		f.Diag(parts[i], x)
	}
	bar := make([]float64, len(dbar))
	for i, f := range k.factors {
		copy(bar, dbar)
		for j, p := range parts {
			if j != i {
				floats.Mul(bar, p)
			}
		}
		f.DiagVJP(dx, x, bar)
	}
}

func (k product) ParamVJP(dtheta []float64, x *mat.Dense, kbar *mat.SymDense) {
	n, _ := x.Dims()
	k.tape(nil, mat.NewSymDense(n, nil), x)(dtheta, kbar)
}

func (k product) Params() []Param                   { return joinParams(k.factors) }
func (k product) WithParams(theta []float64) Kernel { return product{withParams(k.factors, theta)} }
func (k product) String() string                    { return term(k) }

func (k product) factor() string {
	texts := make([]string, len(k.factors))
	for i, f := range k.factors {
		texts[i] = factor(f)
	}
	return strings.Join(texts, "*")
}

func (k product) label() string { return joinLabels(k.factors, "*") }

func mulDense(dst, src *mat.Dense) {
	for i := range src.RawMatrix().Rows {
		floats.Mul(dst.RawRowView(i), src.RawRowView(i))
	}
}
