package prior

import (
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/workspace"
)

// product is Π_f k_f.
type product struct{ factors []Kernel }

// Product returns Π_f k_f(x,x'). It panics without factors, or if their dimensions differ.
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
	mem := workspace.Borrow()
	defer mem.Return()
	k.factors[0].Gram(dst, x)
	part := mem.Sym(dst.SymmetricDim())
	for _, f := range k.factors[1:] {
		f.Gram(part, x)
		mulSym(dst, part)
	}
}

// productTape stores the Gram matrices of the factors.
type productTape struct {
	tapes
	grams []*mat.SymDense
	bar   *mat.SymDense
}

func (k product) tape(x *mat.Dense) tape {
	n, _ := x.Dims()
	t := &productTape{tapes: newTapes(k.factors, x), bar: newSym(n)}
	for range k.factors {
		t.grams = append(t.grams, newSym(n))
	}
	return t
}

func (t *productTape) gram(dst *mat.SymDense, theta []float64) {
	for i, factor := range t.all {
		factor.gram(t.grams[i], t.of(i, theta))
		if i == 0 {
			dst.CopySym(t.grams[0])
		} else {
			mulSym(dst, t.grams[i])
		}
	}
}

func (t *productTape) pull(dtheta []float64, kbar *mat.SymDense) {
	for i, factor := range t.all {
		t.bar.CopySym(kbar)
		for j, g := range t.grams {
			if j != i {
				mulSym(t.bar, g)
			}
		}
		factor.pull(t.of(i, dtheta), t.bar)
	}
}

func (k product) Cross(dst, x, y *mat.Dense) {
	mem := workspace.Borrow()
	defer mem.Return()
	k.factors[0].Cross(dst, x, y)
	part := mem.Dense(dst.Dims())
	for _, f := range k.factors[1:] {
		f.Cross(part, x, y)
		mulDense(dst, part)
	}
}

func (k product) Diag(dst []float64, x *mat.Dense) {
	mem := workspace.Borrow()
	defer mem.Return()
	k.factors[0].Diag(dst, x)
	part := mem.Floats(len(dst))
	for _, f := range k.factors[1:] {
		f.Diag(part, x)
		floats.Mul(dst, part)
	}
}

func (k product) CrossVJP(dx, x, y, kbar *mat.Dense) {
	mem := workspace.Borrow()
	defer mem.Return()
	parts := make([]*mat.Dense, len(k.factors))
	for i, f := range k.factors {
		parts[i] = mem.Dense(kbar.Dims())
		f.Cross(parts[i], x, y)
	}
	bar := mem.Dense(kbar.Dims())
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
	paramVJP(k, dtheta, x, kbar)
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
