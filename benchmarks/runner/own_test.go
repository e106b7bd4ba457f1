package runner_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/benchmarks/report"
	"github.com/functionspace/bo/benchmarks/runner"
	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/rff"
)

// bowl is a black box with another centre for each seed.
func bowl(seed uint64) benchmarks.Objective {
	centre := float64(seed) / 10
	return benchmarks.Objective{Name: "bowl", NoiseFree: true, Minimizers: [][]float64{{centre, 0.5}}, Func: func(x []float64) float64 {
		return math.Hypot(x[0]-centre, x[1]-0.5)
	}}.On(box)
}

var box = func() *space.Space {
	s, err := space.New(space.Float("x", 0, 1), space.Float("y", 0, 1))
	if err != nil {
		panic(err)
	}
	return s
}()

// Own surrogate models and acquisition functions on own black boxes.
func Example_own() {
	suite := runner.Suite{
		Name:     "mine",
		Problems: []runner.Problem{{Objective: "bowl", Make: bowl, Budget: 10, Initial: 5}},
		Methods:  []string{"mine", "gp", "sobol"},
		Own:      map[string]catalog.Method{"mine": {Surrogate: rff.Model{Features: 100}, Acquisition: acquisition.LCB{Beta: 1}}},
		Seeds:    5,
	}
	plan, err := suite.Plan(runner.Selection{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var records []runner.Record
	err = runner.Execute(context.Background(), plan, 2, func(r runner.Record) error {
		records = append(records, r)
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := report.New(records, "gp")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range r.Pairs {
		fmt.Println(p.Name, "and gp:", p.End.N(), "pairs")
	}
	// Output:
	// mine and gp: 5 pairs
	// sobol and gp: 5 pairs
}

type failing struct{}

func (failing) Fit(context.Context, surrogate.Dataset, *rand.Rand) (surrogate.Posterior, error) {
	return nil, fmt.Errorf("no fit")
}

func TestOwnMethods(t *testing.T) {
	suite := runner.Suite{
		Name:     "mine",
		Problems: []runner.Problem{{Objective: "bowl", Make: bowl, Budget: 6, Initial: 5, Prior: []string{"kernel=rbf"}}},
		Methods:  []string{"failing", "rff"},
		Own: map[string]catalog.Method{
			"failing": {Surrogate: failing{}}, "bad": {Surrogate: rff.Model{Features: -1}}, "none": {},
			"rff": {Surrogate: &rff.Model{Features: 7}},
		},
		Seeds: 1,
	}
	plan, err := suite.Plan(runner.Selection{})
	require.NoError(t, err)
	require.Len(t, plan, 2)
	rec, err := plan[0].Do(context.Background())
	require.NoError(t, err)
	require.Equal(t, "failing", rec.Method)
	require.Contains(t, rec.Error, "no fit")
	rec, err = plan[1].Do(context.Background())
	require.NoError(t, err)
	require.Empty(t, rec.Error)

	for _, name := range []string{"bad", "none"} {
		_, err = suite.Plan(runner.Selection{Methods: []string{name}})
		require.ErrorIs(t, err, runner.ErrPlan, name)
		require.ErrorIs(t, err, settings.ErrValue, name)
		require.ErrorContains(t, err, "method "+name)
	}
	_, err = suite.Plan(runner.Selection{Methods: []string{"failin"}})
	require.ErrorIs(t, err, runner.ErrUnknown)
	require.EqualError(t, err, `unknown method "failin": did you mean failing?`)
}
