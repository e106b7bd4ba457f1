package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestSplitWords(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{`prog --lr {lr}`, []string{"prog", "--lr", "{lr}"}},
		{"  a\tb \n c ", []string{"a", "b", "c"}},
		{`'a b' "c d" e\ f`, []string{"a b", "c d", "e f"}},
		{`x'y'"z"`, []string{"xyz"}},
		{`'' ""`, []string{"", ""}},
		{`"say \"hi\" \n C:\\x"`, []string{`say "hi" \n C:\x`}},
		{`'a\b' C:\bin\prog \'`, []string{`a\b`, `C:\bin\prog`, `'`}},
		{`$HOME * {a} #x`, []string{"$HOME", "*", "{a}", "#x"}},
		{`été "à b"`, []string{"été", "à b"}},
		{`end\`, []string{`end\`}},
	} {
		got, err := splitWords(c.line)
		require.NoError(t, err, c.line)
		require.Equal(t, c.want, got, c.line)
	}
	for line, want := range map[string]string{
		`a 'b`: "--command: a ' is not closed",
		`a "b`: `--command: a " is not closed`,
		" \t ": "--command is empty",
	} {
		_, err := splitWords(line)
		require.EqualError(t, err, want)
	}
}

func TestTemplate(t *testing.T) {
	names := []string{"lr", "layers"}
	value := func(name string) string { return "<" + name + ">" }
	for text, want := range map[string]string{
		"":                     "",
		"plain":                "plain",
		"{lr}":                 "<lr>",
		"--a={lr},{layers}!":   "--a=<lr>,<layers>!",
		"{{lr}} {{{lr}}} }}{{": "{lr} {<lr>} }{",
	} {
		tm, err := parseTemplate(text, names)
		require.NoError(t, err, text)
		require.Equal(t, want, tm.fill(value), text)
	}
	for text, want := range map[string]string{
		"{rl}":     "--command: unknown placeholder {rl}: did you mean {lr}? (write {{ for a brace)",
		"{layer}":  "--command: unknown placeholder {layer}: did you mean {layers}? (write {{ for a brace)",
		"a{lr":     "--command: a { without its }: write {{ for a brace",
		"a}":       "--command: a } without its {: write }} for a brace",
		"${HOME}a": "--command: unknown placeholder {HOME}: did you mean {lr}? (write {{ for a brace)",
	} {
		_, err := parseTemplate(text, names)
		require.EqualError(t, err, want)
	}
}

func TestShellQuote(t *testing.T) {
	require.Equal(t, "1e-05", shellQuote("1e-05"))
	require.Equal(t, "''", shellQuote(""))
	require.Equal(t, `'a b;$(rm)'`, shellQuote("a b;$(rm)"))
	require.Equal(t, `'it'\''s'`, shellQuote("it's"))
}

// Any words come back once each is quoted, and no text makes the readers panic.
func FuzzWords(f *testing.F) {
	f.Add("prog --lr {lr}", "it's")
	f.Add(`a "b\" c' \`, "{{}")
	f.Fuzz(func(t *testing.T, a, b string) {
		if utf8.ValidString(a) && utf8.ValidString(b) {
			quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'" }
			words, err := splitWords(quote(a) + " \t" + quote(b))
			require.NoError(t, err)
			require.Equal(t, []string{a, b}, words)
		}
		_, _ = splitWords(a)
		if tm, err := parseTemplate(a, []string{"lr"}); err == nil {
			tm.fill(func(string) string { return b })
		}
		if tb, err := readTable("f", strings.NewReader(a)); err == nil {
			_, _ = tb.numbers(tb.header)
		}
	})
}
