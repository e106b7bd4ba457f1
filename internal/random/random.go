// Package random derives independent random streams from a seed. A suggestion depends
// only on its seed, its purpose and its number, not on other uses of random numbers.
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

// Split returns a stream for label and index, drawn from rng. It advances rng by one
// number for any label.
func Split(rng *rand.Rand, label string, index int) *rand.Rand {
	return New(rng.Uint64(), label, index)
}

// Normal overwrites dst with independent standard normal numbers.
func Normal(dst []float64, rng *rand.Rand) {
	for i := range dst {
		dst[i] = rng.NormFloat64()
	}
}
