// Reductions of a row of logits, written so that gcc vectorises them for
// whatever the build allows. One thread reduces a whole row in blocks of a
// fixed size, so the result does not depend on threads or on the batch.
#include "shim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// BLOCK logits are weighed at a time; LANES sums run side by side in a block.
enum { BLOCK = 256, LANES = 16 };

// exp_neg is exp(x) for x ≤ 0, with a relative error under 2e-7; 0 below -87,
// where float32 runs out of normal numbers. A NaN stays one.
//
// x = k·ln 2 + r with |r| ≤ ln 2 / 2, and exp(r) is 1 + r + r²·q(r), q a least
// squares fit at Chebyshev nodes. 1.5·2^23 rounds to the nearest integer in
// every instruction set; ln 2 comes in two parts so that k·hi is exact.
static inline float exp_neg(float x) {
	const float magic = 12582912.0f;
	float y = x < -87.0f ? -87.0f : x;
	float k = y * 1.44269504f + magic;
	int32_t bits;
	memcpy(&bits, &k, sizeof bits);
	k -= magic;
	float r = y - k * 0.693359375f;
	r += k * 2.12194440e-4f;
	float q = 0.0013751279329881072f;
	q = q * r + 0.008368952199816704f;
	q = q * r + 0.041669540107250214f;
	q = q * r + 0.166665181517601f;
	q = q * r + 0.49999988079071045f;
	float e = 1.0f + r + r * r * q;
	int32_t scale_bits = (int32_t)((uint32_t)(bits + 127) << 23);
	float scale;
	memcpy(&scale, &scale_bits, sizeof scale);
	return x < -87.0f ? 0.0f : e * scale;
}

// weigh writes exp(b·(x−max)) of m logits to w, and zeros up to BLOCK.
static void weigh(const float *x, int32_t m, float max, float b, float *w) {
	if (m == BLOCK) {
		for (int32_t i = 0; i < BLOCK; i++) w[i] = exp_neg((x[i] - max) * b);
		return;
	}
	for (int32_t i = 0; i < BLOCK; i++) w[i] = i < m ? exp_neg((x[i] - max) * b) : 0;
}

// sum adds BLOCK floats in double precision, always in the same order.
static double sum(const float *w) {
	double lane[LANES] = {0};
	for (int32_t i = 0; i < BLOCK; i += LANES)
		for (int32_t j = 0; j < LANES; j++) lane[j] += w[i + j];
	for (int32_t n = LANES / 2; n > 0; n /= 2)
		for (int32_t j = 0; j < n; j++) lane[j] += lane[j + n];
	return lane[0];
}

// sum_moment adds w·(x−max). A weight of 0 adds 0, also where x is -inf.
static double sum_moment(const float *w, const float *x, int32_t m, float max) {
	float t[BLOCK];
	for (int32_t i = 0; i < m; i++) t[i] = w[i] > 0 ? w[i] * (x[i] - max) : 0;
	for (int32_t i = m; i < BLOCK; i++) t[i] = 0;
	return sum(t);
}

static float block_max(const float *x, int32_t m) {
	float lane[LANES];
	for (int32_t j = 0; j < LANES; j++) lane[j] = -INFINITY;
	int32_t i = 0;
	for (; i + LANES <= m; i += LANES)
		for (int32_t j = 0; j < LANES; j++) lane[j] = x[i + j] > lane[j] ? x[i + j] : lane[j];
	for (; i < m; i++) lane[0] = x[i] > lane[0] ? x[i] : lane[0];
	float max = lane[0];
	for (int32_t j = 1; j < LANES; j++) max = lane[j] > max ? lane[j] : max;
	return max;
}

// before reports whether token a stands above token b.
static bool before(const float *x, int32_t a, int32_t b) {
	return x[a] > x[b] || (x[a] == x[b] && a < b);
}

// sift restores the heap h of n tokens, lowest first, below i.
static void sift(const float *x, int32_t *h, int32_t n, int32_t i) {
	for (;;) {
		int32_t c = 2 * i + 1;
		if (c >= n) return;
		if (c + 1 < n && before(x, h[c], h[c + 1])) c++;
		if (!before(x, h[i], h[c])) return;
		int32_t t = h[i];
		h[i] = h[c], h[c] = t;
		i = c;
	}
}

// top_k fills h with the k ≤ n highest of x, highest first, ties by rising
// token. Blocks whose maximum cannot enter are skipped.
static void top_k(const float *x, int32_t n, const float *max, int32_t k, int32_t *h) {
	for (int32_t i = 0; i < k; i++) h[i] = i;
	for (int32_t i = k / 2 - 1; i >= 0; i--) sift(x, h, k, i);
	for (int32_t at = k / BLOCK * BLOCK; at < n; at += BLOCK) {
		if (!(max[at / BLOCK] > x[h[0]])) continue;
		int32_t end = at + BLOCK < n ? at + BLOCK : n;
		for (int32_t i = at < k ? k : at; i < end; i++) {
			if (!(x[i] > x[h[0]])) continue;
			h[0] = i;
			sift(x, h, k, 0);
		}
	}
	for (int32_t m = k - 1; m > 0; m--) {
		int32_t t = h[0];
		h[0] = h[m], h[m] = t;
		sift(x, h, m, 0);
	}
}

// pick is the token at which the running sum of weights first exceeds target,
// given each block's weight. Rounding may leave target above every sum: then
// the last token that weighs anything is meant.
static int32_t pick(const float *x, int32_t n, float max, float b, const double *block, double target) {
	int32_t blocks = (n + BLOCK - 1) / BLOCK, k = 0, last = 0;
	double acc = 0;
	for (; k < blocks && !(acc + block[k] > target); k++) {
		acc += block[k];
		if (block[k] > 0) last = k;
	}
	if (k == blocks) k = last, target = INFINITY;
	float w[BLOCK];
	int32_t m = n - k * BLOCK < BLOCK ? n - k * BLOCK : BLOCK, at = 0;
	weigh(x + k * BLOCK, m, max, b, w);
	for (int32_t i = 0; i < m; i++) {
		if (!(w[i] > 0)) continue;
		at = i;
		acc += w[i];
		if (acc > target) break;
	}
	return k * BLOCK + at;
}

int32_t bb_read(const float *x, int32_t n, double b,
                int32_t n_top, int32_t *top, double *top_lp,
                int32_t n_draw, const double *u, int32_t *draw, double *draw_lp,
                int32_t n_score, const int32_t *score, double *score_lp,
                double *log_z, double *entropy) {
	int32_t blocks = (n + BLOCK - 1) / BLOCK;
	double *weight = malloc(blocks * (sizeof(double) + sizeof(float)));
	if (!weight) return 2;
	float *maxes = (float *)(weight + blocks);

	float max = -INFINITY;
	for (int32_t k = 0; k < blocks; k++) {
		maxes[k] = block_max(x + k * BLOCK, n - k * BLOCK < BLOCK ? n - k * BLOCK : BLOCK);
		if (maxes[k] > max) max = maxes[k];
	}
	double total = 0, moment = 0, total_b = 0;
	for (int32_t k = 0; k < blocks; k++) {
		const float *at = x + k * BLOCK;
		int32_t m = n - k * BLOCK < BLOCK ? n - k * BLOCK : BLOCK;
		float w[BLOCK];
		weigh(at, m, max, 1, w);
		weight[k] = sum(w);
		total += weight[k];
		moment += sum_moment(w, at, m, max);
		if (b != 1) {
			weigh(at, m, max, (float)b, w);
			weight[k] = sum(w);
		}
		total_b += weight[k];
	}
	if (!(total > 0) || isinf(max)) { // a NaN, a +inf, or -inf everywhere
		free(weight);
		return 1;
	}

	double log_total = log(total), base = max + log_total;
	*entropy = log_total - moment / total;
	*log_z = b == 1 ? 0 : log(total_b) - b * log_total;
	if (n_top > 0) top_k(x, n, maxes, n_top, top);
	for (int32_t i = 0; i < n_top; i++) top_lp[i] = x[top[i]] - base;
	for (int32_t i = 0; i < n_draw; i++) {
		draw[i] = pick(x, n, max, (float)b, weight, u[i] * total_b);
		draw_lp[i] = x[draw[i]] - base;
	}
	for (int32_t i = 0; i < n_score; i++) score_lp[i] = x[score[i]] - base;
	free(weight);
	return 0;
}

// The instruction sets that the compiler was allowed to use.
const char *bb_cpu(void) {
	return ""
#if defined(__x86_64__)
	       "x86-64"
#elif defined(__aarch64__)
	       "arm64"
#endif
#ifdef __SSE4_2__
	       " sse4.2"
#endif
#ifdef __AVX2__
	       " avx2"
#endif
#ifdef __FMA__
	       " fma"
#endif
#ifdef __F16C__
	       " f16c"
#endif
#ifdef __AVX512F__
	       " avx512f"
#endif
#ifdef __AVX512VNNI__
	       " avx512vnni"
#endif
#ifdef __AVX512BF16__
	       " avx512bf16"
#endif
#ifdef __AMX_INT8__
	       " amx-int8"
#endif
#ifdef __ARM_FEATURE_DOTPROD
	       " dotprod"
#endif
#ifdef __ARM_FEATURE_MATMUL_INT8
	       " i8mm"
#endif
#ifdef __ARM_FEATURE_SVE
	       " sve"
#endif
	    ;
}

// An x86-64 build without AVX2 runs at about a tenth of what most CPUs can.
bool bb_native(void) {
#if defined(__x86_64__) && !defined(__AVX2__)
	return false;
#else
	return true;
#endif
}
