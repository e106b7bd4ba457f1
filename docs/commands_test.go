// Package docs_test tests the documents: it runs their commands, compiles their
// programs, follows their links and checks that imports obey CONTRIBUTING.md.
package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/prior"
)

// block is a fenced piece of a document: "```lang name".
type block struct {
	lang, name, text string
	line             int
}

// blocks returns the fenced blocks of a Markdown text.
func blocks(text string) []block {
	var all []block
	var open *block
	number := 0
	for line := range strings.Lines(text) {
		number++
		info, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && open == nil:
			lang, name, _ := strings.Cut(info, " ")
			open = &block{lang: lang, name: strings.TrimSpace(name), line: number}
		case fence:
			all = append(all, *open)
			open = nil
		case open != nil:
			open.text += line
		}
	}
	return all
}

// The test processes the blocks of a document in order, in one directory. A block
// with a name is a file of that name. A "sh" block is a script: the lines that
// begin with "go " run first, in the root of the module, then the others. A "go"
// block is a program to run. A "text" block that follows is the complete output; …
// stands for text that varies between runs, within a line or alone for lines.
func TestDocuments(t *testing.T) {
	watch(t)
	bin := t.TempDir() // shared: go install links the command once
	t.Setenv("GOBIN", bin)
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for _, path := range []string{"README.md", "docs/guide.md", "docs/deployment.md"} {
		t.Run(path, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("..", path))
			require.NoError(t, err)
			run(t, path, blocks(string(text)))
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

func run(t *testing.T, path string, all []block) {
	dir := t.TempDir()
	var printed string
	var ran bool
	for _, b := range all {
		where := fmt.Sprintf("%s:%d", path, b.line)
		switch {
		case b.name != "":
			require.NoError(t, os.WriteFile(filepath.Join(dir, b.name), []byte(b.text), 0o644), where)
		case b.lang == "sh":
			inRoot, rest := split(b.text)
			printed, ran = "", inRoot != "" || rest != ""
			for _, s := range []struct{ dir, script string }{{"..", inRoot}, {dir, rest}} {
				if s.script != "" {
					printed += output(t, where, s.dir, "sh", "-e", "-c", s.script)
				}
			}
		case b.lang == "go":
			file := filepath.Join(t.TempDir(), "main.go")
			require.NoError(t, os.WriteFile(file, []byte(b.text), 0o644), where)
			printed, ran = output(t, where, "..", "go", "run", file), true
		case b.lang == "text" && ran:
			require.Regexp(t, pattern(b.text), printed, where)
		case b.lang == "text":
		default:
			t.Errorf("%s: a %q block without a name", where, b.lang)
		}
	}
}

// split separates the commands of the Go tool from the others. It omits the
// command that runs this test and, in a short run, the slowest command.
func split(script string) (inRoot, rest string) {
	for line := range strings.Lines(script) {
		switch {
		case line == "go test ./...\n":
		case testing.Short() && strings.HasPrefix(line, "go run"):
		case strings.HasPrefix(line, "go "):
			inRoot += line
		default:
			rest += line
		}
	}
	return inRoot, rest
}

func output(t *testing.T, where, dir, name string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s: %s", where, text)
	return string(text)
}

// pattern turns an expected output into a regular expression for all of it.
func pattern(text string) *regexp.Regexp {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line == "…\n" {
			b.WriteString(`(.*\n)*`)
			continue
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*"))
	}
	return regexp.MustCompile(`^` + b.String() + `$`)
}

// Every kernel in the guide is a valid expression.
func TestKernelsOfTheGuide(t *testing.T) {
	text, err := os.ReadFile("guide.md")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), "| you believe that the function | write |\n")
	table, _, _ := strings.Cut(rest, "\n\n")
	kernels := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(table, -1)
	require.Greater(t, len(kernels), 10)
	for _, k := range kernels {
		if _, err := prior.Parse(k[1], 2); err != nil {
			_, err = prior.Parse(k[1], 3)
			require.NoError(t, err)
		}
	}
}

// Links between the documents lead to files and headings that exist.
func TestLinks(t *testing.T) {
	link, code := regexp.MustCompile(`\]\(([^)#]*)(?:#([^)]*))?\)`), regexp.MustCompile("(?s:```.*?```)|`[^`\n]*`")
	for _, path := range documents(t) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(string(text), "code"), -1) {
			target := path
			switch {
			case strings.Contains(m[1], "://"):
				continue
			case m[1] != "":
				target = filepath.Join(filepath.Dir(path), m[1])
			}
			_, err := os.Stat(target)
			require.NoError(t, err, "link in %s", path)
			if m[2] != "" {
				require.Contains(t, anchors(t, target), m[2], "link to %s in %s", m[1], path)
			}
		}
	}
}

// anchors returns the names by which links refer to places of a document.
func anchors(t *testing.T, path string) []string {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	dropped := regexp.MustCompile(`\]\([^)]*\)|[^\p{L}\p{N}_ -]`)
	place := regexp.MustCompile(`(?m)^#+ (.*)$|<a id="([^"]*)">`)
	var all []string
	for _, m := range place.FindAllStringSubmatch(string(text), -1) {
		heading := dropped.ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, strings.ReplaceAll(heading, " ", "-")+m[2])
	}
	return all
}

// documents returns all Markdown files of the repository.
func documents(t *testing.T) []string {
	var all []string
	for _, glob := range []string{"../*.md", "../benchmarks/*/*.md", "*.md", "*/*.md", "*/*/*.md"} {
		found, err := filepath.Glob(glob)
		require.NoError(t, err)
		all = append(all, found...)
	}
	return all
}
