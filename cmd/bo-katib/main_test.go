package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{"--help"}, 0, "", "usage: bo-katib"},
		{[]string{"--port", "1"}, 2, "", "not defined: -port"},
		{[]string{"serve"}, 2, "", `bo-katib: unexpected argument "serve"`},
		{[]string{"--log", "xml"}, 2, "", `bo-katib: --log is "xml", want text or json`},
		{[]string{"--listen", "nowhere"}, 1, "", "bo-katib: listen tcp: address nowhere: missing port in address"},
		{[]string{"--listen", "127.0.0.1:0", "--log", "json", "--quiet"}, 0, "serving suggestions for Katib on 127.0.0.1:", ""},
	} {
		ctx, stop := context.WithCancel(t.Context())
		stop() // the command ends as soon as it serves
		var stdout, stderr bytes.Buffer
		code := run(ctx, c.args, &stdout, &stderr)
		require.Equal(t, c.code, code, "%v: %s", c.args, stderr.String())
		require.Contains(t, stdout.String(), c.stdout)
		require.Contains(t, stderr.String(), c.stderr)
	}
}
