package prior

import (
	"fmt"
	"strings"
)

// factored is a kernel of this package: it knows how it is written as a factor
// of a product, and its short name in the names of hyper-parameters.
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

// carriesVariance tells whether the hyper-parameters of k set its amplitude, so
// that Parse gives a term made of it no variance of its own.
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

// term writes k as a summand. A kernel without variance has one fixed at 1.
func term(k Kernel) string {
	if carriesVariance(k) {
		if _, ok := k.(scaled); ok {
			return k.String()
		}
		return factor(k)
	}
	return "1*" + factor(k)
}

// labelled prefixes names that have no prefix yet with the label of k.
func labelled(k Kernel) []Param {
	params := k.Params()
	for i := range params {
		if !strings.ContainsRune(params[i].Name, '.') {
			params[i].Name = label(k) + "." + params[i].Name
		}
	}
	return params
}

// uniqueNames numbers names that occur again: "rbf.variance#2".
func uniqueNames(params []Param) []Param {
	seen := map[string]int{}
	for i := range params {
		name, _, _ := strings.Cut(params[i].Name, "#")
		seen[name]++
		if n := seen[name]; n > 1 {
			name = fmt.Sprintf("%s#%d", name, n)
		}
		params[i].Name = name
	}
	return params
}
