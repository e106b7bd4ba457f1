package study

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
)

func TestCheckName(t *testing.T) {
	for name, valid := range map[string]bool{
		"resnet-lr": true, "A.b_2": true, strings.Repeat("x", 100): true,
		"": false, strings.Repeat("x", 101): false, ".hidden": false, "-n": false, "a b": false, "a/b": false, "é": false,
	} {
		assert.Equal(t, valid, CheckName(name) == nil, name)
	}
}

func TestDuration(t *testing.T) {
	var d Duration
	require.NoError(t, json.Unmarshal([]byte(`"90s"`), &d))
	require.Equal(t, 90*time.Second, d.Value())
	text, err := json.Marshal(d)
	require.NoError(t, err)
	require.Equal(t, `"1m30s"`, string(text))
	for _, text := range []string{`"-1s"`, `"90"`, `""`} {
		require.ErrorContains(t, json.Unmarshal([]byte(text), &d), "is not a time such as 90s or 2h", text)
	}
}

// SpaceOf and Space are inverse.
func TestSpaceOf(t *testing.T) {
	d := Definition{
		Parameters: []space.Parameter{
			space.Categorical("opt", "adam", "sgd"),
			space.Float("momentum", 0, 1).If(space.Condition{Text: "opt == 'sgd'"}),
			space.Int("n", 1, 8),
		},
		Constraints: []string{"n * momentum <= 4"},
	}
	s, err := d.Space()
	require.NoError(t, err)
	params, constraints := SpaceOf(s)
	require.Equal(t, d.Constraints, constraints)
	require.Len(t, params, 3)
	require.Equal(t, d.Parameters[1].When, params[1].When, "a condition as text alone")
	again, err := (&Definition{Parameters: params, Constraints: constraints}).Space()
	require.NoError(t, err)
	want, err := json.Marshal(s)
	require.NoError(t, err)
	got, err := json.Marshal(again)
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(got))
}

// The zero value of each field of a definition made in Go is its default, also the version. A file
// states a version that exists, or none.
func TestZeroVersion(t *testing.T) {
	d := Definition{Parameters: []space.Parameter{space.Float("x", 0, 1)}}
	require.NoError(t, d.Validate())
	require.Zero(t, d.Version, "Validate changes nothing")
	_, err := Parse([]byte(`{"version": 0, "parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}]}`))
	require.ErrorContains(t, err, "version is 0, want 1")
}

// A newer version and a parameter with the reserved name are faults.
func TestReservedAndVersion(t *testing.T) {
	d := Definition{Version: Version, Parameters: []space.Parameter{space.Float("x", 0, 1)}}
	require.NoError(t, d.Validate())
	d.Version = Version + 1
	require.ErrorIs(t, d.Validate(), ErrInvalid)
	d.Version = Version
	d.Parameters[0].Name = Reserved
	require.ErrorContains(t, d.Validate(), "reserved")
}
