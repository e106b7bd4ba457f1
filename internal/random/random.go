// Package random derives independent random streams from a seed, so that a
// suggestion depends on its seed, its purpose and its number alone, never on
// what else drew random numbers before it.
package random

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// New returns the stream of (seed, label, index).
func New(seed uint64, label string, index int) *rand.Rand {
	b := binary.LittleEndian.AppendUint64(nil, seed)
	b = binary.LittleEndian.AppendUint64(b, uint64(index))
	return rand.New(rand.NewChaCha8(sha256.Sum256(append(b, label...))))
}

// Split returns a stream of its own for label and index, drawn from rng: rng
// advances by one number whatever the label.
func Split(rng *rand.Rand, label string, index int) *rand.Rand {
	return New(rng.Uint64(), label, index)
}
