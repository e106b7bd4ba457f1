package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

func TestJudgeClasses(t *testing.T) {
	s := judgeClasses([]int{0, 2, 1}, mat.NewDense(3, 3, []float64{
		0.7, 0.2, 0.1,
		0.1, 0.3, 0.6,
		0.5, 0.25, 0.25,
	}))
	require.Equal(t, 3, s.Classes)
	require.InDelta(t, 2.0/3, s.Accuracy, 1e-15)
	require.InDelta(t, (math.Log(0.7)+math.Log(0.6)+math.Log(0.25))/3, s.LogProbability, 1e-15)
	require.InDelta(t, (0.09+0.04+0.01+0.01+0.09+0.16+0.25+0.5625+0.0625)/3, s.Brier, 1e-15)
	// 0.7, 0.6 and 0.5 lie in the bins from 10/15, 9/15 and 7/15.
	require.InDelta(t, (0.3+0.4+0.5)/3, s.ECE, 1e-15)
	require.False(t, math.IsInf(judgeClasses([]int{0}, mat.NewDense(1, 2, []float64{0, 1})).LogProbability, 0))
}

// Names of classes keep their text, quoted where CSV asks for it, and numbers are
// ordered by size.
func TestClassNames(t *testing.T) {
	table := func(labels ...string) string {
		var s strings.Builder
		s.WriteString("x,y\n")
		w := csv.NewWriter(&s)
		for i := range 12 {
			require.NoError(t, w.Write([]string{fmt.Sprint(i), labels[i*len(labels)/12]}))
		}
		w.Flush()
		return file(t, s.String())
	}
	header := func(path string) []string {
		text := bo(t, "predict", "--train", path, "--at", path, "--likelihood", "categorical", "--set", "lengthscale=0.3")
		records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		require.NoError(t, err)
		require.Len(t, records, 13)
		return records[0]
	}
	require.Equal(t, []string{"p_9", "p_10", "p_100", "label"}, header(table("10", "9", "100")))
	require.Equal(t, []string{"p_a, b", "p_c", "label"}, header(table("c", "a, b")))
}
