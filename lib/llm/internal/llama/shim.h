// What Go calls: llama.cpp behind functions that take and give plain arrays,
// throw nothing, and fold many calls into one.
#ifndef BRANCHBOOK_SHIM_H
#define BRANCHBOOK_SHIM_H

#ifdef BRANCHBOOK_LLAMA_SYSTEM
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <llama.h>
#else
#include "decl.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

// BB_THREW stands for a C++ exception, whose message is in err.
enum { BB_THREW = -1000, BB_ERR_SIZE = 512 };

// guard.cpp: calls that can throw. A C++ exception that reached Go would end
// the process.
struct llama_model *bb_model_load(const char *path, bool mmap, int32_t gpu_layers, uintptr_t progress, char *err);
struct llama_context *bb_context_init(struct llama_model *, const struct llama_context_params *, char *err);
int32_t bb_llama_decode(struct llama_context *, const struct llama_batch *, char *err);
int32_t bb_tokenize(const struct llama_vocab *, const char *text, int32_t len, llama_token *out, int32_t cap, bool special, char *err);
int32_t bb_piece(const struct llama_vocab *, llama_token, char *buf, int32_t cap);
int32_t bb_chat(const char *tmpl, const char **role, const char **content, int32_t n, bool add_assistant, char *buf, int32_t cap);

// context.c: a llama_context with its thread pool and its stop flag.
void bb_init(void);
enum { BB_END = 1, BB_CONTROL = 2 };
void bb_token_flags(const struct llama_vocab *, uint8_t *flags);

typedef struct bb_context bb_context;
bb_context *bb_context_new(struct llama_model *, uint32_t n_ctx, uint32_t n_batch, uint32_t n_ubatch, uint32_t n_seq, int32_t threads, uint32_t poll, char *err);
void bb_context_free(bb_context *);
uint32_t bb_context_cells(const bb_context *);
uint32_t bb_context_batch(const bb_context *);
void bb_context_threads(bb_context *, int32_t);
void bb_context_stop(bb_context *, int32_t reason, bool stop);
int32_t bb_decode(bb_context *, int32_t n, const int32_t *token, const int32_t *pos, const int32_t *seq, const int8_t *out, char *err);
double bb_cpu_seconds(const bb_context *);
const float *bb_logits(bb_context *, int32_t i);
void bb_copy(bb_context *, int32_t from, const int32_t *to, int32_t n);
bool bb_remove(bb_context *, int32_t seq, int32_t from);
bool bb_has_memory(bb_context *);

// shim.c: reductions of one row of logits, and what this was compiled for.

// bb_read reduces the n logits at x. It returns 0, or 1 when they name no
// distribution: a NaN, a +inf, or nothing but -inf. Arrays of length 0 may be
// null. Log-probabilities are natural, of the softmax of x; draws are from
// its power b, by inverse CDF in order of token id, one for each u in [0,1).
int32_t bb_read(const float *x, int32_t n, double b,
                int32_t n_top, int32_t *top, double *top_lp,
                int32_t n_draw, const double *u, int32_t *draw, double *draw_lp,
                int32_t n_score, const int32_t *score, double *score_lp,
                double *log_z, double *entropy);
const char *bb_cpu(void);
bool bb_native(void);

#ifdef __cplusplus
}
#endif

#endif
