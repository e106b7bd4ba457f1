package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/surrogate"
)

// bo runs a command line and returns its standard output.
func bo(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, strings.NewReader(""), &stdout, &stderr)
	require.Equal(t, exitDone, code, "%s: %s", args, stderr.String())
	return stdout.String()
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.csv")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func cells(t *testing.T, text string) [][]float64 {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	var rows [][]float64
	for _, record := range records {
		row := make([]float64, len(record))
		for i, cell := range record {
			if row[i], err = strconv.ParseFloat(cell, 64); err != nil {
				row = nil
				break
			}
		}
		if row != nil {
			rows = append(rows, row)
		}
	}
	return rows
}

var fixedRBF = []string{"--set", "kernel=rbf", "--set", "lengthscale=1", "--set", "variance=1", "--set", "noise=0.5", "--set", "mean=zero"}

// One observation y = 2 at 0: mean k·2/1.5 and variance 1 - k²/1.5, k = exp(-½) at 1.
func TestPredictClosedForm(t *testing.T) {
	train, at := file(t, "x,y\n0,2\n"), file(t, "x\n1\n0\n")
	got := cells(t, bo(t, append([]string{"predict", "--train", train, "--at", at, "--inputs", "raw", "--outputs", "raw"}, fixedRBF...)...))
	for i, k := range []float64{math.Exp(-0.5), 1} {
		require.InDelta(t, k*2/1.5, got[i][0], 1e-12)
		require.InDelta(t, math.Sqrt(1-k*k/1.5), got[i][1], 1e-12)
		require.InDelta(t, math.Sqrt(0.5), got[i][2], 1e-12)
	}
}

// An affine change of the units of inputs and target changes nothing but units.
func TestPredictUnits(t *testing.T) {
	table := func(a, b, c, d float64) string {
		var s strings.Builder
		s.WriteString("x,z,y\n")
		for i := range 7 {
			x, z := float64(i), math.Mod(float64(3*i), 5)
			fmt.Fprintf(&s, "%g,%g,%g\n", a*x+b, a*z+b, c*(math.Sin(x)+z)+d)
		}
		return file(t, s.String())
	}
	base, moved := table(1, 0, 1, 0), table(-40, 7, 1000, -3)
	for _, inputs := range []string{"unit", "zscore"} {
		args := append([]string{"--inputs", inputs}, fixedRBF...)
		p := cells(t, bo(t, append([]string{"predict", "--train", base, "--at", base}, args...)...))
		q := cells(t, bo(t, append([]string{"predict", "--train", moved, "--at", moved}, args...)...))
		require.Len(t, q, 7)
		for i := range p {
			require.InDelta(t, 1000*p[i][0]-3, q[i][0], 1e-7)
			require.InDelta(t, 1000*p[i][1], q[i][1], 1e-7)
			require.InDelta(t, 1000*p[i][2], q[i][2], 1e-7)
		}
	}
}

// Draws have the moments that are printed, and the written covariance has the
// printed variances on its diagonal.
func TestPredictSamples(t *testing.T) {
	train, at := file(t, "x,y\n0,10\n1,30\n3,-20\n"), file(t, "x\n0.5\n2\n2.2\n")
	cov := filepath.Join(t.TempDir(), "cov.csv")
	const n = 4000
	got := cells(t, bo(t, append([]string{"predict", "--train", train, "--at", at, "--samples", fmt.Sprint(n), "--cov", cov}, fixedRBF...)...))
	text, err := os.ReadFile(cov)
	require.NoError(t, err)
	c := cells(t, string(text))
	for i := range got {
		require.InDelta(t, got[i][1]*got[i][1], c[i][i], 1e-9*c[i][i])
		for j := range got {
			var sum float64
			for k := 3; k < 3+n; k++ {
				sum += (got[i][k] - got[i][0]) * (got[j][k] - got[j][0])
			}
			// Four standard errors of a product of two Gaussians.
			require.InDelta(t, c[i][j], sum/n, 4*math.Sqrt(2*c[i][i]*c[j][j]/n))
		}
	}
}

// Joint samples have a bound on their memory.
func TestTooManySamples(t *testing.T) {
	_, err := jointDraws(make([]float64, 8000), nil, surrogate.Standardization{SD: 1}, 100_000, 1)
	require.EqualError(t, err, "100000 samples of 8000 rows take too much memory, want at most 16777")
	require.ErrorAs(t, err, new(usageError))
}
