package prior

import (
	goparser "go/parser"
	"go/token"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/exp/ebnf"

	"github.com/functionspace/bo/internal/random"
)

// documentedGrammar returns the grammar in the doc comment of Parse.
func documentedGrammar(t *testing.T) ebnf.Grammar {
	file, err := goparser.ParseFile(token.NewFileSet(), "parse.go", nil, goparser.ParseComments)
	require.NoError(t, err)
	var lines []string
	for _, group := range file.Comments {
		if !strings.HasPrefix(group.Text(), "Parse returns ") {
			continue
		}
		for _, line := range strings.Split(group.Text(), "\n") {
			if strings.HasPrefix(line, "\t") {
				lines = append(lines, line)
			}
		}
	}
	grammar, err := ebnf.Parse("Parse", strings.NewReader(strings.Join(lines, "\n")))
	require.NoError(t, err)
	require.NoError(t, ebnf.Verify(grammar, "Expression"))
	return grammar
}

// sentence writes a random sentence of x. Options and repetitions are rarer at depth.
func sentence(b *strings.Builder, g ebnf.Grammar, x ebnf.Expression, depth int, rng *rand.Rand) {
	again := func(x ebnf.Expression) { sentence(b, g, x, depth+1, rng) }
	more := func() bool { return rng.IntN(4+depth) == 0 }
	switch x := x.(type) {
	case ebnf.Alternative:
		again(x[rng.IntN(len(x))])
	case ebnf.Sequence:
		for _, part := range x {
			again(part)
		}
	case *ebnf.Name:
		again(g[x.String].Expr)
		if rng.IntN(8) == 0 && strings.ToLower(x.String) != x.String {
			b.WriteByte(' ')
		}
	case *ebnf.Token:
		b.WriteString(x.String)
	case *ebnf.Range:
		from, to := x.Begin.String[0], x.End.String[0]
		b.WriteByte(from + byte(rng.IntN(int(to-from)+1)))
	case *ebnf.Group:
		again(x.Body)
	case *ebnf.Option:
		if more() {
			again(x.Body)
		}
	case *ebnf.Repetition:
		for more() {
			again(x.Body)
		}
	}
}

// semantic lists parts of the errors for sentences with meaningless numbers or
// combinations.
var semantic = []string{
	"is not a positive number", "the product of the constants", "has no argument", "takes no arguments", "is given twice",
	"is named twice", "is not a parameter", "counting starts at 0", "is a whole number from", "is one number", "values, want 1 or", "takes 3 inputs", "cannot be fixed",
}

// Parse accepts every sentence of the documented grammar or rejects it for its meaning.
func TestGrammarGeneratesExpressions(t *testing.T) {
	g, rng := documentedGrammar(t), random.New(1, "grammar", 0)
	read := 0
	for range 5000 {
		var b strings.Builder
		sentence(&b, g, g["Expression"].Expr, 0, rng)
		_, err := ParseNamed(b.String(), 4, []Input{{Name: "a", Columns: 1, Unit: 2}})
		if err == nil {
			read++
			continue
		}
		meaning := false
		for _, part := range semantic {
			meaning = meaning || strings.Contains(err.Error(), part)
		}
		require.True(t, meaning, "%q: %v", b.String(), err)
	}
	require.Greater(t, read, 1000)
}

// ends returns the positions at which a match of x that begins at a position in from
// can end.
func ends(g ebnf.Grammar, x ebnf.Expression, text string, from map[int]bool) map[int]bool {
	out := map[int]bool{}
	add := func(more map[int]bool) {
		for at := range more {
			out[at] = true
		}
	}
	switch x := x.(type) {
	case ebnf.Alternative:
		for _, a := range x {
			add(ends(g, a, text, from))
		}
	case ebnf.Sequence:
		out = from
		for _, part := range x {
			out = ends(g, part, text, out)
		}
	case *ebnf.Name:
		if len(from) > 0 {
			return ends(g, g[x.String].Expr, text, from)
		}
	case *ebnf.Token:
		for at := range from {
			if strings.HasPrefix(text[at:], x.String) {
				out[at+len(x.String)] = true
			}
		}
	case *ebnf.Range:
		for at := range from {
			if at < len(text) && text[at] >= x.Begin.String[0] && text[at] <= x.End.String[0] {
				out[at+1] = true
			}
		}
	case *ebnf.Group:
		return ends(g, x.Body, text, from)
	case *ebnf.Option:
		add(from)
		add(ends(g, x.Body, text, from))
	case *ebnf.Repetition:
		for next := from; len(next) > 0; next = ends(g, x.Body, text, next) {
			add(next)
		}
	}
	return out
}

// The texts of kernels are sentences of the documented grammar.
func TestKernelTextsFollowGrammar(t *testing.T) {
	g := documentedGrammar(t)
	for _, expr := range append([]string{
		"rbf(lengthscale=[1e-9,2,3e20]) * periodic(period=.5,ard=false) + 1e-300*white", "2*(linear[1]+variance*(rq(alpha=2)+constant))", "variance*(rbf)*3",
	}, expressions...) {
		text := parsed(t, expr, 3).String()
		require.True(t, ends(g, g["Expression"].Expr, text, map[int]bool{0: true})[len(text)], text)
	}
	for expr := range namedExpressions {
		k, err := ParseNamed(expr, namedDim, namedInputs)
		require.NoError(t, err)
		text := k.String()
		require.True(t, ends(g, g["Expression"].Expr, text, map[int]bool{0: true})[len(text)], text)
	}
	require.False(t, ends(g, g["Expression"].Expr, "rbf+", map[int]bool{0: true})[4])
	for _, name := range Names() {
		require.True(t, ends(g, g["Kernel"].Expr, name, map[int]bool{0: true})[len(name)], name)
	}
}
