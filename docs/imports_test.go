package docs_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/functionspace/bo"

// layers are the folders of the module from the bottom up. A package imports
// packages of lower layers and of its own folder.
var layers = [][]string{
	{"internal"},
	{"space", "prior"},
	{"surrogate"},
	{"acquisition"},
	{"loop", "catalog"},
	{"study"},
	{"store", "benchmarks"},
	{"cmd"},
}

// outer packages may read files and import more than the libraries do.
var outer = []string{"benchmarks/pages", "benchmarks/report", "benchmarks/runner", "cmd/bo", "docs", "examples", "internal/document", "internal/pgtest", "space/spacefile", "study/studyfile", "store"}

// libraries are the modules whose packages the others may import.
var libraries = []string{"gonum.org/v1/gonum", "golang.org/x/exp"}

type listed struct {
	Dir, ImportPath, Name  string
	GoFiles, Imports, Deps []string
	Standard               bool
	Module                 *struct{ Path string }
}

// list returns all packages of the module except generators of code, and their
// dependencies.
func list(t *testing.T) map[string]listed {
	watch(t)
	cmd := exec.Command("go", "list", "-deps", "-json=Dir,ImportPath,Name,GoFiles,Imports,Deps,Standard,Module", "./...")
	cmd.Dir = ".."
	text, err := cmd.Output()
	require.NoError(t, err)
	all := map[string]listed{}
	for dec := json.NewDecoder(strings.NewReader(string(text))); dec.More(); {
		var p listed
		require.NoError(t, dec.Decode(&p))
		if path, ok := inside(p.ImportPath); ok && p.Name == "main" && under(path, []string{"internal"}) {
			continue
		}
		all[p.ImportPath] = p
	}
	return all
}

// inside returns the path of a package below the module.
func inside(path string) (string, bool) { return strings.CutPrefix(path, module+"/") }

// under reports whether a package lies in one of the folders.
func under(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return path == f || strings.HasPrefix(path, f+"/") })
}

// layer returns the layer of a package and the folder there that holds it; the
// layer of other packages is -1.
func layer(path string) (level int, folder string) {
	for i, folders := range layers {
		for _, f := range folders {
			if under(path, []string{f}) {
				return i, f
			}
		}
	}
	return -1, ""
}

func TestImportsRunOneWay(t *testing.T) {
	for path, p := range list(t) {
		from, ok := inside(path)
		if !ok {
			continue
		}
		level, folder := layer(from)
		for _, i := range p.Imports {
			to, ok := inside(i)
			if !ok {
				continue
			}
			if under(from, []string{"docs", "examples"}) {
				require.False(t, under(to, []string{"internal"}), "%s imports %s: an example does what a user can", from, to)
				continue
			}
			require.GreaterOrEqual(t, level, 0, "%s is in no layer", from)
			other, otherFolder := layer(to)
			require.True(t, other < level || otherFolder == folder, "%s imports %s, which does not lie below it", from, to)
		}
	}
}

func TestLibrariesDependOnLittle(t *testing.T) {
	all := list(t)
	for path, p := range all {
		from, ok := inside(path)
		if !ok || under(from, outer) {
			continue
		}
		for _, d := range p.Deps {
			q := all[d]
			if q.Standard || q.Module != nil && (q.Module.Path == module || slices.Contains(libraries, q.Module.Path)) {
				continue
			}
			t.Errorf("%s depends on %s", from, d)
		}
	}
}

// Below loop nothing logs, prints, opens files or reads a clock. Environment
// variables may choose between kernels that compute the same.
func TestNothingBelowLoopLooksOutside(t *testing.T) {
	forbidden := []string{"log", "log/slog", "os/exec", "os/signal", "io/ioutil", "net", "net/http", "syscall"}
	calls := map[string][]string{
		"time": {"Now", "Since", "Until", "After", "AfterFunc", "Tick", "Sleep", "NewTimer", "NewTicker"},
		"fmt":  {"Print", "Printf", "Println"},
	}
	loop, _ := layer("loop")
	for path, p := range list(t) {
		from, ok := inside(path)
		level, _ := layer(from)
		if !ok || level < 0 || level >= loop || under(from, outer) {
			continue
		}
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, 0)
			require.NoError(t, err)
			for _, i := range file.Imports {
				what, err := strconv.Unquote(i.Path.Value)
				require.NoError(t, err)
				require.NotContains(t, forbidden, what, "%s/%s", from, name)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				x, ok := s.X.(*ast.Ident)
				if !ok {
					return true
				}
				if slices.Contains(calls[x.Name], s.Sel.Name) || x.Name == "os" && s.Sel.Name != "Getenv" {
					t.Errorf("%s/%s uses %s.%s", from, name, x.Name, s.Sel.Name)
				}
				return true
			})
		}
	}
}
