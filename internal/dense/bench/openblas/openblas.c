// Times OpenBLAS for the Go program beside it. Reads lines "routine m n k
// threads seconds", writes the nanoseconds of the fastest of the calls that fit
// into the seconds: time of the processor if there is an argument. Matrices are row-major for the products and the solve, as
// in Go; the Cholesky factor is that of the column-major library.
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);

static double now(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return 1e9 * t.tv_sec + t.tv_nsec;
}

static double *numbers(size_t n) {
	double *x = aligned_alloc(4096, (n * sizeof *x + 8191) & ~(size_t)4095);
	for (size_t i = 0; i < n; i++)
		x[i] = rand() / (double)RAND_MAX - 0.5;
	return x;
}

int main(int argc, char **argv) {
	(void)argv;
	clockid_t clock = argc > 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
	char routine[16];
	int m, n, k, threads;
	double seconds;
	if (__builtin_cpu_supports("avx2") && !strcmp(openblas_get_corename(), "Prescott")) {
		fprintf(stderr, "OpenBLAS does not recognise this processor and would use kernels for SSE3: "
		                "set OPENBLAS_CORETYPE, to SkylakeX for AVX-512 or Haswell for AVX2\n");
		return 1;
	}
	printf("%s\n", openblas_get_config());
	fflush(stdout);
	while (scanf("%15s %d %d %d %d %lf", routine, &m, &n, &k, &threads, &seconds) == 6) {
		openblas_set_num_threads(threads);
		double *a = numbers((size_t)m * k), *b = numbers((size_t)k * n), *c = numbers((size_t)m * n);
		if (!strncmp(routine, "trsm", 4) || !strcmp(routine, "potrf"))
			for (int i = 0; i < m; i++) {
				for (int j = 0; j < m; j++)
					a[(size_t)i * m + j] /= m;
				a[(size_t)i * m + i] = 2;
			}
		double best = INFINITY, end = now(CLOCK_MONOTONIC) + 1e9 * seconds;
		do {
			if (!strcmp(routine, "potrf"))
				memcpy(c, a, sizeof *a * m * m);
			double start = now(clock);
			if (!strncmp(routine, "gemm", 4)) {
				int ta = routine[4] == 'T', tb = routine[5] == 'T';
				cblas_dgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, m, n, k, 1,
				            a, ta ? m : k, b, tb ? k : n, 0, c, n);
			} else if (!strncmp(routine, "syrk", 4)) {
				int t = routine[4] == 'T';
				cblas_dsyrk(CblasRowMajor, CblasUpper, t ? CblasTrans : CblasNoTrans, m, k, 1, a, t ? m : k, 0, c, m);
			} else if (!strncmp(routine, "trsm", 4)) {
				cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, routine[4] == 'T' ? CblasTrans : CblasNoTrans,
				            CblasNonUnit, m, n, 1, a, m, c, n);
			} else {
				int info;
				dpotrf_("L", &m, c, &m, &info);
			}
			double t = now(clock) - start;
			best = t < best ? t : best;
		} while (now(CLOCK_MONOTONIC) < end);
		printf("%.0f\n", best);
		fflush(stdout);
		free(a);
		free(b);
		free(c);
	}
	return 0;
}
