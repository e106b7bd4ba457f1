// Package didyoumean suggests valid names for a mistyped name.
package didyoumean

import "strings"

// Name returns the entry of valid closest to got, or "" if valid is empty. A
// name that got begins wins over all others ("hartm" means "hartmann6");
// otherwise the least Damerau–Levenshtein distance (adjacent transpositions
// count once) decides. Case, spaces, hyphens and underscores do not count, and the
// earlier entry wins ties. Cost: O(len(got)·Σ len(valid)).
func Name(got string, valid []string) string {
	best, least := "", -1
	g := fold(got)
	for _, v := range valid {
		w := fold(v)
		d := distance(g, w) + 1
		if len(g) > 1 && strings.HasPrefix(string(w), string(g)) {
			d = 0
		}
		if least < 0 || d < least {
			best, least = v, d
		}
	}
	return best
}

// maxListed is the number of valid names up to which Hint lists them all.
const maxListed = 20

// Hint returns the end of an error message about the unknown name got:
// ": did you mean NAME?" if a valid name is near got, otherwise "; want one of …" for up
// to 20 valid names, and "" for more.
func Hint(got string, valid []string) string {
	if best, ok := Near(got, valid); ok {
		return ": did you mean " + best + "?"
	}
	if n := len(valid); n > 0 && n <= maxListed {
		return "; want one of " + strings.Join(valid, ", ")
	}
	return ""
}

// Near returns the entry of valid closest to got, and whether it is near: got begins it, one
// contains the other (three letters or more), or at most a third of the letters differ.
func Near(got string, valid []string) (string, bool) {
	best := Name(got, valid)
	return best, best != "" && near(fold(got), fold(best))
}

func near(g, w []rune) bool {
	short, long := string(g), string(w)
	if len(g) > len(w) {
		short, long = long, short
	}
	return len(g) > 1 && strings.HasPrefix(string(w), string(g)) ||
		min(len(g), len(w)) >= 3 && strings.Contains(long, short) ||
		len(g) > 0 && distance(g, w) <= (max(len(g), len(w))+1)/3
}

func fold(s string) []rune {
	return []rune(strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(s)))
}

// distance returns the optimal string alignment distance.
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
