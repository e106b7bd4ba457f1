package space_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/space"
)

// tree has two nested conditions.
func tree(t testing.TB) *space.Space {
	s, err := space.New(
		space.Float("momentum", 0, 0.99).If(space.Equal("opt", "sgd")),
		space.Categorical("opt", "adam", "sgd", "lion"),
		space.Bool("nesterov").If(space.Equal("opt", "sgd")),
		space.Int("warm", 1, 4).If(space.Equal("nesterov", true)),
		space.Categorical("schedule", "a", "b", "c").If(space.Equal("opt", "adam", "lion")),
		space.Fixed("gamma", 2.0).If(space.Equal("schedule", "c")),
	)
	require.NoError(t, err)
	return s
}

func TestActivity(t *testing.T) {
	s := tree(t)
	point := func(values map[string]any) space.Point {
		p, err := s.PointOf(values)
		require.NoError(t, err)
		return p
	}
	adam := point(map[string]any{"opt": "adam", "schedule": "b", "momentum": nil})
	assert.Equal(t, "opt=adam schedule=b", adam.String())
	assert.False(t, adam.Active("momentum"))
	assert.False(t, adam.Active("warm"), "its parent is inactive")
	assert.Nil(t, adam.Value("warm"))
	assert.Empty(t, adam.Text("warm"))
	assert.Equal(t, map[string]any{"opt": "adam", "schedule": "b"}, adam.Map())
	text, err := json.Marshal(adam)
	require.NoError(t, err)
	assert.Equal(t, `{"opt":"adam","schedule":"b"}`, string(text))
	assert.PanicsWithValue(t, `space: parameter "momentum" is inactive`, func() { adam.Float("momentum") })

	assert.Equal(t, "momentum=0.5 opt=sgd nesterov=true warm=3", point(map[string]any{"opt": "sgd", "momentum": 0.5, "nesterov": true, "warm": 3}).String())
	assert.Equal(t, "opt=lion schedule=c gamma=2", point(map[string]any{"opt": "lion", "schedule": "c"}).String(), "a fixed value may be left out")

	_, err = s.PointOf(map[string]any{"opt": "adam", "schedule": "b", "momentum": 0.5, "warm": 2})
	assert.EqualError(t, err, `invalid point: parameter "momentum": it is inactive, because "opt == 'sgd'" does not hold, so it has no value: leave it out; `+
		`parameter "warm": it is inactive, because nesterov is inactive, so it has no value: leave it out`)
	_, err = s.PointOf(map[string]any{"opt": "sgd", "nesterov": true, "momentum": 2})
	assert.EqualError(t, err, `invalid point: parameter "momentum": 2 is outside [0, 0.99]; parameter "warm": missing`)
	_, err = s.PointOf(map[string]any{"opt": "adamw", "warm": 3})
	assert.EqualError(t, err, `invalid point: parameter "opt": "adamw" is not one of "adam", "sgd", "lion"`, "activity is unknown")
	p, err := s.PointWith(map[string]any{"opt": "adam"}, map[string]any{"momentum": 0.9, "schedule": "a"})
	require.NoError(t, err)
	assert.Equal(t, "opt=adam schedule=a", p.String(), "an inactive parameter has no default")
}

// Points that differ only in values of inactive parameters are one point.
func TestInactiveValuesDoNotCount(t *testing.T) {
	s := tree(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		u := make([]float64, s.Dim())
		for i := range u {
			u[i] = rng.Float64()
		}
		p := s.Decode(u)
		v := append([]float64(nil), u...)
		s.Project(v)
		require.InDeltaSlice(t, s.Encode(p), v, 1e-15)
		require.Equal(t, p.Key(), s.Decode(v).Key())
		q, err := s.PointOf(p.Map())
		require.NoError(t, err)
		require.Equal(t, p.Key(), q.Key())
		free := s.FreeAt(u)
		require.Equal(t, p.Active("momentum"), free[0])
		if !p.Active("momentum") {
			require.Equal(t, 0.5, v[0])
			u[0] = rng.Float64()
			require.Equal(t, p.Key(), s.Decode(u).Key())
		}
	}
}

func TestConditionFaults(t *testing.T) {
	yes := func(space.Point) bool { return true }
	a, b := space.Int("a", 0, 3), space.Int("b", 0, 3)
	for want, params := range map[string][]space.Parameter{
		`parameter "a": when: the parameter depends on itself: a → b → a`:                     {a.If(space.Equal("b", 1)), b.If(space.Equal("a", 1))},
		`parameter "a": when: "bb == 1": unknown parameter "bb": did you mean b?`:             {a.If(space.Equal("bb", 1)), b},
		`parameter "a": when: the condition has no text`:                                      {a.If(space.Condition{Holds: yes}), b},
		`parameter "a": when: "t" names no parameter`:                                         {a.If(space.Condition{Text: "t", Holds: yes}), b},
		`parameter "a": when: "t" is text without a function: package expression compiles it`: {a.If(space.Condition{Text: "t"}), b},
	} {
		_, err := space.New(params...)
		assert.EqualError(t, err, "invalid search space: "+want)
	}
	s, err := space.New(a, b)
	require.NoError(t, err)
	_, err = s.Constrain(space.Condition{Text: "c > 1", On: []string{"c"}, Holds: yes})
	assert.EqualError(t, err, `invalid search space: constraint 1 of 1: "c > 1": unknown parameter "c"; want one of a, b`)
	_, err = space.Parse([]byte(`{"parameters": [{"name": "x", "type": "bool", "when": ""}], "constraints": 3}`))
	assert.EqualError(t, err, `invalid search space: constraints must be a list of texts such as ["layers * width <= 4096"], not 3; parameter "x": when is empty: state a condition, or leave the key out`)
}

func constraint(text string, excess func(p space.Point) float64, on ...string) space.Condition {
	return space.Condition{Text: text, On: on, Holds: func(p space.Point) bool { return excess(p) <= 0 }, Excess: excess}
}

func TestConstraints(t *testing.T) {
	s, err := space.New(space.Int("layers", 1, 8), space.LogInt("width", 16, 4096), space.Float("m", 0, 1).If(space.Equal("layers", 1)))
	require.NoError(t, err)
	s, err = s.Constrain(
		constraint("layers * width <= 4096", func(p space.Point) float64 { return float64(p.Int("layers")*p.Int("width") - 4096) }, "layers", "width"),
		constraint("m <= 0.25", func(p space.Point) float64 { return p.Float("m") - 0.25 }, "m"),
	)
	require.NoError(t, err)
	_, err = s.PointOf(map[string]any{"layers": 8, "width": 1024})
	assert.EqualError(t, err, `invalid point: constraint "layers * width <= 4096" does not hold at layers=8 width=1024`)
	_, err = s.PointOf(map[string]any{"layers": 2, "width": 1024})
	assert.NoError(t, err, "the constraint on an inactive parameter holds")
	assert.Len(t, s.Constraints(), 2)
	text, err := json.Marshal(s)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"constraints":["layers * width \u003c= 4096","m \u003c= 0.25"]`)

	none, err := space.New(space.Int("a", 0, 9), space.Int("b", 0, 9))
	require.NoError(t, err)
	_, err = none.Constrain(constraint("a + b > 18", func(p space.Point) float64 { return 18.5 - float64(p.Int("a")+p.Int("b")) }, "a", "b"))
	assert.EqualError(t, err, `invalid search space: constraints: no point of the space satisfies "a + b > 18"`)
	floats, err := space.New(space.Float("x", 0, 1), space.Float("y", 0, 1))
	require.NoError(t, err)
	_, err = floats.Constrain(constraint("x + y == 3", func(p space.Point) float64 { return math.Abs(p.Float("x") + p.Float("y") - 3) }, "x", "y"))
	require.ErrorIs(t, err, space.ErrInvalid)
	assert.Regexp(t, `^invalid search space: constraints: a search of \d+ points finds none that satisfies "x \+ y == 3"; almost no floats satisfy an equality: give the parameters a step \(step: 0\.01\), or drop one of them, write a bound such as xA \+ xB <= 1, and compute it in the program$`, err.Error())
}

// Feasible parts of a share of 1e-4 and less, and equalities of integers, are found, and
// samples of them are feasible and varied.
func TestSmallFeasibleParts(t *testing.T) {
	sum := func(p space.Point, names ...string) (s float64) {
		for _, n := range names {
			s += p.Float(n)
		}
		return s
	}
	for name, c := range map[string]struct {
		params      []space.Parameter
		constraints []space.Condition
		distinct    int // of 200 samples
	}{
		"corner of 1e-6": {[]space.Parameter{space.Float("x", 0, 1), space.Float("y", 0, 1)},
			[]space.Condition{constraint("x <= 0.001", func(p space.Point) float64 { return p.Float("x") - 0.001 }, "x"),
				constraint("y >= 0.999", func(p space.Point) float64 { return 0.999 - p.Float("y") }, "y")}, 150},
		"ball of 1e-5, truth only": {[]space.Parameter{space.Float("x", 0, 1), space.Float("y", 0, 1)},
			[]space.Condition{{Text: "ball", On: []string{"x", "y"}, Holds: func(p space.Point) bool { return math.Hypot(p.Float("x")-0.3, p.Float("y")-0.6) < 0.003 }}}, 150},
		"equality of three integers": {[]space.Parameter{space.Int("a", 0, 100), space.Int("b", 0, 100), space.Int("c", 0, 100)},
			[]space.Condition{constraint("a+b+c == 100", func(p space.Point) float64 { return math.Abs(sum(p, "a", "b", "c") - 100) }, "a", "b", "c")}, 150},
		"equality of five integers": {[]space.Parameter{space.Int("a", 0, 1000), space.Int("b", 0, 1000), space.Int("c", 0, 1000), space.Int("d", 0, 1000), space.Int("e", 0, 1000)},
			[]space.Condition{constraint("sum == 1000", func(p space.Point) float64 { return math.Abs(sum(p, "a", "b", "c", "d", "e") - 1000) }, "a", "b", "c", "d", "e")}, 100},
		"ordered floats": {[]space.Parameter{space.Float("a", 0, 1), space.Float("b", 0, 1), space.Float("c", 0, 1), space.Float("d", 0, 1), space.Float("e", 0, 1), space.Float("f", 0, 1), space.Float("g", 0, 1), space.Float("h", 0, 1)},
			[]space.Condition{constraint("increasing", func(p space.Point) (e float64) {
				for i := range 7 {
					e += max(0, p.Code(i)-p.Code(i+1))
				}
				return e
			}, "a", "b", "c", "d", "e", "f", "g", "h")}, 150},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := space.New(c.params...)
			require.NoError(t, err)
			s, err = s.Constrain(c.constraints...)
			require.NoError(t, err)
			x := s.Sample(200, rand.New(rand.NewPCG(1, 1)))
			seen := map[string]bool{}
			for i := range 200 {
				require.True(t, s.Feasible(x.RawRowView(i)))
				seen[s.Decode(x.RawRowView(i)).Key()] = true
			}
			assert.GreaterOrEqual(t, len(seen), c.distinct)
		})
	}
}

// randomSpace returns a space of up to five parameters of all kinds, with conditions on
// earlier ones and up to two constraints; nil if no point is feasible.
func randomSpace(t testing.TB, rng *rand.Rand) *space.Space {
	var params []space.Parameter
	continuous := rng.IntN(2) == 0
	for i := range 1 + rng.IntN(5) {
		name := fmt.Sprint("p", i)
		var p space.Parameter
		switch k := rng.IntN(9); {
		case k == 0 && continuous:
			p = space.Float(name, -1, 2)
		case k == 1 && continuous:
			p = space.LogFloat(name, 1e-4, 1)
		case k == 2:
			p = space.StepFloat(name, 0, 0.3, 0.1)
		case k == 3:
			p = space.Bool(name)
		case k == 4:
			p = space.Categorical(name, "a", "b", 3.0)
		case k == 5:
			p = space.Ordinal(name, 1.0, 2.0, 4.0)
		case k == 6 && i > 0:
			p = space.Fixed(name, "f")
		case k == 7:
			p = space.LogInt(name, 1, 5)
		case k == 8 && i == 0:
			values := make([]any, 60+rng.IntN(20)) // a column per value up to 64
			for i := range values {
				values[i] = float64(i)
			}
			p = space.Categorical(name, values...)
		default:
			p = space.StepInt(name, -4, 4, 2)
		}
		if i > 0 && rng.IntN(2) == 0 {
			j := rng.IntN(i)
			limit := rng.Float64() * 3
			p = p.If(space.Condition{Text: fmt.Sprintf("code of p%d < %v", j, limit), On: []string{fmt.Sprint("p", j)}, Holds: func(p space.Point) bool { return p.Code(j) < limit }})
		}
		params = append(params, p)
	}
	s, err := space.New(params...)
	require.NoError(t, err)
	for range rng.IntN(3) {
		i, j, limit := rng.IntN(len(params)), rng.IntN(len(params)), 4*rng.Float64()-1
		c := constraint(fmt.Sprintf("code %d + code %d <= %v", i, j, limit), func(p space.Point) float64 { return p.Code(i) + p.Code(j) - limit }, fmt.Sprint("p", i), fmt.Sprint("p", j))
		if s, err = s.Constrain(c); err != nil {
			require.ErrorIs(t, err, space.ErrInvalid)
			return nil
		}
	}
	return s
}

// checkSpace checks the properties of a space at a random point.
func checkSpace(t *testing.T, s *space.Space, rng *rand.Rand) {
	must := func(ok bool, what string, values ...any) { // require costs more than the checks themselves
		if !ok {
			t.Helper()
			t.Fatalf("%s: %v, in %v", what, values, s.Parameters())
		}
	}
	u := make([]float64, s.Dim())
	for i := range u {
		u[i] = 1.4*rng.Float64() - 0.2
	}
	p := s.Decode(u)
	v := s.Encode(p)
	exact := true
	for _, q := range s.Parameters() {
		exact = exact && (q.Kind != space.KindFloat || q.Step > 0)
	}
	if exact {
		must(p.Key() == s.Decode(v).Key(), "encoding and decoding change the point", p, s.Decode(v))
	}
	for i, c := range s.Coordinates() {
		if columns := v[c.First : c.First+c.Columns]; c.Parameter.Kind == space.KindCategorical && p.Active(c.Parameter.Name) {
			must(int(p.Code(i)) == s.Index(i, columns), "encoding has another value of a categorical", c.Parameter.Name, p, columns)
		} else if c.Parameter.Kind == space.KindCategorical {
			must(len(c.Parameter.Values) == s.Index(i, columns), "an inactive categorical has a value", c.Parameter.Name, p, columns)
		}
	}
	s.Project(u)
	must(floats.EqualApprox(v, u, 1e-12), "projection and encoding differ", u, v)
	must(p.Key() == s.Decode(u).Key(), "projection changes the point", p, u)
	q, err := s.PointOf(p.Map())
	must(s.Feasible(u) == (err == nil), "Feasible and PointOf differ", u, err)
	if err == nil {
		must(p.Key() == q.Key(), "PointOf returns another point", p, q)
	}
	if near := s.Neighbors(u); near != nil {
		rows, _ := near.Dims()
		for i := range rows {
			row := near.RawRowView(i)
			must(s.Feasible(row), "an infeasible neighbour", row)
			again := append([]float64(nil), row...)
			s.Project(again)
			must(slices.Equal(row, again), "projection moves a neighbour", row, again)
		}
	}
	x := s.Sample(2, rng)
	for i := range 2 {
		must(s.Feasible(x.RawRowView(i)), "an infeasible sample", x.RawRowView(i))
		_, err := s.PointOf(s.Decode(x.RawRowView(i)).Map())
		must(err == nil, "PointOf rejects a sample", x.RawRowView(i), err)
	}
	if n, finite := s.Size(); finite && s.Listed() && n < 100 {
		seen := map[string]bool{}
		for i := range n {
			p := s.At(i)
			seen[p.Key()] = true
			must(s.Feasible(s.Encode(p)), "an infeasible listed point", p)
		}
		must(len(seen) == n, "listed points repeat", len(seen), n)
		must(seen[s.Decode(x.RawRowView(0)).Key()], "a sample is not listed", x.RawRowView(0))
	}
}

var full = flag.Bool("full", false, "a million points of random spaces; otherwise an eightieth")

func TestRandomSpaces(t *testing.T) {
	spaces, points := 250, 50
	switch {
	case *full:
		spaces, points = 2000, 500
	case testing.Short():
		spaces, points = 150, 20
	}
	rng := rand.New(rand.NewPCG(7, 7))
	for range spaces {
		if s := randomSpace(t, rng); s != nil {
			for range points {
				checkSpace(t, s, rng)
			}
		}
	}
}

func FuzzSpaces(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		rng := rand.New(rand.NewPCG(a, b))
		if s := randomSpace(t, rng); s != nil {
			for range 50 {
				checkSpace(t, s, rng)
			}
		}
	})
}

// Mixtures, whose parts add up to 1 within a thin band, spread over the band: also where a few uniform points fall
// into it.
func TestThinBand(t *testing.T) {
	for _, width := range []float64{0.002, 0.001, 0.0005, 0.0001} {
		sum := func(p space.Point) float64 { return p.Float("a") + p.Float("b") + p.Float("c") }
		s, err := space.Spec{
			Parameters: []space.Parameter{space.Float("a", 0, 1), space.Float("b", 0, 1), space.Float("c", 0, 0.5), space.LogFloat("time", 300, 1200)},
			Constraints: []space.Condition{{
				Text: "mixture", On: []string{"a", "b", "c"},
				Holds:  func(p space.Point) bool { return sum(p) <= 1 && sum(p) >= 1-width },
				Excess: func(p space.Point) float64 { return max(0, sum(p)-1) + max(0, 1-width-sum(p)) },
			}},
		}.Space()
		require.NoError(t, err)
		const n = 100
		x := s.Sample(n, rand.New(rand.NewPCG(1, 2)))
		seen := map[[2]int]bool{}
		for i := range n {
			seen[[2]int{int(50 * x.At(i, 0)), int(50 * x.At(i, 1))}] = true
		}
		require.Greater(t, len(seen), 80, "%v", width)
		// Of the uniform distribution on the triangle a + b + c = 1 with c ≤ 1/2, a has the mean 7/18.
		require.InDelta(t, 7.0/18, mat.Sum(x.ColView(0))/n, 0.1, "%v", width)
	}
}

// mixture has n whole numbers with the sum 100.
func mixture(t testing.TB, n int) *space.Space {
	spec := space.Spec{Constraints: []space.Condition{{Text: "sum"}}}
	c := &spec.Constraints[0]
	for i := range n {
		c.On = append(c.On, string(rune('a'+i)))
		spec.Parameters = append(spec.Parameters, space.Int(c.On[i], 0, 100))
	}
	c.Excess = func(p space.Point) float64 {
		sum := -100
		for _, name := range c.On {
			sum += p.Int(name)
		}
		return math.Abs(float64(sum))
	}
	c.Holds = func(p space.Point) bool { return c.Excess(p) == 0 }
	s, err := spec.Space()
	require.NoError(t, err)
	return s
}

// Points of a mixture that are too many for a list have nearly the uniform distribution: five whole numbers with
// sum 100 have the mean square 20 + 2·100·99/(5·6) = 680.
func TestMixtureSamples(t *testing.T) {
	s := mixture(t, 5)
	const n = 2000
	x, squares := s.Sample(n, rand.New(rand.NewPCG(1, 2))), 0.0
	for i := range n {
		require.True(t, s.Feasible(x.RawRowView(i)))
		p := s.Decode(x.RawRowView(i))
		for _, q := range s.Parameters() {
			squares += math.Pow(float64(p.Int(q.Name)), 2) / (5 * n)
		}
	}
	require.InEpsilon(t, 680, squares, 0.05)
}

// BenchmarkSampleMixture measures 100 random points of mixtures that are too large for a list.
func BenchmarkSampleMixture(b *testing.B) {
	for _, n := range []int{4, 5, 6, 8} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			s := mixture(b, n)
			b.ReportAllocs()
			for b.Loop() {
				s.Sample(100, rand.New(rand.NewPCG(1, 2)))
			}
		})
	}
}

// A space shares no list of names with its caller.
func TestSpaceCopiesNamesOfConditions(t *testing.T) {
	holds := func(space.Point) bool { return true }
	when, on := []string{"b"}, []string{"x"}
	s, err := space.New(space.Float("x", 0, 1).If(space.Condition{Text: "b", On: when, Holds: holds}), space.Bool("b"))
	require.NoError(t, err)
	s, err = s.Constrain(space.Condition{Text: "x", On: on, Holds: holds})
	require.NoError(t, err)
	when[0], on[0] = "?", "?"
	s.Constraints()[0].On[0] = "?"
	s.Parameters()[0].When.On[0] = "?"
	require.Equal(t, []string{"x"}, s.Constraints()[0].On)
	require.Equal(t, []string{"b"}, s.Parameters()[0].When.On)
}

// Conditions that could never hold, or always hold by mistake, are faults.
func TestConditionsWithoutEffect(t *testing.T) {
	opt, n, b := space.Categorical("opt", "adam", "sgd"), space.Int("n", 1, 3), space.Bool("b")
	holds := func(space.Point) bool { return true }
	for want, c := range map[string]space.Condition{
		`parameter "x": when: value of "opt": "sdg" is not one of "adam", "sgd": did you mean sgd?`: space.Equal("opt", "adam", "sdg"),
		`value of "opt": 1 is not one of "adam", "sgd"`:                                             space.Equal("opt", 1),
		`value of "n": 4 is outside [1, 3]`:                                                         space.Equal("n", 4),
		`value of "b": "true" is not one of false, true: did you mean true?`:                        space.Equal("b", "true"),
		`parameter "x": when: Equal("opt") has no values, want at least one`:                        space.Equal("opt"),
		`unknown parameter "op": did you mean opt?`:                                                 space.Equal("op", "sgd"),
		"parameter \"x\": when: the condition has no text":                                          {On: []string{"opt"}},
		"when: the condition has no text":                                                           {On: []string{"opt"}, Holds: holds},
	} {
		_, err := space.New(opt, n, b, space.Float("x", 0, 1).If(c))
		require.ErrorIs(t, err, space.ErrInvalid, want)
		require.ErrorContains(t, err, want)
	}
	s, err := space.New(opt, n, b)
	require.NoError(t, err)
	_, err = s.Constrain(space.Equal("opt", "sdg"))
	require.ErrorIs(t, err, space.ErrInvalid)
	require.ErrorContains(t, err, `constraint 1 of 1: value of "opt": "sdg" is not one of "adam", "sgd": did you mean sgd?`)

	_, err = space.New(space.Categorical("opt", "adam"), space.Float("x", 0, 1).If(space.Equal("opt", "sdg")))
	require.ErrorIs(t, err, space.ErrInvalid)
	require.NotContains(t, err.Error(), "sdg", "the parameter of the condition has a fault of its own")
	_, err = space.New(space.Fixed("opt", "adam"), space.Float("y", 0, 1), space.Float("x", 0, 1).If(space.Equal("opt", "sgd")))
	require.NoError(t, err, "a fixed parameter")
	_, err = space.New(space.Ordinal("k", 1, 2), space.Bool("b"), space.Float("x", 0, 1).If(space.Equal("k", uint8(2), 1.0)), space.Float("y", 0, 1).If(space.Equal("b", false)))
	require.NoError(t, err)
}
