package suites

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks/report"
)

func TestPlots(t *testing.T) {
	r, err := report.New(records(), "")
	require.NoError(t, err)
	r.Problems = r.Problems[:1]
	dir := filepath.Join(t.TempDir(), "plots")
	paths, err := Plots(r, dir)
	require.NoError(t, err)
	var names []string
	for _, path := range paths {
		names = append(names, filepath.Base(path))
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if strings.HasSuffix(path, ".png") {
			image, err := png.Decode(bytes.NewReader(text))
			require.NoError(t, err, path)
			assert.Greater(t, image.Bounds().Dx(), 800)
			continue
		}
		for _, method := range []string{">a<", ">b<", ">sobol<"} {
			assert.Contains(t, string(text), method, path)
		}
	}
	assert.Equal(t, "f.png f.svg regret.png regret.svg profile.png profile.svg seconds.png seconds.svg", strings.Join(names, " "))
}
