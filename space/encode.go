package space

import (
	"math"
	"slices"
)

// A Point stores one number per parameter, its code. It is the value of a float or int, and the index among the
// choices of a bool, ordinal or categorical. It is 0 for a fixed parameter, and absent for an inactive one.

// absent is the code of an inactive parameter.
var absent = math.NaN()

// inactive reports whether a code is absent.
func inactive(code float64) bool { return code != code }

// encode writes code to the columns u of p. An inactive parameter has the centre of its
// values: ½, or equal numbers that sum to 1 in columns of one value each.
func (p *Parameter) encode(u []float64, code float64) {
	if inactive(code) {
		for i := range u {
			u[i] = p.middle(len(u))
		}
		return
	}
	switch p.Kind {
	case KindFloat:
		if p.Step > 0 {
			u[0] = p.centre(code)
			return
		}
		u[0] = p.position(code)
	case KindInt, KindOrdinal:
		u[0] = p.centre(code)
	case KindBool:
		u[0] = code
	case KindCategorical:
		if len(u) == 1 {
			u[0] = code
			return
		}
		if p.words != nil {
			for k := range u {
				u[k] = float64(p.words[int(code)] >> k & 1)
			}
			return
		}
		clear(u)
		u[int(code)] = 1
	}
}

// middle returns the number in each of n columns of an inactive parameter.
func (p *Parameter) middle(n int) float64 {
	if p.words == nil {
		return 1 / float64(max(2, n))
	}
	return 0.5
}

// absentAt reports whether u are the columns of the inactive parameter.
func (p *Parameter) absentAt(u []float64) bool {
	return !slices.ContainsFunc(u, func(v float64) bool { return v != p.middle(len(u)) })
}

// decode returns the code at the columns u of p, which may contain any numbers.
func (p *Parameter) decode(u []float64) float64 {
	if p.pin != nil {
		return *p.pin
	}
	switch p.Kind {
	case KindFloat:
		if p.Step > 0 {
			return p.cell(clamp(u[0]))
		}
		return p.at(clamp(u[0]))
	case KindInt, KindOrdinal:
		return p.cell(clamp(u[0]))
	case KindBool:
		return math.Floor(clamp(u[0]) + 0.5)
	case KindCategorical:
		if len(u) == 1 {
			return math.Floor(clamp(u[0]) + 0.5)
		}
		if p.words != nil {
			if i := wordAt(p.words, u); i >= 0 {
				return float64(i)
			}
			return float64(nearestWord(p.words, u))
		}
		best := 0
		for i := range u {
			if clamp(u[i]) > clamp(u[best]) {
				best = i
			}
		}
		return float64(best)
	default:
		return 0
	}
}

// clamp returns the number of [0,1] nearest to u, and 0 for NaN.
func clamp(u float64) float64 {
	if !(u > 0) {
		return 0
	}
	return min(u, 1)
}

// position returns the encoding of the value x of a float.
func (p *Parameter) position(x float64) float64 {
	switch {
	case x == p.Max:
		return 1
	case p.Log:
		return clamp((math.Log(x) - math.Log(p.Min)) / (math.Log(p.Max) - math.Log(p.Min)))
	default:
		return clamp((x - p.Min) / (p.Max - p.Min))
	}
}

// at returns the value at the encoding u, the inverse of position. It is exact at both
// bounds and computes from the nearer bound.
func (p *Parameter) at(u float64) float64 {
	var x float64
	switch {
	case p.Log && u <= 0.5:
		x = p.Min * math.Exp(u*(math.Log(p.Max)-math.Log(p.Min)))
	case p.Log:
		x = p.Max * math.Exp((u-1)*(math.Log(p.Max)-math.Log(p.Min)))
	case u <= 0.5:
		x = p.Min + u*(p.Max-p.Min)
	default:
		x = p.Max - (1-u)*(p.Max-p.Min)
	}
	// Adding 0 turns -0 into 0, so that they are one value.
	return min(max(x, p.Min), p.Max) + 0
}

// cell returns the code whose cell contains u; a border belongs to the upper cell.
func (p *Parameter) cell(u float64) float64 {
	if p.Log {
		lo, hi := p.logEdges()
		k := math.Round(math.Exp(lo + u*(hi-lo)))
		return min(max(k, p.Min), p.Max)
	}
	n := float64(p.levels())
	return p.level(min(math.Floor(u*n), n-1))
}

// centre returns the centre of the cell of code.
func (p *Parameter) centre(code float64) float64 {
	if p.Log {
		lo, hi := p.logEdges()
		return (0.5*(math.Log(code-0.5)+math.Log(code+0.5)) - lo) / (hi - lo)
	}
	return (p.index(code) + 0.5) / float64(p.levels())
}

// logEdges returns the outer edges of the cells of a log int.
func (p *Parameter) logEdges() (lo, hi float64) {
	return math.Log(p.Min - 0.5), math.Log(p.Max + 0.5)
}

// level returns the code of the i-th value, from 0, of a parameter that is not continuous.
func (p *Parameter) level(i float64) float64 {
	switch {
	case p.Step > 0:
		return p.steps().at(i)
	case p.Kind == KindInt:
		return p.Min + i
	default:
		return i
	}
}

// index is the inverse of level.
func (p *Parameter) index(code float64) float64 {
	switch {
	case p.Step > 0:
		return math.Round((code - p.Min) / p.Step)
	case p.Kind == KindInt:
		return code - p.Min
	default:
		return code
	}
}
