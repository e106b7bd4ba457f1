package docs_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every Example of a public package is a program that readers can copy: it uses exported names alone, and
// declarations of its own file.
func TestExamplesStandAlone(t *testing.T) {
	found := 0
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		case d.Name() == "internal" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..":
			return filepath.SkipDir
		}
		names, err := filepath.Glob(filepath.Join(path, "*_test.go"))
		require.NoError(t, err)
		files := map[string]*ast.File{}
		for _, name := range names {
			files[name], err = parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			require.NoError(t, err)
		}
		for name, f := range files {
			for _, e := range doc.Examples(f) {
				found++
				require.NotNil(t, e.Play, "%s: Example%s uses names of its package or of other files", name, e.Name)
				ast.Inspect(e.Play, func(n ast.Node) bool {
					id, ok := n.(*ast.Ident)
					for other, g := range files {
						declared := ok && slices.Contains(f.Unresolved, id) && g.Name.Name == f.Name.Name && g.Scope.Lookup(id.Name) != nil
						require.False(t, declared, "%s: Example%s uses %s of %s", name, e.Name, id, other)
					}
					return true
				})
			}
		}
		return nil
	}))
	require.Greater(t, found, 50)
}
