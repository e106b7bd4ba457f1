// Package benchmarks holds objectives with known minima: common test functions of
// global optimisation, the tasks of Li et al. (2024) and of the FSP-Laplace paper
// (Cinquin et al. 2024), and decorators that add noise, inactive dimensions or a
// shift. All objectives are minimised; objectives that the source maximises have the
// opposite sign. Minima without a closed form come from
// testdata/benchmarks/minima.py; minima of randomly drawn functions are the lowest
// values of a search.
package benchmarks
