package space_test

import (
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
)

// Every value of a grid is the float64 nearest to its decimal number and survives the
// round trip.
func TestStepsAreExact(t *testing.T) {
	for _, p := range []space.Parameter{
		space.StepFloat("x", 0, 1, 0.1), space.StepFloat("x", -0.3, 0.6, 0.05), space.StepFloat("x", 1e-7, 1e-5, 1e-7),
		space.StepFloat("x", -1e6, 1e6, 0.5), space.StepFloat("x", 0, 300, 0.001), space.StepInt("x", -10, 1000, 5),
	} {
		s, err := space.New(p)
		require.NoError(t, err, "%+v", p)
		n, finite := s.Size()
		require.True(t, finite)
		assert.Equal(t, []bool{false}, s.Free())
		decimal := func(x float64) *big.Rat {
			r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'e', -1, 64))
			require.True(t, ok)
			return r
		}
		for _, k := range append(rand.New(rand.NewPCG(1, 1)).Perm(min(n, 100_000))[:min(n, 2000)], 0, n-1) {
			want, _ := new(big.Rat).Add(decimal(p.Min), new(big.Rat).Mul(decimal(p.Step), big.NewRat(int64(k), 1))).Float64()
			q := s.Decode([]float64{(float64(k) + 0.5) / float64(n)})
			require.Equal(t, want, q.Float("x"), "step %d of %+v", k, p)
			require.Equal(t, q.Key(), s.Decode(s.Encode(q)).Key())
			again, err := s.PointOf(q.Map())
			require.NoError(t, err)
			require.Equal(t, q.Key(), again.Key())
		}
		assert.Equal(t, p.Max, s.Decode([]float64{1}).Float("x"))
	}
}

func TestStepValues(t *testing.T) {
	s, err := space.New(space.StepFloat("x", 0, 0.5, 0.1), space.StepInt("k", 2, 8, 2), space.Bool("b"))
	require.NoError(t, err)
	n, finite := s.Size()
	assert.True(t, finite)
	assert.Equal(t, 6*4*2, n)

	p, err := s.PointOf(map[string]any{"x": 0.1 + 0.2, "k": 4, "b": true})
	require.NoError(t, err)
	assert.Equal(t, "x=0.3 k=4 b=true", p.String(), "a sum with a rounding error is a value")
	assert.Equal(t, 4, p.Value("k"))
	assert.True(t, p.Bool("b"))

	_, err = s.PointOf(map[string]any{"x": 0.25, "k": 3, "b": "true"})
	assert.EqualError(t, err, `invalid point: parameter "x": 0.25 is not 0 plus a multiple of step 0.1; the nearest value is 0.3; `+
		`parameter "k": 3 is not 2 plus a multiple of step 2; the nearest value is 4; parameter "b": "true" is not one of false, true`)

	text, err := json.Marshal(s)
	require.NoError(t, err)
	assert.Equal(t, `{"parameters":[{"name":"x","type":"float","min":0,"max":0.5,"step":0.1},{"name":"k","type":"int","min":2,"max":8,"step":2},{"name":"b","type":"bool"}]}`, string(text))
	again, err := space.Parse(text)
	require.NoError(t, err)
	assert.Equal(t, s, again)

	_, err = space.Parse([]byte(`{"parameters": [{"name": "x", "type": "float", "min": 0, "max": 1, "step": 0}, {"name": "b", "type": "bool", "step": 1}]}`))
	assert.EqualError(t, err, `invalid search space: parameter "x": step is 0, want a positive number; parameter "b": step does not belong to type bool`)
}
