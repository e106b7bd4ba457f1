package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

type versionCmd struct{}

func (versionCmd) Run(e *env) error {
	_, err := fmt.Fprintln(e.stdout, version())
	return err
}

type versionFlag bool

func (versionFlag) BeforeReset(app *kong.Kong, e *env) error {
	fmt.Fprintln(e.stdout, version())
	app.Exit(0)
	return nil
}

// version returns version, commit, toolchain and platform, from the build information.
func version() string {
	name, revision, changed := "(devel)", "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if v := info.Main.Version; v != "" {
			name = v
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = " " + s.Value[:min(12, len(s.Value))]
			case s.Key == "vcs.modified" && s.Value == "true":
				changed = "+changes"
			}
		}
	}
	return fmt.Sprintf("bo %s%s%s %s %s/%s", name, revision, changed, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
