package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks/runner"
)

// record returns a record whose measure after each evaluation is given.
func record(problem, method string, seed uint64, measure ...float64) runner.Record {
	zero := 0.0
	return runner.Record{
		Suite: "test", Problem: problem, Method: method, Seed: seed, Dim: 2, Budget: len(measure), Initial: 1, Batch: 1, NoiseFree: true,
		Minimum: &zero, Values: measure, Regret: measure, Suggest: []float64{9, 0.001 * float64(seed), 0.002, 0.003}[:len(measure)],
		Elapsed: float64(seed), Date: fmt.Sprintf("2026-01-%02dT00:00:00Z", seed),
	}
}

// Two problems. a beats sobol in three of four pairs, b in none; b has no run of seed
// 2 on the second problem.
func records() []runner.Record {
	return []runner.Record{
		record("f", "sobol", 1, 100, 10, 10, 1),
		record("f", "sobol", 2, 100, 10, 10, 1),
		record("f", "a", 1, 100, 1, 0.1, 0.01),
		record("f", "a", 2, 100, 10, 1, 0.1),
		record("f", "b", 1, 100, 100, 100, 100),
		record("f", "b", 2, 100, 100, 100, 1),
		record("g", "a", 2, 1, 1, 1, 1e-12),
		record("g", "a", 1, 1, 1, 1, 1e-12),
		record("g", "sobol", 1, 1, 1, 1, 0),
		record("g", "sobol", 2, 1, 1, 1, 0.5),
		record("g", "b", 1, 1, 1, 1, 2),
	}
}

func TestReportByHand(t *testing.T) {
	r, err := New(records(), "")
	require.NoError(t, err)
	assert.Equal(t, "test", r.Suite)
	assert.Equal(t, "sobol", r.Baseline)
	require.Len(t, r.Problems, 2)
	f := r.Problems[0]
	assert.Equal(t, "f", f.Name)
	assert.Equal(t, []int{1, 2, 3, 4}, f.At)
	require.Len(t, f.Methods, 3)
	a := f.Methods[0]
	assert.Equal(t, "a", a.Name)
	assert.Equal(t, 2, a.Runs)
	s := a.At[3]
	for _, v := range [][2]float64{{0.055, s.Median}, {0.0325, s.Q1}, {0.0775, s.Q3}, {0.055, s.Mean}, {0.045, s.SE}} {
		assert.InDelta(t, v[0], v[1], 1e-15)
	}
	assert.InDelta(t, ((2+0-1-2)/4.0+(2+1+0-1)/4.0)/2, *a.Area, 1e-15)
	assert.InDelta(t, 0.002, a.Suggest, 1e-15)
	assert.InDelta(t, 1.5, a.Elapsed, 1e-15)
	assert.Equal(t, &Comparison{2, 0, 0, 0.5, math.Sqrt(0.01 * 0.1)}, a.Against)
	assert.Equal(t, &Comparison{0, 1, 1, 1, 10}, f.Methods[1].Against, "b is worse once and equal once")
	assert.Nil(t, f.Methods[2].Against)

	g := r.Problems[1]
	assert.InDelta(t, math.Sqrt(2e-10), g.Methods[0].Against.Factor, 1e-20)
	g.Methods[0].Against.Factor = 0
	assert.Equal(t, &Comparison{1, 1, 0, 1, 0}, g.Methods[0].Against, "regret below the floor is equal")
	assert.Equal(t, 1, g.Methods[1].Runs)

	// Blocks f1, f2, g1. Final ranks of a: 1, 1, 1.5; sobol: 2, 2.5, 1.5; b: 3, 2.5, 3.
	assert.Equal(t, 3, r.Blocks)
	assert.Empty(t, r.Unranked)
	require.Len(t, r.Ranks, 3)
	for i, want := range []struct {
		name   string
		rank   float64
		solved [][]int // evaluations until the regret is a hundredth, a thousandth of 100 or 1
	}{
		{"a", 3.5 / 3, [][]int{{2, 3, 4}, {3, 4, 4}}},
		{"sobol", 2, [][]int{{4, 4, 4}, {4}}},
		{"b", 8.5 / 3, [][]int{{4}, {}}},
	} {
		o := r.Ranks[i]
		assert.Equal(t, want.name, o.Name)
		assert.InDelta(t, want.rank, o.At[3].Mean, 1e-15)
		assert.Equal(t, Interval{2, 2, 2}, o.At[0], "all begin with the same points")
		assert.Equal(t, want.solved, o.Solved)
		const rounding = 1e-12
		assert.True(t, 1 <= o.At[3].Lo && o.At[3].Lo <= o.At[3].Mean+rounding && o.At[3].Mean <= o.At[3].Hi+rounding && o.At[3].Hi <= 3+rounding)
	}
	require.Len(t, r.Pairs, 2)
	// a wins both pairs on f, and one of two on g.
	assert.Equal(t, &Interval{0.875, 0.75, 1}, r.Pairs[0].Share)
	assert.Equal(t, Pair{"a", &Comparison{1, 3, 0, 1, 1}, &Comparison{3, 1, 0, 0.25, math.Sqrt(0.1 * 0.01)}, r.Pairs[0].Share, 2, 2}, r.Pairs[0])
	assert.Equal(t, 0, r.Pairs[1].Better)
	assert.Equal(t, 3, r.Pairs[1].End.N())
	require.Len(t, r.Origins, 1)
	assert.Equal(t, 11, r.Origins[0].Runs)
	assert.Equal(t, "2026-01-01T00:00:00Z", r.Origins[0].From)
	assert.Equal(t, "2026-01-02T00:00:00Z", r.Origins[0].To)
}

// The report does not depend on the order of the records.
func TestReportDoesNotDependOnOrder(t *testing.T) {
	text := func(records []runner.Record) string {
		r, err := New(records, "a")
		require.NoError(t, err)
		b, err := json.Marshal(r)
		require.NoError(t, err)
		return string(b)
	}
	forward, backward := records(), records()
	for i, r := range forward {
		backward[len(backward)-1-i] = r
	}
	assert.Equal(t, text(forward), text(backward))
}

func TestReportWithoutMinimumAndFailures(t *testing.T) {
	unknown := record("h", "a", 1, 3, 2, 2, -1)
	unknown.Minimum, unknown.Regret = nil, nil
	broken := record("h", "a", 2, 3, 2, 2, 1)
	broken.Minimum, broken.Regret, broken.Error = nil, nil, "panic: no\nsecond line"
	short := record("f", "a", 3, 1, 2)
	short.Budget = 4
	late := record("f", "a", 4, math.NaN(), 1, 1, 1)
	missing := record("f", "a", 5, 1, 1, 1, 1)
	missing.Regret = missing.Regret[:2]
	r, err := New(append(records(), unknown, broken, short, late, missing), "")
	require.NoError(t, err)
	var why []string
	for _, f := range r.Failures {
		why = append(why, f.Error)
	}
	assert.Equal(t, []string{"2 of 4 evaluations", "no value in the first 1 evaluations", "2 values of regret for 4 evaluations", "panic: no\nsecond line"}, why)
	h := r.Problems[2]
	assert.Nil(t, h.Minimum)
	assert.Nil(t, h.Methods[0].Area)
	assert.Equal(t, -1.0, h.Methods[0].At[3].Median)
	assert.Equal(t, 1, h.Methods[0].Runs)

	var text bytes.Buffer
	require.NoError(t, r.WriteText(&text))
	assert.Contains(t, text.String(), "h: best value (minimum unknown); 2 inputs, 4 evaluations")
	assert.Contains(t, text.String(), "panic: no; second line")
	_, err = json.Marshal(r)
	assert.NoError(t, err)
}

func TestReportErrors(t *testing.T) {
	_, err := New(nil, "")
	assert.ErrorIs(t, err, ErrReport)
	_, err = New(records(), "sobul")
	assert.ErrorIs(t, err, runner.ErrUnknown)
	assert.EqualError(t, err, `unknown method "sobul": did you mean sobol?`)
	other := record("f", "a", 9, 1, 1, 1)
	_, err = New(append(records(), other), "")
	assert.ErrorIs(t, err, ErrReport)
}

func TestCheckpoints(t *testing.T) {
	assert.Equal(t, [4]int{10, 20, 30, 40}, checkpoints(40))
	assert.Equal(t, [4]int{3, 5, 8, 10}, checkpoints(10))
	assert.Equal(t, [4]int{1, 1, 1, 1}, checkpoints(1))
}

func TestMarkdown(t *testing.T) {
	r, err := New(records(), "")
	require.NoError(t, err)
	var text bytes.Buffer
	require.NoError(t, r.WriteMarkdown(&text))
	cells := 0
	for line := range strings.Lines(text.String()) {
		if n := strings.Count(line, "|"); n > 0 {
			require.True(t, strings.HasPrefix(line, "|") && strings.HasSuffix(line, "|\n"), line)
			if cells > 0 {
				require.Equal(t, cells, n, "a row has as many cells as the header: %s", line)
			}
			cells = n
		} else {
			cells = 0
		}
	}
	assert.Contains(t, text.String(), " 2 of 2 seeds |")
	assert.Contains(t, text.String(), "| 3 of 4 pairs (1 equal) |")
}

// Records of other programs need not have the times of suggestions.
func TestRecordsWithoutTimes(t *testing.T) {
	r, err := New([]runner.Record{{Suite: "s", Problem: "p", Method: "sobol", Seed: 1, Dim: 1, Budget: 4, Initial: 1, Values: runner.Numbers{4, 3, 2, 1}}}, "")
	require.NoError(t, err)
	require.Zero(t, r.Problems[0].Methods[0].Suggest)
	require.NoError(t, r.WriteText(io.Discard))
	_, err = json.Marshal(r)
	require.NoError(t, err)
}
