package main

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/store"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Name of the shell: bash, zsh or fish."`
}

func (completionCmd) Help() string {
	return `Prints a completion script. The script completes commands, flags, files, and the names of surrogates, acquisitions, objectives, kernels, settings and the studies of an SQLite store.

Examples:

    source <(bo completion bash)
    bo completion zsh > "${fpath[1]}/_bo"
    bo completion fish > ~/.config/fish/completions/bo.fish`
}

//go:embed completion
var completionScripts embed.FS

func (c completionCmd) Run(e *env) error {
	script, err := completionScripts.ReadFile("completion/bo." + c.Shell)
	if err != nil {
		return err
	}
	_, err = e.stdout.Write(script)
	return err
}

// completeWord is the hidden first argument with which the shell scripts request candidates.
const completeWord = "__complete"

// completeFiles is the candidate that stands for the names of files.
const completeFiles = ":files"

// printCandidates writes the completions of the last word of a line, one on a line, with
// a tab before the description.
func printCandidates(w io.Writer, root *kong.Node, line []string) error {
	var b strings.Builder
	for _, c := range complete(root, line) {
		b.WriteString(c.Name)
		if c.Summary != "" {
			b.WriteString("\t" + c.Summary)
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// complete returns the candidates for the last word of line that begin with it.
func complete(root *kong.Node, line []string) []catalog.Entry {
	if len(line) == 0 {
		line = []string{""}
	}
	before, word := line[:len(line)-1], line[len(line)-1]
	c := completer{node: root, values: map[string]string{}}
	for i := 0; i < len(before); i++ {
		i += c.take(before[i], before[i+1:])
	}
	var all []catalog.Entry
	prefix := ""
	switch name, value, joined := strings.Cut(word, "="); {
	case c.open != nil:
		all = c.valuesOf(c.open, word)
	case joined && strings.HasPrefix(word, "--"):
		if f := findFlag(c.node, name); f != nil {
			prefix = name + "="
			all = c.valuesOf(f.Value, value)
		}
	case strings.HasPrefix(word, "-"):
		all = c.flags()
	default:
		all = c.words(word)
	}
	var found []catalog.Entry
	for _, candidate := range all {
		candidate.Name = prefix + candidate.Name
		if candidate.Name == prefix+completeFiles {
			candidate.Name = completeFiles
		} else if !strings.HasPrefix(candidate.Name, word) {
			continue
		}
		found = append(found, candidate)
	}
	return found
}

// completer holds the state of a command line up to the word to complete.
type completer struct {
	node      *kong.Node
	values    map[string]string // values of flags and arguments, by name
	arguments int
	open      *kong.Value // flag whose value is the word to complete
}

// take reads a word and returns the number of following words that it uses.
func (c *completer) take(word string, next []string) int {
	if strings.HasPrefix(word, "-") && len(word) > 1 {
		name, value, joined := strings.Cut(word, "=")
		f := findFlag(c.node, name)
		switch {
		case f == nil || f.IsBool():
		case joined:
			c.values[f.Name] = value
		case len(next) == 0:
			c.open = f.Value
		default:
			c.values[f.Name] = next[0]
			return 1
		}
		return 0
	}
	for _, child := range c.node.Children {
		if child.Name == word {
			c.node = child
			return 0
		}
	}
	if c.arguments < len(c.node.Positional) {
		c.values[c.node.Positional[c.arguments].Name] = word
		c.arguments++
	}
	return 0
}

func (c *completer) flags() []catalog.Entry {
	var out []catalog.Entry
	for _, group := range c.node.AllFlags(true) {
		for _, f := range group {
			out = append(out, catalog.Entry{Name: "--" + f.Name, Summary: f.Help})
		}
	}
	return out
}

// words returns the commands or the values of the next positional argument.
func (c *completer) words(word string) []catalog.Entry {
	var out []catalog.Entry
	for _, child := range c.node.Children {
		if !child.Hidden {
			out = append(out, catalog.Entry{Name: child.Name, Summary: child.Help})
		}
	}
	if out == nil && c.arguments < len(c.node.Positional) {
		return c.valuesOf(c.node.Positional[c.arguments], word)
	}
	return out
}

// valuesOf returns the values of a flag or argument: the values of its enum tag, the names that
// its complete tag selects, or files.
func (c *completer) valuesOf(v *kong.Value, word string) []catalog.Entry {
	if v.Enum != "" {
		return named(v.EnumSlice())
	}
	kind := v.Tag.Get("complete")
	if kind == "described" {
		kind = c.values["what"] + "s"
	}
	switch kind {
	case "objectives":
		return named(benchmarks.Names())
	case "surrogates":
		return catalog.Surrogates()
	case "acquisitions":
		return catalog.Acquisitions()
	case "kernels":
		return named(prior.Names())
	case "settings":
		return c.settings(word)
	case "studies":
		return c.studies()
	}
	if holder := v.Tag.PlaceHolder; holder == "FILE" || holder == "DIR" {
		return []catalog.Entry{{Name: completeFiles}}
	}
	return nil
}

// settings returns KEY= for each setting of the chosen surrogate and acquisition, or the values
// of the setting that word names.
func (c *completer) settings(word string) []catalog.Entry {
	m, err := catalog.NewMethod(cmp.Or(c.chosen("surrogate"), catalog.Surrogates()[0].Name))
	if err != nil {
		return nil
	}
	if findFlag(c.node, "--acquisition") != nil {
		if err := m.Choose(cmp.Or(c.chosen("acquisition"), catalog.Acquisitions()[0].Name)); err != nil {
			return nil
		}
	}
	key, _, joined := strings.Cut(word, "=")
	var out []catalog.Entry
	for _, s := range m.Settings() {
		switch {
		case !joined:
			out = append(out, catalog.Entry{Name: s.Key + "=", Summary: s.Help})
		case s.Key == key:
			values := s.Values
			if s.Key == "kernel" {
				values = prior.Names()
			}
			for _, v := range values {
				out = append(out, catalog.Entry{Name: s.Key + "=" + v})
			}
		}
	}
	return out
}

// studies returns the names of the studies of an SQLite store that needs no upgrade. A server may take long to answer.
func (c *completer) studies() []catalog.Entry {
	f := storeFlags{Store: cmp.Or(c.values["store"], os.Getenv("BO_STORE"))}
	if checkStore(f.Store) != nil || isPostgres(f.Store) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if schema, err := f.inspect(&env{ctx: ctx}); err != nil || schema.Version != schema.Newest {
		return nil
	}
	var names []string
	_ = f.withStore(ctx, false, func(s *store.Store) error { // without an answer there are no candidates
		list, err := s.List(ctx)
		for _, l := range list {
			names = append(names, l.Name)
		}
		return err
	})
	return named(names)
}

// chosen returns the value of a flag on the line, or its default.
func (c *completer) chosen(flag string) string {
	if v, ok := c.values[flag]; ok {
		return v
	}
	if f := findFlag(c.node, "--"+flag); f != nil {
		return f.Default
	}
	return ""
}

func named(names []string) []catalog.Entry {
	out := make([]catalog.Entry, 0, len(names))
	for _, name := range slices.Sorted(slices.Values(names)) {
		out = append(out, catalog.Entry{Name: name})
	}
	return out
}

type manCmd struct{}

func (manCmd) Run(e *env, app *kong.Kong) error {
	_, err := fmt.Fprint(e.stdout, manPage(app.Model.Node))
	return err
}
