package runner

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

// Machine describes the computer of a run and its parallelism.
type Machine struct {
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	CPU     string `json:"cpu,omitempty"`
	Cores   int    `json:"cores"`
	Threads int    `json:"threads"` // GOMAXPROCS
	Workers int    `json:"workers"` // runs at the same time
	Go      string `json:"go"`
}

// ThisMachine describes this machine with a number of workers.
func ThisMachine(workers int) Machine {
	return Machine{
		OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: cpuModel(), Cores: runtime.NumCPU(), Threads: runtime.GOMAXPROCS(0),
		Workers: workers, Go: runtime.Version(),
	}
}

// cpuModel returns the model name of the processor on Linux, otherwise an empty
// string.
func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Version returns version and commit of this program, as far as known. Under go run the build
// information has no commit. Version then returns the commit of the working directory's checkout,
// provided that the checkout is the program's module. A program built without a commit has none: the checkout
// may have changed since.
func Version() (version, commit string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", ""
	}
	dirty := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	if commit != "" {
		return info.Main.Version, commit + dirty
	}
	if file, err := os.Executable(); err != nil || !strings.Contains(file, string(filepath.Separator)+"go-build") {
		return info.Main.Version, ""
	}
	return info.Main.Version, checkout(info.Main.Path)
}

func checkout(module string) string {
	git := func(args ...string) string {
		out, err := exec.Command("git", args...).Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	mod, err := os.ReadFile(filepath.Join(git("rev-parse", "--show-toplevel"), "go.mod"))
	if first, _, _ := strings.Cut(string(mod), "\n"); err != nil || module == "" || strings.TrimSpace(first) != "module "+module {
		return ""
	}
	return strings.Replace(git("describe", "--always", "--abbrev=12", "--exclude=*", "--dirty"), "-dirty", "+changes", 1)
}
