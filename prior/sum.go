package prior

import (
	"fmt"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/workspace"
)

// sum is Σ_t k_t.
type sum struct{ terms []Kernel }

// Sum returns Σ_t k_t(x,x'). The relative weights of the terms are fixed unless each is scaled:
// Sum(Scale(RBF(2)), Linear(2)). It panics without terms, or if their dimensions differ.
func Sum(terms ...Kernel) Kernel {
	checkTogether(terms)
	if len(terms) == 1 {
		return terms[0]
	}
	return sum{flatten(terms, func(k Kernel) []Kernel {
		s, _ := k.(sum)
		return s.terms
	})}
}

func checkTogether(ks []Kernel) {
	if len(ks) == 0 {
		panic("prior: no kernels to combine")
	}
	for _, k := range ks {
		if k.Dim() != ks[0].Dim() {
			panic(fmt.Sprintf("prior: kernels of dimension %d and %d combined", ks[0].Dim(), k.Dim()))
		}
	}
}

func flatten(ks []Kernel, parts func(Kernel) []Kernel) []Kernel {
	var out []Kernel
	for _, k := range ks {
		if p := parts(k); p != nil {
			out = append(out, p...)
		} else {
			out = append(out, k)
		}
	}
	return out
}

func (k sum) Dim() int { return k.terms[0].Dim() }

func (k sum) Gram(dst *mat.SymDense, x *mat.Dense) {
	mem := workspace.Borrow()
	defer mem.Return()
	k.terms[0].Gram(dst, x)
	part := mem.Sym(dst.SymmetricDim())
	for _, t := range k.terms[1:] {
		t.Gram(part, x)
		addSym(dst, part)
	}
}

// sumTape has the tapes of the terms.
type sumTape struct {
	tapes
	part *mat.SymDense
}

func (k sum) tape(x *mat.Dense) tape {
	n, _ := x.Dims()
	return &sumTape{newTapes(k.terms, x), newSym(n)}
}

func (t *sumTape) gram(dst *mat.SymDense, theta []float64) {
	t.all[0].gram(dst, t.of(0, theta))
	for i, term := range t.all[1:] {
		term.gram(t.part, t.of(i+1, theta))
		addSym(dst, t.part)
	}
}

func (t *sumTape) pull(dtheta []float64, kbar *mat.SymDense) {
	for i, term := range t.all {
		term.pull(t.of(i, dtheta), kbar)
	}
}

func (k sum) Cross(dst, x, y *mat.Dense) {
	mem := workspace.Borrow()
	defer mem.Return()
	k.terms[0].Cross(dst, x, y)
	part := mem.Dense(dst.Dims())
	for _, t := range k.terms[1:] {
		t.Cross(part, x, y)
		addScaled(dst, 1, part)
	}
}

func (k sum) Diag(dst []float64, x *mat.Dense) {
	mem := workspace.Borrow()
	defer mem.Return()
	k.terms[0].Diag(dst, x)
	part := mem.Floats(len(dst))
	for _, t := range k.terms[1:] {
		t.Diag(part, x)
		floats.Add(dst, part)
	}
}

func (k sum) CrossVJP(dx, x, y, kbar *mat.Dense) {
	for _, t := range k.terms {
		t.CrossVJP(dx, x, y, kbar)
	}
}

func (k sum) DiagVJP(dx *mat.Dense, x *mat.Dense, dbar []float64) {
	for _, t := range k.terms {
		t.DiagVJP(dx, x, dbar)
	}
}

func (k sum) ParamVJP(dtheta []float64, x *mat.Dense, kbar *mat.SymDense) {
	for i, part := range split(dtheta, k.terms) {
		k.terms[i].ParamVJP(part, x, kbar)
	}
}

func (k sum) Params() []Param                   { return joinParams(k.terms) }
func (k sum) WithParams(theta []float64) Kernel { return sum{withParams(k.terms, theta)} }

func (k sum) String() string {
	texts := make([]string, len(k.terms))
	for i, t := range k.terms {
		texts[i] = term(t)
	}
	return strings.Join(texts, "+")
}

func (k sum) factor() string { return "(" + k.String() + ")" }
func (k sum) label() string  { return "(" + joinLabels(k.terms, "+") + ")" }

func joinLabels(ks []Kernel, op string) string {
	texts := make([]string, len(ks))
	for i, k := range ks {
		texts[i] = label(k)
	}
	return strings.Join(texts, op)
}

func joinParams(ks []Kernel) []Param {
	var params []Param
	for _, k := range ks {
		params = append(params, labelled(k)...)
	}
	return uniqueNames(params)
}

// split divides theta into the parts of the kernels.
func split(theta []float64, ks []Kernel) [][]float64 {
	parts, at := make([][]float64, len(ks)), 0
	for i, k := range ks {
		n := len(k.Params())
		if at+n > len(theta) {
			panic(fmt.Sprintf("prior: theta has length %d, want at least %d", len(theta), at+n))
		}
		parts[i], at = theta[at:at+n], at+n
	}
	checkLen("theta", len(theta), at)
	return parts
}

func withParams(ks []Kernel, theta []float64) []Kernel {
	out := make([]Kernel, len(ks))
	for i, part := range split(theta, ks) {
		out[i] = ks[i].WithParams(part)
	}
	return out
}

func addSym(dst, src *mat.SymDense) {
	for i := range dst.SymmetricDim() {
		floats.Add(upper(dst, i), upper(src, i))
	}
}

func mulSym(dst, src *mat.SymDense) {
	for i := range dst.SymmetricDim() {
		floats.Mul(upper(dst, i), upper(src, i))
	}
}
