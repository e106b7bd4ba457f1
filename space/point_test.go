package space_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
)

// ParsePoint is the inverse of Point.MarshalJSON, to the last bit and without the values of inactive
// parameters.
func TestParsePoint(t *testing.T) {
	for _, s := range []*space.Space{mixed(t), tree(t)} {
		for i := range 50 {
			u := s.Sample(1, rand.New(rand.NewPCG(uint64(i), 1))).RawRowView(0)
			p := s.Decode(u)
			text, err := json.Marshal(p)
			require.NoError(t, err)
			q, err := s.ParsePoint(text)
			require.NoError(t, err)
			require.Equal(t, p.Key(), q.Key(), string(text))
			require.Same(t, s, q.Space())
		}
	}
}

func TestParsePointFaults(t *testing.T) {
	s, err := space.New(space.Float("x", 0, 1), space.Int("n", 1, 8))
	require.NoError(t, err)
	for _, tt := range []struct{ text, want string }{
		{`{"x": 0.5}`, `invalid point: parameter "n": missing`},
		{`{"x": 0.5, "n": 9}`, `invalid point: parameter "n": 9 is outside [1, 8]`},
		{`{"x": 0.5, "n": 2, "m": 3}`, `invalid point: unknown parameter "m"; want one of x, n`},
		{`{"x": 0.5, "n": 2} {}`, `invalid point: invalid character '{' after top-level value`},
		{`[0.5, 2]`, `invalid point: want an object of values by name, not [0.5, 2]`},
		{`null`, `invalid point: want an object of values by name, not null`},
		{``, `invalid point: unexpected end of JSON input`},
	} {
		_, err := s.ParsePoint([]byte(tt.text))
		require.ErrorIs(t, err, space.ErrPoint, tt.text)
		require.EqualError(t, err, tt.want, tt.text)
	}
}

// Constants of named types are values, also in points and conditions.
func TestNamedTypes(t *testing.T) {
	type codec string
	type flag bool
	const none, zstd codec = "none", "zstd"
	s, err := space.New(
		space.Categorical("codec", none, zstd),
		space.Int("level", 1, 9).If(space.Equal("codec", zstd)),
		space.Categorical("sync", flag(false), flag(true)),
		space.Fixed("from", zstd),
	)
	require.NoError(t, err)
	p, err := s.PointOf(map[string]any{"codec": zstd, "level": 3, "sync": flag(true)})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"codec": "zstd", "level": 3, "sync": true, "from": "zstd"}, p.Map())
	_, err = s.PointOf(map[string]any{"codec": codec("lz4"), "sync": false})
	require.ErrorContains(t, err, `parameter "codec": "lz4" is not one of "none", "zstd"`)
	for text, v := range map[string]any{`["a",1]`: []any{"a", 1}, `{"a":1}`: map[string]any{"a": 1}, "null": nil, "NaN": math.NaN()} {
		_, err = s.PointOf(map[string]any{"codec": v, "sync": false})
		require.ErrorContains(t, err, `parameter "codec": `+text+` is not one of "none", "zstd"`)
	}
	_, err = space.New(space.Categorical("codec", none, codec("\xff")))
	require.ErrorContains(t, err, "is not valid UTF-8")
}
