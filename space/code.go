package space

import "math/bits"

// maxOneHot is the largest number of values of a categorical with a column per value.
const maxOneHot = 64

// A categorical with more values has a binary code: value i has the digits of i·G over the field of two
// elements. All indices need m binary digits, and the code has 4m, at most 64. G is [I R], and the seeds below
// give the matrix R with the largest minimum distance among several thousand. Of 200 values any two differ in
// at least 11 of 32 columns, and in 16 on average. So the values are nearly equidistant, as with a column for
// each of them, in far fewer columns.

// codeSeeds are the seeds of R by m, from 7 digits on.
var codeSeeds = [...]uint64{948, 1356, 8053, 22, 22, 23, 443, 2, 1, 2}

// codeDigits returns m for n values.
func codeDigits(n int) int { return bits.Len(uint(n - 1)) }

// codeColumns returns the number of columns of the code of n values.
func codeColumns(n int) int { return min(4*codeDigits(n), 64) }

// wordsOf returns the words of the code of n > maxOneHot values; bit k of a word is column k.
func wordsOf(n int) []uint64 {
	m, columns := codeDigits(n), codeColumns(n)
	var seed uint64
	if k := m - 7; k < len(codeSeeds) {
		seed = codeSeeds[k]
	}
	rows := make([]uint64, m)
	for k := range rows {
		rows[k] = 1<<k | mix(seed<<8|uint64(k))&(1<<(columns-m)-1)<<m
	}
	words := make([]uint64, n)
	for i := 1; i < n; i++ {
		words[i] = words[i&(i-1)] ^ rows[bits.TrailingZeros(uint(i))]
	}
	return words
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// wordAt returns the index of the word that the columns u are, -1 if they are no word.
func wordAt(words []uint64, u []float64) int {
	var word uint64
	for k, v := range u {
		switch v {
		case 0:
		case 1:
			word |= 1 << k
		default:
			return -1
		}
	}
	// The first digits of a word are its index.
	i := word & (1<<codeDigits(len(words)) - 1)
	if i < uint64(len(words)) && words[i] == word {
		return int(i)
	}
	return -1
}

// nearestWord returns the index of the word nearest to the columns u, the first of equals.
func nearestWord(words []uint64, u []float64) int {
	// The squared distance to a word w is Σu² + Σ_{k in w} (1 - 2u_k). Sums over the digits of
	// each byte are tabulated.
	var table [8][256]float64
	blocks := (len(u) + 7) / 8
	for b := range blocks {
		t := &table[b]
		for i := 1; i < 256; i++ {
			t[i] = t[i&(i-1)]
			if k := 8*b + bits.TrailingZeros(uint(i)); k < len(u) {
				t[i] += 1 - 2*clamp(u[k])
			}
		}
	}
	best, least := 0, 0.0
	for i, w := range words {
		var sum float64
		for b := range blocks {
			sum += table[b][byte(w>>(8*b))]
		}
		if i == 0 || sum < least {
			best, least = i, sum
		}
	}
	return best
}
