package didyoumean_test

import (
	"fmt"
	"testing"

	"github.com/functionspace/bo/internal/didyoumean"
)

func TestName(t *testing.T) {
	objectives := []string{"ackley", "branin", "hartmann3", "hartmann6", "levy", "six-hump-camel"}
	for _, c := range []struct{ got, want string }{
		{"brannin", "branin"},
		{"brnain", "branin"},
		{"BRANIN", "branin"},
		{"hartm", "hartmann3"},
		{"hartman6", "hartmann6"},
		{"six_hump_camel", "six-hump-camel"},
		{"lévy", "levy"},
		{"zzz", "levy"},
		{"", "levy"},
	} {
		if got := didyoumean.Name(c.got, objectives); got != c.want {
			t.Errorf("Name(%q) = %q, want %q", c.got, got, c.want)
		}
	}
	if got := didyoumean.Name("x", nil); got != "" {
		t.Errorf("no valid names: got %q", got)
	}
}

// A transposition is one edit: "ba" is nearer to "ab" than to "cad".
func TestTransposition(t *testing.T) {
	if got := didyoumean.Name("ba", []string{"cad", "ab"}); got != "ab" {
		t.Errorf("got %q, want ab", got)
	}
}

func TestHint(t *testing.T) {
	valid := []string{"gp", "levy", "gauss-newton", "min", "branin"}
	for got, want := range map[string]string{
		"gpp":     ": did you mean gp?",
		"minimum": ": did you mean min?",
		"brnain":  ": did you mean branin?",
		"br":      ": did you mean branin?",
		"zzz":     "; want one of gp, levy, gauss-newton, min, branin",
		"":        "; want one of gp, levy, gauss-newton, min, branin",
	} {
		if hint := didyoumean.Hint(got, valid); hint != want {
			t.Errorf("Hint(%q) = %q, want %q", got, hint, want)
		}
	}
	if got := didyoumean.Hint("zzz", make([]string, 21)); got != "" {
		t.Errorf("many valid names: got %q", got)
	}
}

func ExampleHint() {
	valid := []string{"branin", "hartmann6", "ackley"}
	fmt.Printf("unknown objective %q%s\n", "brannin", didyoumean.Hint("brannin", valid))
	// Output: unknown objective "brannin": did you mean branin?
}
