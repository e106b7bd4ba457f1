package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A terminal obeys no text of a program or a user.
func TestCopyPrintable(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"loss 0.5\n\tfür μ\n\nno end", "loss 0.5\n\tfür μ\n\nno end"},
		{"of Windows\r\n", "of Windows\n"},
		{"10 %\r20 %\n", `10 %\r20 %` + "\n"},
		{"\x1b]0;title\a\x1b[31mred\u009b0m\x7f\n", `\x1b]0;title\a\x1b[31mred\u009b0m\x7f` + "\n"},
		{"no UTF-8: \x9b\n", "no UTF-8: \ufffd\n"},
	} {
		var b strings.Builder
		require.NoError(t, copyPrintable(&b, strings.NewReader(c.text)))
		require.Equal(t, c.want, b.String())
	}
}
