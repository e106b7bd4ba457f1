package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/functionspace/bo/internal/didyoumean"
)

// splitWords cuts a command line into words without a shell. Blanks separate
// words; single quotes keep everything between them; double quotes keep blanks,
// with \" and \\ for a quote and a backslash; outside quotes a backslash keeps
// the next blank, quote or backslash and otherwise stands for itself, so that
// C:\bin\prog needs no quoting. Nothing else is special: no variables, no globs.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	open, quote := false, rune(0)
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
			open = true
			i++
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			open, quote = true, r
		case strings.ContainsRune(" \t\r\n", r):
			if open {
				words = append(words, word.String())
				word.Reset()
			}
			open = false
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("--command: a %c is not closed", quote)
	}
	if open {
		words = append(words, word.String())
	}
	if len(words) == 0 {
		return nil, errors.New("--command is empty")
	}
	return words, nil
}

// A template is text with {name} placeholders; {{ and }} stand for braces.
type template struct {
	literal []string // one more than names
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
			return t, errors.New(`--command: a { without its }: write {{ for a brace`)
		}
		name := rest[:end]
		if !slices.Contains(valid, name) {
			return t, fmt.Errorf("--command: unknown placeholder {%s}: did you mean {%s}? (write {{ for a brace)", name, didyoumean.Name(name, valid))
		}
		t.literal = append(t.literal, literal.String())
		t.names = append(t.names, name)
		literal.Reset()
		rest = rest[end+1:]
	}
	t.literal = append(t.literal, literal.String())
	return t, nil
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

// shellQuote returns s so that a POSIX shell reads it as one word.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-+./:=@%,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
