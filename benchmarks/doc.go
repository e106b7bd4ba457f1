// Package benchmarks holds objectives with known minima: the usual test functions
// of global optimisation, the tasks of Li et al. (2024) and of the FSP-Laplace paper
// (Cinquin et al. 2024), and decorators that add noise, idle dimensions or a
// shift. All of them are minimised; where the source maximises, the sign is
// turned and the comment says so. Minima without a closed form are from
// testdata/benchmarks/minima.py; those of functions drawn at random are the least that a
// search found.
package benchmarks
