package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The program of research.md prints the text that follows it.
func TestResearchProgram(t *testing.T) {
	watch(t)
	page, err := os.ReadFile("research.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(page), "```go\n")
	require.True(t, found)
	program, rest, _ := strings.Cut(rest, "```\n")
	_, rest, found = strings.Cut(rest, "```text\n")
	require.True(t, found)
	want, _, _ := strings.Cut(rest, "```\n")
	file := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(file, []byte(program), 0o644))
	got, err := exec.Command("go", "run", file).CombinedOutput()
	require.NoError(t, err, "%s", got)
	require.Equal(t, want, string(got))
}
