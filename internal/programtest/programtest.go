// Package programtest builds the programs of this module for tests that start them as processes.
package programtest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	mu    sync.Mutex
	built = map[string]string{}
)

// shown is the environment variable with which a test prints the path of a program that go run gives it.
const shown = "BO_TEST_SHOWN_PROGRAM"

func init() {
	if os.Getenv(shown) != "" && len(os.Args) == 2 {
		fmt.Println(os.Args[1])
		os.Exit(0)
	}
}

// Build returns the path of a program, which is linked once for the tests of all packages. The name is an import
// path or a relative path of its package. The file belongs to the build cache of Go and must not be changed.
//
// go run keeps the executable in the build cache, and -exec lets this test print its path instead of a run, on every
// system. The first call, which links, has a temporary path.
func Build(t testing.TB, name string) string {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	if path := built[name]; path != "" {
		return path
	}
	test, err := os.Executable()
	require.NoError(t, err)
	for range 2 {
		var messages strings.Builder
		cmd := exec.Command("go", "run", "-exec", "'"+test+"'", name)
		cmd.Env = append(os.Environ(), shown+"=1")
		cmd.Stderr = &messages
		out, err := cmd.Output()
		require.NoError(t, err, "%s", messages.String())
		path := strings.TrimSpace(string(out))
		if _, err := os.Stat(path); err == nil {
			built[name] = path
			return path
		}
	}
	require.Fail(t, "the build cache does not keep the program", name)
	return ""
}
