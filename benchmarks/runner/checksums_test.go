package runner

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// docs/benchmarks/data.md has the checksum of every file that a suite reads, and
// existing files agree with it.
func TestChecksums(t *testing.T) {
	text, err := os.ReadFile("../../docs/benchmarks/data.md")
	require.NoError(t, err)
	sums := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^([0-9a-f]{64})  (\S+)$`).FindAllStringSubmatch(string(text), -1) {
		sums[m[2]] = m[1]
	}
	for _, s := range Suites() {
		for _, d := range s.Datasets {
			if d.Read == nil && d.Draw == nil {
				assert.Contains(t, sums, d.folder()+"/data.csv")
				assert.Contains(t, sums, d.folder()+"/"+d.Splits)
			}
		}
	}
	for _, file := range []string{"mauna_loa_co2/monthly_noaa_1958_2017.csv", "gulf_drifters/train.csv", "gulf_drifters/test.csv"} {
		assert.Contains(t, sums, file)
	}
	const dir = "../../../shared/data"
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("no data: ", err)
	}
	for file, want := range sums {
		text, err := os.ReadFile(filepath.Join(dir, file))
		require.NoError(t, err)
		assert.Equal(t, want, fmt.Sprintf("%x", sha256.Sum256(text)), file)
	}
}
