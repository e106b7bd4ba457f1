package runner

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
)

const monthsHeader = "year,month,decimal_date,trend,interpolated,average\n"

// months writes a file in the format of Mauna Loa from January 1974, with one month
// without a measurement.
func months(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	text := strings.Builder{}
	text.WriteString(monthsHeader)
	for i := range n {
		mean := fmt.Sprintf("%.2f", 330+0.1*float64(i)+3*math.Sin(2*math.Pi*(float64(i)+0.5)/12))
		if i == 20 {
			mean = ""
		}
		fmt.Fprintf(&text, "%d,%d,0,0,0,%s\n", 1974+i/12, 1+i%12, mean)
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "mauna_loa_co2"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mauna_loa_co2", "monthly_noaa_1958_2017.csv"), []byte(text.String()), 0o644))
	return dir
}

func TestMaunaLoa(t *testing.T) {
	s, err := Lookup("paper/mauna-loa")
	require.NoError(t, err)
	dir := months(t, 65)
	runs := plan(t, s, Selection{Data: dir, Methods: []string{"gp", "gp:kernel=rbf;noise=0.1"}, Problems: []string{"mauna-loa"}})
	require.Len(t, runs, 10, "five seeds of two methods")
	table := runs[0].Table
	assert.Len(t, table.Y, 60, "from May on, without the gap")
	row := table.X.RawRowView(0)
	assert.InDelta(t, 1974+4.5/12, row[0], 1e-12)
	assert.InDelta(t, 1, row[1]*row[1]+row[2]*row[2], 1e-12)
	assert.InDelta(t, math.Sin(2*math.Pi*4.5/12), row[1], 1e-9)
	train, test := table.split(5)
	assert.Equal(t, [3]int{42, 18, 42}, [3]int{len(train), len(test), test[0]})

	r, err := runs[0].Do(t.Context())
	require.NoError(t, err)
	require.Empty(t, r.Error)
	assert.Equal(t, 0.0001892, r.Score.Noise, "that of the stated prior")
	q := r.Prediction
	assert.Equal(t, []int{42, 1, 60, 60, 60, 60}, []int{q.Train, len(q.X), len(q.X[0]), len(q.Y), len(q.Mean), len(q.SD)})
	var sum float64
	for i := q.Train; i < len(q.Y); i++ {
		sum += (q.Y[i] - q.Mean[i]) * (q.Y[i] - q.Mean[i]) / 18
	}
	assert.InDelta(t, r.Score.RMSERaw, math.Sqrt(sum), 1e-3)
	r, err = runs[1].Do(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 0.1, r.Score.Noise, "that of the method")
	r, err = runs[2].Do(t.Context())
	require.NoError(t, err)
	assert.Nil(t, r.Prediction, "of the first seed only")
}

func TestMaunaLoaFaults(t *testing.T) {
	s, err := Lookup("paper/mauna-loa")
	require.NoError(t, err)
	_, err = s.Plan(Selection{})
	assert.EqualError(t, err, "bad plan: the suite paper/mauna-loa needs data in the folders mauna_loa_co2")
	_, err = s.Plan(Selection{Data: "nowhere"})
	assert.EqualError(t, err, "bad data: there is no nowhere/mauna_loa_co2/monthly_noaa_1958_2017.csv")
	dir := months(t, 65)
	for _, c := range []struct{ text, wants string }{
		{"year,co2\n1974,1\n", "the header is year,co2, want year,month,"},
		{monthsHeader + "1974,May,0,0,0,1\n", "row 1: [1974 May 0 0 0 1] is not a month and its mean"},
		{monthsHeader + "1974,5,0,0,0,NaN\n", "row 1: [1974 5 0 0 0 NaN] is not a month and its mean"},
		{monthsHeader + "1974,5,0,0,0,330\n", "has 1 months from May 1974 on"},
	} {
		path := filepath.Join(dir, "mauna_loa_co2", "monthly_noaa_1958_2017.csv")
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o644))
		_, err := s.Plan(Selection{Data: dir})
		require.ErrorIs(t, err, ErrData)
		assert.ErrorContains(t, err, c.wants)
	}
}

// The real table, if present, has the expected size, and the units of the stated
// prior.
func TestMaunaLoaData(t *testing.T) {
	const dir = "../../../shared/data"
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("no data: ", err)
	}
	table, err := readMaunaLoa(filepath.Join(dir, "mauna_loa_co2"))
	require.NoError(t, err)
	train, test := table.split(1)
	assert.Equal(t, [2]int{361, 155}, [2]int{len(train), len(test)})
	x, y := table.rows(train)
	var sd [3]float64
	for j := range sd {
		sd[j] = surrogate.Standardize(mat.Col(nil, j, x)).SD
	}
	years, circle, ppm := sd[0], (sd[1]+sd[2])/2, surrogate.Standardize(y).SD
	square := func(v float64) float64 { return v * v / (ppm * ppm) }
	want := fmt.Sprintf("kernel=%.4g*rbf[0](lengthscale=%.4g) + %.4g*rbf[0](lengthscale=%.4g)*rbf[1,2](lengthscale=%.4g)"+
		" + %.4g*rq[0](lengthscale=%.4g,alpha=0.78) + %.4g*rbf[0](lengthscale=%.4g)",
		square(66), 67/years, square(2.4), 90/years, 1.3/circle, square(0.66), 1.2/years, square(0.18), 1.6/12/years)
	assert.Equal(t, []string{want, fmt.Sprintf("noise=%.4g", square(0.19))}, maunaLoaStated)
}
