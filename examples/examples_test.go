package examples

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/programtest"
)

func TestExamples(t *testing.T) {
	watch(t)
	programs, err := filepath.Glob("*/main.go")
	require.NoError(t, err)

	// The expected output of each program, without times.
	want := map[string]string{
		"minimize":  `best +loss 0\.100  rate 0\.0030, 3 layers, adam`,
		"asktell":   `25 brews, \d+ spoilt\nbest: yield 80\.0 at 82 degrees for 35 minutes`,
		"parallel":  `same trials: true\nbest of 32: -3\.8\d \(the minimum is -3\.86\)`,
		"kernel":    `matern52 +median regret (\S+), worst \S+\nrbf\*periodic\[day\]\(period=1\) \+ linear +median regret (\S+), worst \S+`,
		"service":   `cancelled: true\nafter 30 trials: \d+ workers, queue of \d+, p99 (29|3[0-3]) ms, feasible with probability [01]\.\d\d`,
		"surrogate": `best of 30: 0\.[45]\d \(the minimum is 0\.40\)`,
	}
	require.Len(t, programs, len(want))
	for _, p := range programs {
		name := filepath.Dir(p)
		t.Run(name, func(t *testing.T) {
			text, err := exec.Command(programtest.Build(t, "./"+name)).CombinedOutput()
			require.NoError(t, err, "%s", text)
			found := regexp.MustCompile(`(?m)^` + want[name] + `$`).FindSubmatch(text)
			require.NotNil(t, found, "%s", text)
			if name == "kernel" {
				without, with := number(t, found[1]), number(t, found[2])
				require.Less(t, 10*with, without, "the belief does not help")
			}
		})
	}
}

// watch reads the folders of the module, so that a change of any file invalidates
// the cached result of the test. The cache does not record the files that other
// programs read.
func watch(t *testing.T) {
	require.NoError(t, filepath.WalkDir("..", func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" {
			return filepath.SkipDir
		}
		return err
	}))
}

func number(t *testing.T, text []byte) float64 {
	v, err := strconv.ParseFloat(string(text), 64)
	require.NoError(t, err)
	return v
}

// The user-defined surrogate has fewer than 50 lines of code.
func TestOwnSurrogateIsShort(t *testing.T) {
	text, err := os.ReadFile("surrogate/fourier.go")
	require.NoError(t, err)
	lines := 0
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			lines++
		}
	}
	require.Less(t, lines, 50)
}
