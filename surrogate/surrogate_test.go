package surrogate_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
)

func TestStandardize(t *testing.T) {
	s := surrogate.Standardize([]float64{1, 2, 3, 4})
	assert.InDelta(t, 2.5, s.Mean, 1e-15)
	assert.InDelta(t, math.Sqrt(5./3), s.SD, 1e-15, "n-1 in the denominator")

	for _, y := range [][]float64{
		{3, 1, 4, 1, 5},
		{1e12 + 1, 1e12 + 2, 1e12 + 4},
		{-1e300, 0, 1e300},
		{1e-300, 2e-300, 5e-300},
	} {
		s := surrogate.Standardize(y)
		z := s.Apply(nil, y)
		var sum, square float64
		for i, v := range z {
			sum += v
			square += v * v
			assert.InEpsilon(t, y[i]+1, s.Invert(v)+1, 1e-12)
		}
		assert.InDelta(t, 0, sum, 1e-3)
		assert.InDelta(t, float64(len(y)-1), square, 1e-3)
	}
}

// A few poor measurements do not set the scale, and targets whose noise is not known count.
func TestStandardizeNoisy(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct{ y, noise, counted []float64 }{
		{[]float64{1, 2, 4}, nil, []float64{1, 2, 4}},
		{[]float64{1, 2, 4}, []float64{nan, nan, nan}, []float64{1, 2, 4}},
		{[]float64{1, 2, 4}, []float64{3, 3, 3}, []float64{1, 2, 4}},
		{[]float64{1, 2, 400, 3}, []float64{0.1, 0.2, 100, nan}, []float64{1, 2, 3}},
		{[]float64{1, 2, 4, 800}, []float64{0, 1e-9, 1e-8, 1e3}, []float64{1, 2, 4}},
		{[]float64{5, 5, 9}, []float64{0.1, 0.1, 3}, []float64{5, 5, 9}},
		{[]float64{7}, []float64{2}, []float64{7}},
	} {
		require.Equal(t, surrogate.Standardize(c.counted), surrogate.StandardizeNoisy(c.y, c.noise), "%v %v", c.y, c.noise)
	}
}

func TestStandardizeConstant(t *testing.T) {
	for _, y := range [][]float64{{}, {0}, {7}, {0, 0, 0}, {5, 5, 5}, {-1e12, -1e12}, {0.3, 0.1 + 0.2}} {
		s := surrogate.Standardize(y)
		assert.Equal(t, 1.0, s.SD, "%v", y)
		for i, z := range s.Apply(nil, y) {
			assert.InDelta(t, 0, z, 1e-12)
			assert.InDelta(t, y[i], s.Invert(z), 1e-12)
		}
	}
	// Constant up to rounding, at a size whose rounding is far above 1.
	y := []float64{1e20, math.Nextafter(1e20, 2e20)}
	for _, z := range surrogate.Standardize(y).Apply(nil, y) {
		assert.Less(t, math.Abs(z), 1.0)
	}
}

func TestApplyInPlace(t *testing.T) {
	y := []float64{1, 3}
	surrogate.Standardization{Mean: 1, SD: 2}.Apply(y, y)
	assert.Equal(t, []float64{0, 1}, y)
}

func TestDatasetValidate(t *testing.T) {
	good := func() surrogate.Dataset {
		return surrogate.Dataset{X: mat.NewDense(2, 3, nil), Y: []float64{1, 2}, Lo: make([]float64, 3), Hi: []float64{1, 1, 1}}
	}
	require.NoError(t, good().Validate())
	for name, c := range map[string]struct {
		harm func(d *surrogate.Dataset)
		want error
		text string
	}{
		"nil inputs":   {func(d *surrogate.Dataset) { d.X = nil }, surrogate.ErrNoData, ""},
		"empty inputs": {func(d *surrogate.Dataset) { d.X = &mat.Dense{} }, surrogate.ErrNoData, ""},
		"targets":      {func(d *surrogate.Dataset) { d.Y = nil }, surrogate.ErrShape, "2 rows of inputs, 0 targets"},
		"low bounds":   {func(d *surrogate.Dataset) { d.Lo = nil }, surrogate.ErrShape, "3 inputs, box of 0 and 3 bounds"},
		"high bounds":  {func(d *surrogate.Dataset) { d.Hi = d.Hi[1:] }, surrogate.ErrShape, "box of 3 and 2"},
		"box":          {func(d *surrogate.Dataset) { d.Lo[1] = 2 }, surrogate.ErrBox, "input 2 has the bounds 2 and 1, want finite ones in ascending order"},
		"NaN bound":    {func(d *surrogate.Dataset) { d.Hi[0] = math.NaN() }, surrogate.ErrBox, "input 1 has the bounds 0 and NaN"},
		"no bound":     {func(d *surrogate.Dataset) { d.Lo[0] = math.Inf(-1) }, surrogate.ErrBox, "input 1 has the bounds -Inf and 1"},
		"target":       {func(d *surrogate.Dataset) { d.Y[1] = math.NaN() }, surrogate.ErrNotFinite, "target 2 is NaN"},
		"input":        {func(d *surrogate.Dataset) { d.X.Set(1, 2, math.Inf(-1)) }, surrogate.ErrNotFinite, "input 3 of row 2 is -Inf"},
	} {
		d := good()
		c.harm(&d)
		err := d.Validate()
		require.ErrorIs(t, err, c.want, name)
		require.ErrorContains(t, err, c.text, name)
	}
}

func TestDatasetBox(t *testing.T) {
	d := surrogate.Dataset{X: mat.NewDense(3, 2, []float64{1, -5, 2, 7, 0, 1}), Y: make([]float64, 3)}
	lo, hi := d.Box()
	assert.Equal(t, []float64{0, -5}, lo)
	assert.Equal(t, []float64{2, 7}, hi)
	d.Lo, d.Hi = []float64{-1, -1}, []float64{9, 9}
	lo, hi = d.Box()
	assert.Equal(t, d.Lo, lo)
	assert.Equal(t, d.Hi, hi)
}

func TestProgress(t *testing.T) {
	surrogate.Report(context.Background(), surrogate.Progress{Phase: "unheard"})
	var got []surrogate.Progress
	ctx := surrogate.WithProgress(context.Background(), func(p surrogate.Progress) { got = append(got, p) })
	surrogate.Report(ctx, surrogate.Progress{Phase: "train", Done: 3, Total: 10})
	assert.Equal(t, []surrogate.Progress{{Phase: "train", Done: 3, Total: 10}}, got)
}
