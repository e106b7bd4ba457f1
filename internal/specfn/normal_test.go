package specfn_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/specfn"
)

var functions = map[string]func(float64) (value, deriv float64){
	"log_cdf": specfn.LogNormCDF,
	"log_h":   specfn.LogEI,
	"mes":     specfn.EntropyReduction,
}

func oracle(t *testing.T) map[string]json.RawMessage {
	data, err := os.ReadFile("../../testdata/specfn/normal.json")
	require.NoError(t, err)
	tables := map[string]json.RawMessage{}
	require.NoError(t, json.Unmarshal(data, &tables))
	return tables
}

// relative returns |got-want|/|want|. A logarithm near a zero and values of 1e-300 are ill-conditioned. For
// these relative allows an absolute error of 2e-16 of a quantity of order 1.
func relative(got, want float64) float64 {
	if got == want {
		return 0
	}
	return max(0, math.Abs(got-want)-2e-16) / math.Abs(want)
}

func TestErfcx(t *testing.T) {
	var table [][2]float64
	require.NoError(t, json.Unmarshal(oracle(t)["erfcx"], &table))
	for _, row := range table {
		assert.InEpsilon(t, row[1], specfn.Erfcx(row[0]), 2e-15, "erfcx(%v)", row[0])
	}
	assert.Equal(t, math.Inf(1), specfn.Erfcx(-27))
	assert.True(t, math.IsNaN(specfn.Erfcx(math.NaN())))
	assert.Zero(t, specfn.Erfcx(math.Inf(1)))
}

func TestAgainstMpmath(t *testing.T) {
	tables := oracle(t)
	for name, f := range functions {
		var table [][3]float64
		require.NoError(t, json.Unmarshal(tables[name], &table))
		require.NotEmpty(t, table)
		var worst, worstD float64
		for _, row := range table {
			v, d := f(row[0])
			e, ed := relative(v, row[1]), relative(d, row[2])
			worst, worstD = max(worst, e), max(worstD, ed)
			assert.LessOrEqual(t, e, 1e-13, "%s(%v) = %v, want %v", name, row[0], v, row[1])
			assert.LessOrEqual(t, ed, 1e-13, "%s'(%v) = %v, want %v", name, row[0], d, row[2])
		}
		t.Logf("%s: largest relative error %.1e, of the derivative %.1e", name, worst, worstD)
	}
}

func TestDerivatives(t *testing.T) {
	for name, f := range functions {
		for _, z := range []float64{-50, -8, -5.01, -4.99, -3, -1.01, -0.99, 0, 1, 3} {
			_, d := f(z)
			value := func(x []float64) float64 { v, _ := f(x[0]); return v }
			require.NoError(t, gradcheck.Gradient(value, []float64{z}, []float64{d}, 1e-7), "%s at %v", name, z)
		}
	}
}

// Branches agree at their boundaries, no result is NaN, and each function is monotone
// over the range of float64.
func TestWholeRange(t *testing.T) {
	sign := map[string]float64{"log_cdf": 1, "log_h": 1, "mes": -1}
	for name, f := range functions {
		for _, edge := range []float64{-5, -1, 0} {
			a, da := f(math.Nextafter(edge, -9))
			b, db := f(edge)
			c, dc := f(math.Nextafter(edge, 9))
			assert.InEpsilon(t, a, b, 1e-13, "%s at %v", name, edge)
			assert.InEpsilon(t, b, c, 1e-13, "%s at %v", name, edge)
			assert.InEpsilon(t, da, db, 1e-13, "%s' at %v", name, edge)
			assert.InEpsilon(t, db, dc, 1e-13, "%s' at %v", name, edge)
		}
		last := math.Inf(-1)
		for e := 100.0; e > -10; e -= 0.25 {
			v, d := f(-math.Pow(10, e))
			require.False(t, math.IsNaN(v) || math.IsNaN(d), "%s(-1e%v)", name, e)
			require.GreaterOrEqual(t, sign[name]*v, last, "%s(-1e%v)", name, e)
			require.GreaterOrEqual(t, sign[name]*d, 0.0, "%s'(-1e%v)", name, e)
			last = sign[name] * v
		}
		for e := -10.0; e < 100; e += 0.25 {
			v, d := f(math.Pow(10, e))
			require.False(t, math.IsNaN(v) || math.IsNaN(d), "%s(1e%v)", name, e)
			require.GreaterOrEqual(t, sign[name]*v, last-1e-16, "%s(1e%v)", name, e)
			last = sign[name] * v
		}
	}
}

func ExampleLogEI() {
	v, d := specfn.LogEI(-1e6)
	fmt.Printf("%.12g %.15g\n", v, d)
	// Output: -500000000029 1000000.000002
}

func BenchmarkLogEI(b *testing.B) {
	for _, z := range []float64{-30, -3, 0.5} {
		b.Run(fmt.Sprint(z), func(b *testing.B) {
			for b.Loop() {
				specfn.LogEI(z)
			}
		})
	}
}

// EI agrees with LogEI, and its probability with LogNormCDF.
func TestEI(t *testing.T) {
	for z := -37.0; z < 9; z += 0.0173 {
		pdf := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
		h, cdf := specfn.EI(z, pdf, math.Erf(z/math.Sqrt2))
		logH, _ := specfn.LogEI(z)
		logCDF, _ := specfn.LogNormCDF(z)
		require.InEpsilon(t, math.Exp(logH), h, 1e-12, "h(%v)", z)
		require.InEpsilon(t, math.Exp(logCDF), cdf, 1e-12, "Φ(%v)", z)
	}
}
