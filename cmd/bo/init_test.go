package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A file that bo init writes is valid, and its command with the example's values is the
// example.
func FuzzInit(f *testing.F) {
	for _, line := range []string{
		"python train.py --lr 0.01 --layers 3 --opt adam",
		"prog -1.5 +2 1e-320 1e308 007 0x10 --a=-3 --a=0 --a=0.0 --n 123456789012345678 --seed 0",
		"env OMP_NUM_THREADS=1 ./a.out lr=0.1 +opt.name=x --on true --off=False --x y --note it's{a}\"b\\ 3",
		"my\nprog --bo 1 --bo.trial 2 -- --x - = --= --=1 -=2 --a{b}=3 ' \u2028 \x7f 3",
		"a --y no --n yes --z .5 --z 5. --w ... --v .nan --k #x --c a:b --d [1] --e é 1",
	} {
		f.Add(line)
	}
	path := filepath.Join(f.TempDir(), "study.yaml")
	f.Fuzz(func(t *testing.T, line string) {
		example := strings.Split(line, " ")
		s, err := newSketch(example)
		if err != nil {
			return
		}
		require.NoError(t, os.WriteFile(path, []byte(s.text()), 0o600))
		d, _, err := readStudy(path)
		require.NoError(t, err, s.text())
		require.Len(t, d.Parameters, len(s.parameters))
		words, err := splitWords(d.Command)
		require.NoError(t, err)
		var names []string
		for _, p := range d.Parameters {
			names = append(names, p.Name)
		}
		for i, word := range words {
			text, err := parseTemplate(word, names)
			require.NoError(t, err)
			words[i] = text.fill(func(name string) string { return s.examples[slices.Index(names, name)] })
		}
		require.Equal(t, example, words)
	})
}
