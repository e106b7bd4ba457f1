package server

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/functionspace/bo/study"
)

// Role is the set of methods that a token permits. Each role permits the methods of the roles
// before it.
type Role string

// The roles.
const (
	Read  Role = "read"  // read studies and trials
	Work  Role = "work"  // also suggest, ask, tell and fail
	Admin Role = "admin" // also create, edit and delete studies
)

// Roles are all roles, from the weakest.
var Roles = []Role{Read, Work, Admin}

// permits reports whether a role permits the methods of another one.
func (r Role) permits(needed Role) bool {
	return slices.Index(Roles, r) >= slices.Index(Roles, needed)
}

// Token is an entry of a file of tokens. It has the hash of a token, and not the token.
type Token struct {
	Name    string    `json:"name"`
	Role    Role      `json:"role"`
	Hash    string    `json:"sha256"` // hexadecimal
	Created time.Time `json:"created"`
	Studies string    `json:"studies,omitempty"` // beginning of the names of studies that the token permits; "" permits all
	Expires time.Time `json:"expires,omitzero"`  // the token is not valid from this time; zero is never
}

// expired reports whether the token is not valid any more.
func (t *Token) expired() bool { return !t.Expires.IsZero() && !time.Now().Before(t.Expires) }

// tokenPrefix begins each token, so that tools that search for secrets find it.
const tokenPrefix = "bo_"

// NewToken returns a random token of 256 bits, and its entry in a file of tokens. An invalid name or a
// role that is not in Roles is an error. The token permits all studies and does not expire: set Studies and Expires of
// the entry for others.
func NewToken(name string, role Role) (text string, t Token, err error) {
	if err := study.CheckName(name); err != nil {
		return "", t, err
	}
	if !slices.Contains(Roles, role) {
		return "", t, fmt.Errorf("role is %q, want read, work or admin", role)
	}
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	text = tokenPrefix + base64.RawURLEncoding.EncodeToString(secret)
	return text, Token{Name: name, Role: role, Hash: hashOf(text), Created: time.Now().UTC().Truncate(time.Second)}, nil
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// ReadTokens reads a file of tokens.
func ReadTokens(path string) ([]Token, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	list, err := parseTokens(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

func parseTokens(text []byte) ([]Token, error) {
	dec := json.NewDecoder(strings.NewReader(string(text)))
	dec.DisallowUnknownFields()
	var list []Token
	if err := dec.Decode(&list); err != nil {
		return nil, fmt.Errorf("not a file of tokens: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not a file of tokens: text after the list")
	}
	for i, t := range list {
		hash, err := hex.DecodeString(t.Hash)
		switch {
		case err != nil || len(hash) != sha256.Size:
			return nil, fmt.Errorf("token %d of %d: sha256 is no hash", i+1, len(list))
		case !slices.Contains(Roles, t.Role):
			return nil, fmt.Errorf("token %d of %d: role is %q, want read, work or admin", i+1, len(list), t.Role)
		}
	}
	return list, nil
}

// WriteTokens writes a file of tokens to w.
func WriteTokens(w io.Writer, list []Token) error {
	if list == nil {
		list = []Token{}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(list)
}

// Tokens are the tokens of a file. A change of the file takes effect within a second. If the file cannot
// be read, or is not a file of tokens, the last tokens stay in use. A file that is removed has no tokens.
type Tokens struct {
	path string
	log  *slog.Logger

	mu      sync.Mutex
	list    []Token
	file    os.FileInfo
	checked time.Time // the last attempt to read the file
	fault   string    // of that attempt
}

// OpenTokens reads the tokens of a file. The log gets a warning when the file cannot be read later.
func OpenTokens(path string, log *slog.Logger) (*Tokens, error) {
	t := &Tokens{path: path, log: log}
	return t, t.reread()
}

func (t *Tokens) reread() error {
	t.checked = time.Now()
	info, err := os.Stat(t.path)
	if err != nil {
		return err
	}
	if t.file != nil && os.SameFile(info, t.file) && info.ModTime().Equal(t.file.ModTime()) && info.Size() == t.file.Size() {
		return nil
	}
	list, err := ReadTokens(t.path)
	if err != nil {
		return err
	}
	t.list, t.file = list, info
	return nil
}

// Len returns the number of tokens.
func (t *Tokens) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.list)
}

// find returns the entry of a token, which may have expired. Its time does not depend on the text.
func (t *Tokens) find(text string) (found Token, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.follow()
	hash := []byte(hashOf(text))
	for _, entry := range t.list {
		if subtle.ConstantTimeCompare(hash, []byte(strings.ToLower(entry.Hash))) == 1 {
			found, ok = entry, true
		}
	}
	return found, ok
}

// named returns the entries of a name that have not expired.
func (t *Tokens) named(name string) (out []Token) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.follow()
	for _, entry := range t.list {
		if entry.Name == name && !entry.expired() {
			out = append(out, entry)
		}
	}
	return out
}

// follow reads the file again if it may have changed. The caller holds t.mu.
func (t *Tokens) follow() {
	if time.Since(t.checked) < time.Second/2 {
		return
	}
	err, fault, text := t.reread(), "", "the last tokens stay in use"
	if errors.Is(err, fs.ErrNotExist) {
		t.list, t.file, text = nil, nil, "the file of tokens was removed: no token is valid"
	}
	if err != nil {
		fault = err.Error()
	}
	if fault != "" && fault != t.fault {
		t.log.Warn(text, "error", fault)
	}
	t.fault = fault
}
