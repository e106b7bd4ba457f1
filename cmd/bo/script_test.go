package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/functionspace/bo/internal/racetest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"bo":        main,
		"bo-hasty":  func() { stopTime, waitNotice = 300*time.Millisecond, 0; main() },
		"objective": objectiveMain,
	})
}

func TestScripts(t *testing.T) {
	// Programs inherit an ignored hangup, as under nohup, but not a handled one.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			moons, err := filepath.Abs("../../testdata/moons")
			if err != nil {
				return err
			}
			e.Setenv("MOONS", moons)
			studies, err := filepath.Abs("../../insight/insighttest/testdata")
			if err != nil {
				return err
			}
			e.Setenv("STUDIES", studies)
			// Programs built with -race otherwise sleep a second before they exit.
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":      exits,
			"sameresult": sameResult,
			"still":      still,
		},
		// Under the race detector scripts keep the commands with goroutines that no other command has.
		Condition: func(name string) (bool, error) {
			if name != "race" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return racetest.Enabled && testing.Short(), nil
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// exits CODE command… runs a command that must end with CODE and leave no stack
// trace.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE command…")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
	if text := ts.ReadFile("stderr"); strings.Contains(text, "goroutine ") || strings.Contains(text, "internal error") {
		ts.Fatalf("a stack trace")
	}
}

// sameresult FILE1 FILE2 compares two outputs of run --json except the elapsed
// time.
func sameResult(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: sameresult FILE1 FILE2")
	}
	var text [2]string
	for i, name := range args {
		var result map[string]any
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(name)), &result))
		if e, ok := result["elapsed_s"].(float64); !ok || e < 0 {
			ts.Fatalf("%s: elapsed_s is %v", name, result["elapsed_s"])
		}
		delete(result, "elapsed_s")
		b, err := json.Marshal(result)
		ts.Check(err)
		text[i] = string(b)
	}
	if same := text[0] == text[1]; same == neg {
		ts.Fatalf("%s\n%s", text[0], text[1])
	}
}

// still FILE fails if the file grows.
func still(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: still FILE")
	}
	before := ts.ReadFile(args[0])
	time.Sleep(100 * time.Millisecond)
	if before == "" || ts.ReadFile(args[0]) != before {
		ts.Fatalf("%s is empty or grows", args[0])
	}
}

// objectiveMain is the program of the scripts: objective MODE [ARGS].
func objectiveMain() {
	arg := func(i int) float64 {
		x, err := strconv.ParseFloat(os.Args[i], 64)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(9)
		}
		return x
	}
	switch os.Args[1] {
	case "bowl": // bowl X Y: minimum 0 at (0.3, -0.2)
		fmt.Println("some chatter")
		fmt.Println(math.Hypot(arg(2)-0.3, arg(3)+0.2))
		fmt.Println()
	case "opts": // opts NAME LAYERS: least for sgd with 3 layers; as JSON
		cost := map[string]float64{"adam": 1, "sgd": 0, "rms prop": 2}[os.Args[2]]
		fmt.Printf("{\"status\": \"ok\", \"value\": %g}\n", cost+math.Abs(arg(3)-3))
	case "stdin": // reads the parameters, x only, as JSON
		var p struct{ X float64 }
		if err := json.NewDecoder(os.Stdin).Decode(&p); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(p.X * p.X)
	case "env": // env TRIAL STUDY ATTEMPT: prints the variables that name the trial
		var p struct {
			Bo struct {
				Study          string
				Trial, Attempt int
			}
		}
		if err := json.NewDecoder(os.Stdin).Decode(&p); err != nil {
			os.Exit(1)
		}
		fmt.Println(os.Args[2], os.Args[3], os.Args[4], "BO_STUDY="+os.Getenv("BO_STUDY"), "BO_TRIAL="+os.Getenv("BO_TRIAL"),
			"BO_ATTEMPT="+os.Getenv("BO_ATTEMPT"), "BO_STORE="+os.Getenv("BO_STORE"), fmt.Sprintf("input=%d %s %d", p.Bo.Trial, p.Bo.Study, p.Bo.Attempt))
		fmt.Println(1)
	case "digits": // 25 MB of digits on one line
		for range 25 {
			os.Stdout.WriteString(strings.Repeat("1", 1e6))
		}
	case "binary": // fails with unprintable bytes on stderr
		os.Stderr.WriteString("\x7fELF" + strings.Repeat("\x00", 500))
		os.Exit(3)
	case "deaf": // closes its input unread
		os.Stdin.Close()
		fmt.Println(arg(2))
	case "some": // some X: fails where x > 0.5
		if arg(2) > 0.5 {
			fmt.Fprintln(os.Stderr, "loading")
			fmt.Fprintln(os.Stderr, "out of memory")
			os.Exit(3)
		}
		fmt.Println(arg(2))
	case "print": // print TEXT
		fmt.Println(os.Args[2])
	case "sum": // sum WORDS: sum of |x - 0.3| over the numbers, and 1 for each word false
		var sum float64
		for _, w := range os.Args[2:] {
			if x, err := strconv.ParseFloat(w, 64); err == nil {
				sum += math.Abs(x - 0.3)
			} else if w == "false" {
				sum++
			}
		}
		fmt.Println(sum)
	case "tree": // tree ARGS: fails unless ARGS and the input have --momentum and decay= exactly for sgd
		var p map[string]any
		if err := json.NewDecoder(os.Stdin).Decode(&p); err != nil {
			os.Exit(1)
		}
		args := strings.Join(os.Args[2:], " ")
		for name, flag := range map[string]string{"momentum": fmt.Sprint("--momentum ", p["momentum"]), "decay": fmt.Sprint("decay=", p["decay"])} {
			if _, ok := p[name]; ok != (p["opt"] == "sgd") || ok != strings.Contains(args, flag) || !ok && strings.Contains(args, name) {
				fmt.Fprintln(os.Stderr, args, p)
				os.Exit(7)
			}
		}
		value := p["layers"].(float64) * p["width"].(float64) / 4096
		if p["opt"] == "sgd" {
			value += p["momentum"].(float64)
		}
		fmt.Println(value)
	case "huge": // huge X: values of size 1e12
		fmt.Println(-1e12 * arg(2))
	case "newer": // newer FILE: writes the next version of the schema to a store
		change(os.Args[2], "INSERT INTO bo_schema (version_id, is_applied) SELECT MAX(version_id) + 1, 1 FROM bo_schema")
	case "tomorrow": // tomorrow FILE STUDY: writes the next version to the definition of a study
		change(os.Args[2], `UPDATE studies SET definition = replace(definition, '"version":1', '"version":2') WHERE name = ?`, os.Args[3])
	case "rows": // rows N FILE: a table of N evaluations of one parameter
		text := "x,loss\n"
		for k := range int(arg(2)) {
			x := (float64(k) + 0.5) / arg(2)
			text += fmt.Sprintf("%g,%g\n", x, math.Sin(9*x))
		}
		if err := os.WriteFile(os.Args[3], []byte(text), 0o644); err != nil {
			os.Exit(1)
		}
	case "nothing":
	default:
		processMain(arg)
	}
}

// change executes a statement on a store file.
func change(file, statement string, args ...any) {
	db, err := sql.Open("sqlite", file)
	if err == nil {
		_, err = db.Exec(statement, args...)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// processMain runs the objectives whose processes hang, have children, write without end
// or send signals.
func processMain(arg func(i int) float64) {
	switch os.Args[1] {
	case "hang":
		fmt.Fprintln(os.Stderr, "waiting for godot")
		time.Sleep(time.Hour)
	case "orphan": // leaves a child that holds the output
		child := exec.Command(os.Args[0], "hang")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			os.Exit(1)
		}
		fmt.Println(0.5)
	case "family": // family FILE: hangs, as does a child that appends to FILE
		child := exec.Command(os.Args[0], "beat", os.Args[2])
		if err := child.Start(); err != nil {
			os.Exit(1)
		}
		time.Sleep(time.Hour)
	case "beat":
		for {
			if f, err := os.OpenFile(os.Args[2], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
				fmt.Fprintln(f, "alive")
				f.Close()
			}
			time.Sleep(5 * time.Millisecond)
		}
	case "flood":
		line := strings.Repeat("x", 1<<16)
		for range 200 {
			fmt.Println(line)
			fmt.Fprintln(os.Stderr, line)
		}
		fmt.Println(arg(2))
	case "cancelled": // cancelled FILE X Y: bowl, whose first call is ended by SIGTERM, as is the caller a moment later
		if f, err := os.OpenFile(os.Args[2], os.O_CREATE|os.O_EXCL, 0o644); err == nil {
			f.Close()
			if err := exec.Command(os.Args[0], "strike", strconv.Itoa(os.Getppid())).Start(); err != nil {
				os.Exit(1)
			}
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Signal(syscall.SIGTERM)
			time.Sleep(time.Minute)
		}
		fmt.Println(math.Hypot(arg(3)-0.3, arg(4)+0.2))
	case "strike": // strike PROCESS: ends it by SIGTERM after 50 ms
		time.Sleep(50 * time.Millisecond)
		process, _ := os.FindProcess(int(arg(2)))
		_ = process.Signal(syscall.SIGTERM)
	case "signal": // signal kill|interrupt|hangup N FILE X Y: bowl, whose Nth call strikes the caller
		f, err := os.OpenFile(os.Args[4], os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			os.Exit(1)
		}
		fmt.Fprintln(f, "call")
		_, _ = f.Seek(0, io.SeekStart)
		calls, _ := io.ReadAll(f)
		if strings.Count(string(calls), "\n") == int(arg(3)) {
			parent, _ := os.FindProcess(os.Getppid())
			_ = parent.Signal(map[string]os.Signal{"kill": os.Kill, "interrupt": syscall.SIGINT, "hangup": syscall.SIGHUP}[os.Args[2]])
			time.Sleep(time.Minute)
		}
		fmt.Println(math.Hypot(arg(5)-0.3, arg(6)+0.2))
	}
}
