package runner

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/surrogate"
)

func TestOcean(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "gulf_drifters")
	write := func(file, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, file), []byte("lon,lat,ubar,vbar\n"+text), 0o644))
	}
	require.NoError(t, os.Mkdir(folder, 0o755))
	// A rigid rotation about (-87.3, 25.75), 1 m/s per 100 km.
	write("train.csv", "-87.3,26.75,-1.112,0\n-87.3,24.75,1.112,0\n-86.3,25.75,0,1.00158\n-88.3,25.75,0,-1.00158\n-86.3,26.75,-1.112,1.00158\n")
	write("test.csv", "-86.8,25.75,0,0.50079\n")
	s, err := Lookup("paper/ocean")
	require.NoError(t, err)
	runs := plan(t, s, Selection{Data: dir, Methods: []string{"gp"}, Problems: []string{"ocean"}})
	table := runs[0].Table
	assert.Equal(t, surrogate.Raw, table.Inputs)
	assert.Equal(t, []float64{0, 1.112, 0}, table.X.RawRowView(0))
	assert.Equal(t, []float64{0, 1.112, 1}, table.X.RawRowView(1))
	assert.InDelta(t, 1.00158, table.X.At(4, 0), 1e-5)
	train, test := table.split(3)
	assert.Equal(t, [3]int{10, 2, 10}, [3]int{len(train), len(test), test[0]})
	r, err := runs[0].Do(t.Context())
	require.NoError(t, err)
	require.Empty(t, r.Error)
	assert.Less(t, r.Score.RMSERaw, 0.1)
	assert.Len(t, r.Prediction.X, 3)

	write("test.csv", "1,2,3,4\n")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "train.csv"), []byte("lon,lat,speed\n1,2,3\n"), 0o644))
	_, err = s.Plan(Selection{Data: dir})
	require.ErrorIs(t, err, ErrData)
	assert.ErrorContains(t, err, "the header has 3 cells, want lon,lat,ubar,vbar")
}
