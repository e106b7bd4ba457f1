package docs_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/functionspace/bo"

// layers are the folders of the module from the bottom up. A package belongs to the
// folder with the longest path that holds it. It imports packages of lower layers and of
// its own folder.
var layers = [][]string{
	{"internal"},
	{"space", "prior"},
	{"surrogate"},
	{"acquisition"},
	{"loop", "catalog"},
	{"study", "benchmarks", "insight"}, // the last libraries
	{"internal/filelock"},              // for programs that write files
	{"study/studyfile", "store", "benchmarks/runner", "api"},
	{"benchmarks/features", "benchmarks/report", "benchmarks/stopping", "insight/insighttest", "insight/plot", "insight/report"},
	{"benchmarks/pages", "server"},
	{"cmd", "deploy"},
	{"docs", "examples", "python"},
}

// modules hold the packages that libraries may import beside the standard library.
var modules = []string{module, "gonum.org/v1/gonum", "golang.org/x/exp"}

// expressions is the module that only package space/expression imports.
const expressions = "github.com/expr-lang/expr"

type listed struct {
	Dir, ImportPath, Name  string
	GoFiles, Imports, Deps []string
	Standard               bool
	Module                 *struct{ Path string }
}

// list returns all packages of the module and their dependencies.
func list(t *testing.T) map[string]listed {
	watch(t)
	all, err := listOnce()
	require.NoError(t, err)
	return all
}

var listOnce = sync.OnceValues(func() (map[string]listed, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=Dir,ImportPath,Name,GoFiles,Imports,Deps,Standard,Module", "./...")
	cmd.Dir = ".."
	text, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	all := map[string]listed{}
	for dec := json.NewDecoder(bytes.NewReader(text)); dec.More(); {
		var p listed
		if err := dec.Decode(&p); err != nil {
			return nil, err
		}
		all[p.ImportPath] = p
	}
	return all, nil
})

// librariesTo returns the paths, below the module, of the packages in the layers up to the
// layer of a folder. Neither programs are libraries, nor internal packages that only tests import.
func librariesTo(folder string, all map[string]listed) []string {
	top, _ := layer(folder)
	imported := map[string]bool{}
	for _, p := range all {
		for _, i := range p.Imports {
			imported[i] = true
		}
	}
	var paths []string
	for path, p := range all {
		from, ok := inside(path)
		if ok && p.Name != "main" && (imported[path] || !strings.Contains(path, "/internal/")) {
			if level, _ := layer(from); level <= top {
				paths = append(paths, from)
			}
		}
	}
	return paths
}

// inside returns the path of a package below the module.
func inside(path string) (string, bool) { return strings.CutPrefix(path, module+"/") }

// layer returns the layer of a package and the folder there that holds it, or -1.
func layer(path string) (level int, folder string) {
	level = -1
	for i, folders := range layers {
		for _, f := range folders {
			if (path == f || strings.HasPrefix(path, f+"/")) && len(f) > len(folder) {
				level, folder = i, f
			}
		}
	}
	return level, folder
}

func TestImportsRunOneWay(t *testing.T) {
	for path, p := range list(t) {
		from, ok := inside(path)
		if !ok {
			continue
		}
		level, folder := layer(from)
		require.GreaterOrEqual(t, level, 0, "%s is in no layer", from)
		for _, i := range p.Imports {
			to, ok := inside(i)
			if !ok {
				continue
			}
			other, otherFolder := layer(to)
			require.True(t, other < level || otherFolder == folder, "%s imports %s, which does not lie below it", from, to)
			if folder == "docs" || folder == "examples" {
				require.NotEqual(t, "internal", otherFolder, "%s imports %s: an example does what a user can", from, to)
			}
		}
	}
}

func TestLibrariesDependOnLittle(t *testing.T) {
	all := list(t)
	for _, from := range librariesTo("study", all) {
		for _, d := range all[module+"/"+from].Deps {
			q := all[d]
			allowed := q.Standard || q.Module != nil && (slices.Contains(modules, q.Module.Path) || q.Module.Path == expressions && slices.Contains([]string{"space/expression", "study"}, from))
			require.True(t, allowed, "%s depends on %s", from, d)
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
	all := list(t)
	for _, from := range librariesTo("acquisition", all) {
		p := all[module+"/"+from]
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
