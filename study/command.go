package study

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/functionspace/bo/internal/strictjson"
)

// command reads a command line, or the list of its arguments.
func (r *reader) command(raw json.RawMessage) {
	if json.Unmarshal(raw, &r.Command) == nil {
		return
	}
	var words []string
	if json.Unmarshal(raw, &words) != nil || len(words) == 0 || strings.TrimSpace(words[0]) == "" {
		r.fault(fmt.Errorf(`command must be text, or a list such as ["python", "train.py", "{lr}"], not %s`, strictjson.Excerpt(raw)), "command")
		return
	}
	r.words = true
	r.Command = commandLine(words)
}

// checkShell reports a list of arguments for a shell, which reads a line.
func (r *reader) checkShell() {
	if r.words && r.Shell {
		r.fault(errors.New("shell is true, and command is a list, which runs without a shell: write the command as text"), "shell")
	}
}

// plainWord matches arguments that need no quotes in a command line. A first one with = would be an assignment.
var plainWord = regexp.MustCompile(`^[\w./:,{}@%+=-]+$`)

// commandLine returns the command line of a list of arguments. Arguments that are not plain are in single
// quotes, and single quotes in double ones.
func commandLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if !plainWord.MatchString(w) || i == 0 && strings.Contains(w, "=") {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'"'"'`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
