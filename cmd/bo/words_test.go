package main

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/table"
	"github.com/functionspace/bo/study"
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
		{`'$HOME' * {a} #x`, []string{"$HOME", "*", "{a}", "#x"}},
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
	names := []string{"lr", "layers", "drop out rate"}
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
		"{rl}":     "--command: unknown placeholder {rl}: did you mean lr? (write {{ for a brace)",
		"{layer}":  "--command: unknown placeholder {layer}: did you mean layers? (write {{ for a brace)",
		"a{lr":     "--command: {lr has no } before the end of its argument: a placeholder is the name of a parameter in braces; write {{ for a brace",
		"{drop":    "--command: {drop out rate} is cut at its blank: quote the argument, as in '{drop out rate}'",
		"a}":       "--command: a } without its {: write }} for a brace",
		"${HOME}a": "--command: unknown placeholder {HOME}; want one of lr, layers, drop out rate (write {{ for a brace)",
	} {
		_, err := parseTemplate(text, names)
		require.EqualError(t, err, want)
	}
}

func TestShellSyntaxWithoutShell(t *testing.T) {
	for _, line := range []string{
		"OMP_NUM_THREADS=1 prog", "cd x && prog", "prog > out", "prog 2>&1", "prog <in", "prog | tail -1",
		"cd x; prog", "prog $HOME", "prog $(date)", "prog `date`", "prog &",
	} {
		_, err := splitWords(line)
		require.ErrorContains(t, err, "needs a shell: add --shell", line)
	}
	for _, line := range []string{"prog a=1 --x=2", "prog '>' \"&&\"", `prog \; x`, "prog '$HOME'", "prog 5$ a->b"} {
		_, err := splitWords(line)
		require.NoError(t, err, line)
	}
}

func TestInShell(t *testing.T) {
	for line, want := range map[string]string{
		"prog {o}; echo '{{}}'": `prog "${V}"; echo '{}'`,
		`a "b\"c" {o} 'it' {o}`: `a "b\"c" "${V}" 'it' "${V}"`,
	} {
		tm, err := parseTemplate(line, []string{"o"})
		require.NoError(t, err)
		got, err := tm.inShell(func(string) string { return "V" })
		require.NoError(t, err, line)
		require.Equal(t, strings.ReplaceAll(want, `"${V}"`, shellReference("V")), got)
	}
	for _, line := range []string{`prog "{o}"`, `prog '{o}'`, `prog "a {o}"`, `prog \{o}`, `prog 'a' "b {o}`, `prog $(({o} + 1))`} {
		tm, err := parseTemplate(line, []string{"o"})
		require.NoError(t, err)
		_, err = tm.inShell(func(string) string { return "V" })
		require.ErrorContains(t, err, "{o} is inside", line)
	}
}

func TestTail(t *testing.T) {
	for text, want := range map[string]struct {
		line  string
		whole bool
	}{
		"":                                    {"", true},
		"a\n 12 \n\n":                         {"12", true},
		strings.Repeat("x", 3*keep) + "\n5\n": {"5", true},
		"7\n" + strings.Repeat("1", 3*keep):   {strings.Repeat("1", keep), false},
		strings.Repeat("1", keep-1) + "\n":    {strings.Repeat("1", keep-1), true},
	} {
		var s tail
		for len(text) > 0 {
			n := min(len(text), 100_000)
			_, err := s.Write([]byte(text[:n]))
			require.NoError(t, err)
			text = text[n:]
		}
		line, whole := s.lastLine()
		require.Equal(t, want.whole, whole)
		if whole {
			require.Equal(t, want.line, line)
		}
	}
}

func TestBrief(t *testing.T) {
	require.Equal(t, "\"a\uFFFDb\"", brief("a\x00\x00\xff\x01b"))
	require.Equal(t, 83, utf8.RuneCountInString(brief(strings.Repeat("x", 200))))
}

// Quoted words are parsed to the same words, and no text causes a panic.
func FuzzWords(f *testing.F) {
	f.Add("prog --lr {lr}", "it's")
	f.Add(`a "b\" c' \`, "{{}")
	f.Add("A=b", "A=b")
	f.Add("a\\", "$(x) && y; |")
	f.Fuzz(func(t *testing.T, a, b string) {
		if utf8.ValidString(a) && utf8.ValidString(b) {
			quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'" }
			words, err := splitWords(quote(a) + " \t" + quote(b))
			require.NoError(t, err)
			require.Equal(t, []string{a, b}, words)
		}
		if text, err := json.Marshal(map[string]any{"parameters": []any{map[string]any{"name": "x", "type": "int", "min": 1, "max": 2}}, "command": []string{a, b}}); err == nil && utf8.ValidString(a) && utf8.ValidString(b) {
			if d, err := study.Parse(text); err == nil {
				words, err := splitWords(d.Command)
				require.NoError(t, err, d.Command)
				require.Equal(t, []string{a, b}, words)
			}
		}
		_, _ = splitWords(a)
		if tm, err := parseTemplate(a, []string{"lr"}); err == nil {
			tm.fill(func(string) string { return b })
		}
		if tb, err := table.Read("f", strings.NewReader(a)); err == nil {
			_, _ = tb.Numbers(tb.Header...)
		}
	})
}
