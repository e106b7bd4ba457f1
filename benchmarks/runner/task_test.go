package runner

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Evaluations at the points of a task decoded from JSON equal the recorded values.
func TestTaskGivesTheValuesOfARun(t *testing.T) {
	plan := smoke(t, Selection{Methods: []string{Sobol}, Seeds: 2})
	found := outcomes(t, plan, 1)
	for _, run := range plan {
		text, err := json.Marshal(run.Task())
		require.NoError(t, err)
		var task Task
		require.NoError(t, json.Unmarshal(text, &task))
		record := found[run.Key()]
		assert.Equal(t,
			[]any{record.Suite, record.Problem, record.Seed, record.Dim, record.Budget, record.Initial, record.Batch, record.NoiseFree, record.Minimum},
			[]any{task.Suite, task.Problem, task.Seed, task.Dim, task.Budget, task.Initial, task.Batch, task.NoiseFree, task.Minimum})
		require.Len(t, task.Points, record.Initial)
		evaluate := run.Evaluator()
		for i, x := range task.Points {
			values, err := evaluate(x)
			require.NoError(t, err)
			want := record.Values[i : i+1]
			if record.Latent != nil {
				want = Numbers{record.Values[i], record.Latent[i]}
			}
			assert.Equal(t, want, values, "%v %d", run.Key(), i)
		}
	}
}

// The task of several objectives has the reference point and the bounds. The evaluator returns the recorded
// hypervolumes, and then the numbers.
func TestTaskOfSeveralObjectives(t *testing.T) {
	suite, err := Lookup("outcomes")
	require.NoError(t, err)
	plan, err := suite.Plan(Selection{
		Problems: []string{"noisy-branin-currin", "constrained-branin-currin"}, Methods: []string{Sobol}, Seeds: 1,
	})
	require.NoError(t, err)
	found := outcomes(t, plan, 1)
	for _, run := range plan {
		task, record := run.Task(), found[run.Key()]
		o := run.Problem.objective(run.Seed).Outcomes
		assert.Equal(t, o.Reference, task.Reference)
		assert.Equal(t, o.Bounds, task.Bounds)
		evaluate := run.Evaluator()
		for i, x := range task.Points {
			values, err := evaluate(x)
			require.NoError(t, err)
			want := Numbers{record.Values[i]}
			if record.Latent != nil {
				want = append(want, record.Latent[i])
			}
			require.Len(t, values, len(want)+len(o.Names()))
			assert.Equal(t, want, values[:len(want)], "%v %d", run.Key(), i)
			if o.Latent == nil {
				assert.Equal(t, Numbers(o.Func(x)), values[len(want):])
			}
		}
	}
}

// Coordinates of inactive parameters are null in a task, and the evaluator accepts them.
func TestTaskOfConditionalParameters(t *testing.T) {
	suite, err := Lookup("conditional")
	require.NoError(t, err)
	plan, err := suite.Plan(Selection{Methods: []string{Sobol}, Seeds: 1})
	require.NoError(t, err)
	found := outcomes(t, plan, 1)
	for _, run := range plan {
		text, err := json.Marshal(run.Task())
		require.NoError(t, err)
		require.Contains(t, string(text), `"when":"classifier == 'svm'"`)
		var task struct{ Points []Numbers }
		require.NoError(t, json.Unmarshal(text, &task))
		evaluate := run.Evaluator()
		for i, x := range task.Points {
			require.True(t, slices.ContainsFunc(x, math.IsNaN))
			values, err := evaluate(x)
			require.NoError(t, err)
			assert.Equal(t, found[run.Key()].Values[i], values[0])
		}
	}
}

func TestEvaluatorRejectsPointsOutsideOfTheBox(t *testing.T) {
	evaluate := smoke(t, Selection{Problems: []string{"branin"}})[0].Evaluator()
	_, err := evaluate([]float64{1})
	require.EqualError(t, err, "1 coordinates, branin has 2")
	_, err = evaluate([]float64{1, 15.5})
	require.EqualError(t, err, "coordinate 2 is 15.5, branin has 0 to 15")
}
