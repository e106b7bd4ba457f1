package prior

import (
	"fmt"
	"strings"
)

// factored is a kernel of this package. factor returns its text as a factor of a
// product, label its short name in the names of hyperparameters.
type factored interface {
	factor() string
	label() string
}

func factor(k Kernel) string {
	if f, ok := k.(factored); ok {
		return f.factor()
	}
	return k.String()
}

func label(k Kernel) string {
	if f, ok := k.(factored); ok {
		return f.label()
	}
	return "custom"
}

// carriesVariance reports whether the hyperparameters of k set its amplitude. Parse
// adds no output variance to such a term.
func carriesVariance(k Kernel) bool {
	switch k := k.(type) {
	case stationary, periodic, white, constant:
		return false
	case onInputs:
		return carriesVariance(k.inner)
	case product:
		for _, f := range k.factors {
			if carriesVariance(f) {
				return true
			}
		}
		return false
	}
	return true
}

// term returns the text of k as a summand. A kernel without output variance is
// written with the factor 1.
func term(k Kernel) string {
	if carriesVariance(k) {
		if _, ok := k.(scaled); ok {
			return k.String()
		}
		return factor(k)
	}
	return "1*" + factor(k)
}

// labelled adds the label of k to names without a prefix.
func labelled(k Kernel) []Param {
	params := k.Params()
	for i := range params {
		if head, _, _ := strings.Cut(params[i].Name, "["); !strings.ContainsRune(head, '.') {
			params[i].Name = label(k) + "." + params[i].Name
		}
	}
	return params
}

// uniqueNames numbers repeated names: "rbf.variance#2".
func uniqueNames(params []Param) []Param {
	seen := map[string]int{}
	for i := range params {
		name := params[i].Name
		if at := strings.LastIndexByte(name, '#'); at > strings.LastIndexByte(name, ']') {
			name = name[:at]
		}
		seen[name]++
		if n := seen[name]; n > 1 {
			name = fmt.Sprintf("%s#%d", name, n)
		}
		params[i].Name = name
	}
	return params
}
