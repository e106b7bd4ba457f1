package study

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The published schema is the output of bo schema.
func TestSchemaIsUpToDate(t *testing.T) {
	published, err := os.ReadFile("../docs/study.schema.json")
	require.NoError(t, err)
	require.Equal(t, string(Schema()), string(published), "run: go run ./cmd/bo schema > docs/study.schema.json")
}

// The schema has every key, with a description.
func TestSchemaKeys(t *testing.T) {
	var schema struct {
		Properties map[string]struct {
			Description string
			Minimum     *float64
			Maximum     *float64
			Enum        []string
		}
	}
	require.NoError(t, json.Unmarshal(Schema(), &schema))
	keys, _ := (&Definition{}).fields()
	require.Len(t, schema.Properties, len(keys))
	for _, key := range keys {
		require.NotEmpty(t, schema.Properties[key].Description, key)
	}
	require.Equal(t, float64(MaxCount), *schema.Properties["budget"].Maximum)
	require.Equal(t, 1.0, *schema.Properties["budget"].Minimum)
	require.Equal(t, []string{"auto", "none"}, schema.Properties["warp"].Enum)
}
