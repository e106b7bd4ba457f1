package main

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Names of classes keep their text, quoted if CSV requires it, and numbers are
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
