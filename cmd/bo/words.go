package main

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/functionspace/bo/internal/didyoumean"
)

// splitWords splits a command line into words without a shell. Blanks separate words.
// Single quotes group everything between them. Double quotes group blanks; in them \" and
// \\ stand for a quote and a backslash. Outside quotes a backslash keeps the next blank,
// quote or backslash, and otherwise stands for itself: C:\bin\prog needs no quotes. Variables
// and globs are not expanded. A word with shell syntax outside quotes is an error.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	open, bare, quote := false, true, rune(0)
	end := func() error {
		defer func() { open, bare = false, true; word.Reset() }()
		if open && bare && shellSyntax(word.String(), len(words) == 0) {
			return fmt.Errorf("--command: %q needs a shell: add --shell, or quote it", word.String())
		}
		if open {
			words = append(words, word.String())
		}
		return nil
	}
	runes := []rune(line)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		next := rune(0)
		if i+1 < len(runes) {
			next = runes[i+1]
		}
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case r == '\\' && quote == '"' && strings.ContainsRune(`"\`, next),
			r == '\\' && quote == 0 && strings.ContainsRune(" \t\n'\"\\", next):
			word.WriteRune(next)
			open, bare = true, false
			i++
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			open, bare, quote = true, false, r
		case strings.ContainsRune(" \t\r\n", r):
			if err := end(); err != nil {
				return nil, err
			}
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("--command: a %c is not closed", quote)
	}
	if err := end(); err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, errors.New("--command is empty")
	}
	return words, nil
}

var (
	assignment  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	redirection = regexp.MustCompile(`^[0-9&]?[<>]`)
	expansion   = regexp.MustCompile(`\$[A-Za-z_(]|` + "`" + `|[^\\];$`)
)

// shellSyntax reports whether an unquoted word has a special meaning in a shell: an
// assignment before the program, an operator, a redirection, or an expansion.
func shellSyntax(word string, first bool) bool {
	return first && assignment.MatchString(word) ||
		slices.Contains([]string{"&&", "||", "|", ";", "&"}, word) ||
		redirection.MatchString(word) || expansion.MatchString(word)
}

// template is text with {name} placeholders; {{ and }} stand for braces.
type template struct {
	literal []string // texts before, between and after the placeholders
	names   []string
}

func parseTemplate(text string, valid []string) (template, error) {
	var t template
	var literal strings.Builder
	for rest := text; rest != ""; {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			literal.WriteString(rest)
			break
		}
		literal.WriteString(rest[:i])
		brace := rest[i]
		rest = rest[i+1:]
		if rest != "" && rest[0] == brace {
			literal.WriteByte(brace)
			rest = rest[1:]
			continue
		}
		if brace == '}' {
			return t, errors.New(`--command: a } without its {: write }} for a brace`)
		}
		end := strings.IndexByte(rest, '}')
		if end < 0 {
			return t, unclosed(rest, valid)
		}
		name := rest[:end]
		if !slices.Contains(valid, name) {
			return t, fmt.Errorf("--command: unknown placeholder {%s}%s (write {{ for a brace)", name, didyoumean.Hint(name, valid))
		}
		t.literal = append(t.literal, literal.String())
		t.names = append(t.names, name)
		literal.Reset()
		rest = rest[end+1:]
	}
	t.literal = append(t.literal, literal.String())
	return t, nil
}

// unclosed returns the error for an argument with a { and no } after it. A placeholder with a blank, which
// separates arguments, needs quotes.
func unclosed(rest string, valid []string) error {
	for _, name := range valid {
		if strings.HasPrefix(name, rest+" ") {
			return fmt.Errorf("--command: {%s} is cut at its blank: quote the argument, as in '{%[1]s}'", name)
		}
	}
	return fmt.Errorf("--command: {%s has no } before the end of its argument: a placeholder is the name of a parameter in braces; write {{ for a brace", rest)
}

func (t template) fill(value func(name string) string) string {
	var b strings.Builder
	for i, name := range t.names {
		b.WriteString(t.literal[i])
		b.WriteString(value(name))
	}
	b.WriteString(t.literal[len(t.literal)-1])
	return b.String()
}

// inShell returns the command line for the shell: each placeholder becomes a reference to the
// environment variable that variable names for it. A shell does not parse the value of a
// variable, so no value can run code. Placeholders inside quotes and arithmetic are refused.
func (t template) inShell(variable func(name string) string) (string, error) {
	var b strings.Builder
	quote := rune(0)
	for i, name := range t.names {
		quote = quoteAfter(t.literal[i], quote)
		b.WriteString(t.literal[i])
		before := b.String()
		if quote != 0 {
			return "", fmt.Errorf("--command: {%s} is inside quotes: with --shell a placeholder stands outside quotes, and its value stays one word", name)
		}
		if strings.LastIndex(before, "((") > strings.LastIndex(before, "))") {
			return "", fmt.Errorf("--command: {%s} is inside arithmetic, where a shell would run the value as code", name)
		}
		b.WriteString(shellReference(variable(name)))
	}
	b.WriteString(t.literal[len(t.literal)-1])
	return b.String(), nil
}

// quoteAfter returns the quote that is open after text, or 0, given the quote open before it.
func quoteAfter(text string, quote rune) rune {
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			escaped = false
		case r == '\\' && quote != '\'':
			escaped = true
		case r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		}
	}
	if escaped {
		return '\\'
	}
	return quote
}

// shellReference expands a variable to one word. cmd expands !NAME! after it has parsed the line.
func shellReference(name string) string {
	if runtime.GOOS == "windows" {
		return "!" + name + "!"
	}
	return `"${` + name + `}"`
}
