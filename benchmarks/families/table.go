package families

import (
	"embed"
	"encoding/json"
	"math"
	"slices"
	"sync"

	"github.com/functionspace/bo/space"
)

//go:embed tables/*.json
var files embed.FS

// table holds the errors of a learning algorithm at all combinations of the levels of
// its settings. make.py in the folder tables writes it.
type table struct {
	Name       string               `json:"name"`
	Source     string               `json:"source"`
	Parameters []axis               `json:"parameters"`
	Measures   map[string][]float64 `json:"measures"` // the last parameter varies fastest
}

// axis is a setting of a table.
type axis struct {
	Name   string `json:"name"`
	Levels []any  `json:"levels"` // numbers in increasing order, or the values of a choice
	Log    bool   `json:"log"`
	Int    bool   `json:"int"`
	Choice bool   `json:"choice"`
}

// read returns the decoded content of a file of the folder tables.
func read[T any](name string) T {
	var t T
	text, err := files.ReadFile("tables/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err != nil {
		panic("families: " + err.Error())
	}
	return t
}

var tables sync.Map

// tableOf returns the table of a name, decoded once.
func tableOf(name string) *table {
	once, _ := tables.LoadOrStore(name, sync.OnceValue(func() *table { t := read[table](name); return &t }))
	return once.(func() *table)()
}

// cut is a table restricted to a range of levels of every numeric setting.
type cut struct {
	*table
	values  []float64 // of the chosen measure
	from    []int     // first level by setting
	to      []int     // last level
	rounded bool      // values at the nearest levels instead of interpolation
}

// cut draws a measure and ranges of at least 60 % of the levels.
func (d *drawing) cut(name string, rounded bool) cut {
	t := tableOf(name)
	names := make([]string, 0, len(t.Measures))
	for m := range t.Measures {
		names = append(names, m)
	}
	slices.Sort(names)
	c := cut{table: t, values: t.Measures[names[d.rng.IntN(len(names))]], rounded: rounded}
	for _, a := range t.Parameters {
		n := len(a.Levels)
		length := n
		if !a.Choice {
			least := max(2, int(math.Ceil(0.6*float64(n))))
			length = least + d.rng.IntN(n-least+1)
		}
		from := d.rng.IntN(n - length + 1)
		c.from, c.to = append(c.from, from), append(c.to, from+length-1)
	}
	return c
}

// parameters returns the parameters with the bounds of the cut.
func (c cut) parameters(prefix string) []space.Parameter {
	params := make([]space.Parameter, len(c.Parameters))
	for i, a := range c.Parameters {
		p := space.Parameter{Name: prefix + a.Name, Kind: space.KindFloat, Log: a.Log}
		switch {
		case a.Choice:
			p = space.Categorical(prefix+a.Name, a.Levels...)
		default:
			if a.Int {
				p.Kind = space.KindInt
			}
			p.Min, p.Max = a.level(c.from[i]), a.level(c.to[i])
		}
		params[i] = p
	}
	return params
}

// level returns the value of a numeric level.
func (a axis) level(i int) float64 { return a.Levels[i].(float64) }

// position returns the level below the coordinate v and the position between it and the
// next, on the scale of the setting.
func (a axis) position(v float64) (level int, part float64) {
	if a.Choice {
		return int(v), 0
	}
	n := len(a.Levels)
	for level < n-2 && v >= a.level(level+1) {
		level++
	}
	lo, hi := a.level(level), a.level(level+1)
	if a.Log {
		v, lo, hi = math.Log(v), math.Log(lo), math.Log(hi)
	}
	return level, min(max((v-lo)/(hi-lo), 0), 1)
}

// at returns the value at coordinates: a multilinear interpolation, whose extremes lie
// at levels, or the value at the nearest levels.
func (c cut) at(x []float64) float64 {
	index, weights := []int{0}, []float64{1}
	for i, a := range c.Parameters {
		level, part := a.position(x[i])
		if c.rounded {
			part = math.Round(part)
		}
		n := len(a.Levels)
		var nextIndex []int
		var nextWeights []float64
		for k, before := range index {
			if part < 1 {
				nextIndex, nextWeights = append(nextIndex, before*n+level), append(nextWeights, weights[k]*(1-part))
			}
			if part > 0 {
				nextIndex, nextWeights = append(nextIndex, before*n+level+1), append(nextWeights, weights[k]*part)
			}
		}
		index, weights = nextIndex, nextWeights
	}
	var sum float64
	for k, i := range index {
		sum += weights[k] * c.values[i]
	}
	return sum
}

// minimum returns the lowest value in the cut and its coordinates.
func (c cut) minimum() (value float64, at []float64) {
	value = math.Inf(1)
	levels := slices.Clone(c.from)
	for {
		index := 0
		for i, a := range c.Parameters {
			index = index*len(a.Levels) + levels[i]
		}
		if v := c.values[index]; v < value {
			value, at = v, at[:0]
			for i, a := range c.Parameters {
				if a.Choice {
					at = append(at, float64(levels[i]))
				} else {
					at = append(at, a.level(levels[i]))
				}
			}
		}
		i := len(levels) - 1
		for ; i >= 0 && levels[i] == c.to[i]; i-- {
			levels[i] = c.from[i]
		}
		if i < 0 {
			return value, at
		}
		levels[i]++
	}
}
