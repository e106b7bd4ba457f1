// Package families generates random optimisation problems, grouped by the property
// that makes them hard. An instance of a family depends on the name of the family, the number of the instance
// and the dimension, and on nothing else.
//
// A continuous family is a function g ≥ 0 with g = 0 at a known point. Its instances
// draw this point (in the interior, near bounds or on bounds of the box [-5,5]^d),
// usually a rotation, the coefficients of g, and a monotone transformation of its
// values:
//
//	f(x) = offset + scale · T(g(x)/s)
//
// where s is the median of g over the box. The minimum is therefore offset. Families
// with noise add it to T(g/s). Mixed families replace coordinates by integers and
// choices. Tuning families interpolate tables of errors of learning algorithms, and
// lookups return measurements.
//
// Several families follow the ideas of the noiseless and noisy functions of Hansen,
// Finck, Ros and Auger (2009), "Real-parameter black-box optimization benchmarking
// 2009: Noiseless functions definitions", with other constants and transformations.
//
// The families are divided once into a development half and a confirmation half. The
// second serves to check decisions that the first suggested; LOOKS.md in this folder
// lists its uses.
package families
