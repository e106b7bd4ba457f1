// Package plaintext prepares text of users for tables and databases.
package plaintext

import (
	"maps"
	"slices"
	"strings"
)

// Clip returns text, or its first n-1 characters and an ellipsis if it has more than n.
func Clip(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:max(0, n-1)]) + "…"
	}
	return text
}

// Clean makes text valid UTF-8 without the character NUL, which PostgreSQL rejects.
func Clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
}

// Named writes texts by name as one text, such as "kind=a, saved=/runs/7". Empty texts are left out.
func Named(texts map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if texts[name] != "" {
			parts = append(parts, name+"="+texts[name])
		}
	}
	return strings.Join(parts, ", ")
}
