// Package pythonjson reads the JSON of Python, which has numbers that JSON does not have.
package pythonjson

import "bytes"

var words = [][]byte{[]byte("NaN"), []byte("Infinity"), []byte("-Infinity"), []byte("-NaN")}

// Replace returns a JSON text in which with(word) stands for each word NaN, Infinity, -Infinity and -NaN outside of
// strings. A text without these words is returned itself.
func Replace(text []byte, with func(word string) string) []byte {
	if !bytes.Contains(text, words[0]) && !bytes.Contains(text, words[1]) {
		return text
	}
	var out []byte
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\' && i+1 < len(text):
			out = append(out, c)
			i++
		case !quoted:
			if word := wordAt(text[i:]); word != nil {
				out = append(out, with(string(word))...)
				i += len(word) - 1
				continue
			}
		}
		out = append(out, text[i])
	}
	return out
}

// wordAt returns the word with which a text begins, or nil.
func wordAt(text []byte) []byte {
	for _, word := range words {
		if bytes.HasPrefix(text, word) {
			return word
		}
	}
	return nil
}
