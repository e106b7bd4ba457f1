// Package plaintext prepares text of users for tables and databases.
package plaintext

import "strings"

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
