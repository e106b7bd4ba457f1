package runner

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/score"
)

// The folds of a dataset cover its rows once, and are the folds of the experiments on the same table. A tenth of the other
// rows is in neither part.
func TestFoldsOfADataset(t *testing.T) {
	s, dir := tiny(t)
	d := s.Datasets[0]
	d.Folds = true
	table, err := d.Load(dir)
	require.NoError(t, err)
	require.Len(t, table.Test, folds)
	tested := map[int]int{}
	for seed := range uint64(folds) {
		train, test := table.split(seed + 1)
		held := table.held(seed + 1)
		assert.Len(t, train, 22)
		assert.Len(t, test, 6)
		assert.Len(t, held, 2)
		parts := map[int]int{}
		for _, part := range [][]int{train, test, held} {
			for _, i := range part {
				parts[i]++
			}
		}
		assert.Len(t, parts, 30, "the parts are disjoint and cover the rows")
		for _, i := range test {
			tested[i]++
		}
		_, fold := foldRows("a", 30, seed+1)
		assert.Equal(t, fold, test)
	}
	assert.Len(t, tested, 30)
}

// A run scores the held-out rows on targets that the training rows standardise.
func TestHeldOutRows(t *testing.T) {
	s, dir := tiny(t)
	s.Datasets[0].Folds = true
	run := plan(t, s, Selection{Data: dir, Methods: []string{"gp"}, Problems: []string{"a"}})[1]
	rec, err := run.Do(t.Context())
	require.NoError(t, err)
	require.Empty(t, rec.Error)
	assert.Equal(t, uint64(2), rec.Seed)
	assert.Equal(t, 22, rec.Score.Train)
	assert.NotZero(t, rec.Score.Held)
	// The noise of the table is known: 0.1, of targets with standard deviation about 0.9.
	y := []float64{0}
	assert.InDelta(t, score.ExpectedLogLikelihood(y, y, []float64{0}, rec.Score.Noise), rec.Score.Held, 3)

	s.Datasets[0].Folds = false
	rec, err = plan(t, s, Selection{Data: dir, Methods: []string{"gp"}, Problems: []string{"a"}})[1].Do(t.Context())
	require.NoError(t, err)
	assert.Zero(t, rec.Score.Held)
}

func TestChoices(t *testing.T) {
	assert.Equal(t, []string{"gp:kernel=rbf", "gp:kernel=rq"}, Choice{"gp", []string{"kernel=rbf", "kernel=rq"}}.Methods())
	assert.Equal(t, []string{"mfvi:preset=published;rate=1"}, Choice{"mfvi:preset=published", []string{"rate=1"}}.Methods())
}
