package main

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{3}, 3},
		{[]float64{5, 1, 3}, 3},
		{[]float64{8, 1, 2, 4}, 3},
		{[]float64{math.Inf(1), 1, 2, math.Inf(1)}, math.Inf(1)},
	} {
		require.Equal(t, c.want, median(c.values), "%v", c.values)
	}
	require.Equal(t, 2.5, median([]int{3, 2}))
}
