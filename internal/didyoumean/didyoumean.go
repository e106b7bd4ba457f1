// Package didyoumean finds the valid name that a mistyped one most likely meant.
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

func fold(s string) []rune {
	return []rune(strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(s)))
}

// distance is the optimal string alignment distance.
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
