// A llama_context with what belongs to it: its threads, the flag that stops a
// decode, and the arrays of a batch.
#include "shim.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void goLog(int32_t level, char *text); // callback.go

static void log_line(enum ggml_log_level level, const char *text, void *user) {
	(void)user;
	goLog(level, (char *)text);
}

void bb_init(void) {
	llama_log_set(log_line, NULL);
	ggml_log_set(log_line, NULL);
	// What C prints must not wait in a buffer for a later cell.
	setvbuf(stdout, NULL, _IONBF, 0);
	llama_backend_init();
#ifdef BRANCHBOOK_LLAMA_SYSTEM
	ggml_backend_load_all(); // an installed ggml may keep its backends in files
#endif
}

struct bb_context {
	struct llama_context *llama;
	llama_memory_t memory;
	ggml_threadpool_t pool;
	void (*pool_free)(ggml_threadpool_t);
	atomic_int stop; // 0, or the sum of reasons to stop
	double cpu; // seconds that the calling thread ran in the last decode
	llama_batch batch;
};

static bool stopped(void *c) { return atomic_load_explicit(&((bb_context *)c)->stop, memory_order_relaxed) != 0; }

// start_pool gives c one pool of threads for its life; without it ggml starts
// and ends threads at every decode. The functions are asked of the backend,
// because a system build may load the CPU backend at run time.
static void start_pool(bb_context *c, int32_t threads, uint32_t poll) {
	ggml_backend_dev_t dev = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
	if (!dev || threads < 2) return;
	ggml_backend_reg_t reg = ggml_backend_dev_backend_reg(dev);
	ggml_threadpool_t (*pool_new)(struct ggml_threadpool_params *) =
		(ggml_threadpool_t (*)(struct ggml_threadpool_params *))ggml_backend_reg_get_proc_address(reg, "ggml_threadpool_new");
	c->pool_free = (void (*)(ggml_threadpool_t))ggml_backend_reg_get_proc_address(reg, "ggml_threadpool_free");
	if (!pool_new || !c->pool_free) return;
	struct ggml_threadpool_params p;
	ggml_threadpool_params_init(&p, threads);
	p.poll = poll;
	c->pool = pool_new(&p);
	if (c->pool) llama_attach_threadpool(c->llama, c->pool, c->pool);
}

// A batch whose tokens each belong to one sequence: seq_id[i] points into
// the array that bb_decode is given.
static bool alloc_batch(llama_batch *b, uint32_t cap) {
	b->n_seq_id = malloc(cap * sizeof *b->n_seq_id);
	b->seq_id = malloc(cap * sizeof *b->seq_id);
	if (!b->n_seq_id || !b->seq_id) return false;
	for (uint32_t i = 0; i < cap; i++) b->n_seq_id[i] = 1;
	return true;
}

bb_context *bb_context_new(struct llama_model *model, uint32_t n_ctx, uint32_t n_batch, uint32_t n_ubatch, uint32_t n_seq, int32_t threads, uint32_t poll, char *err) {
	bb_context *c = calloc(1, sizeof *c);
	if (!c) return NULL;
	struct llama_context_params p = llama_context_default_params();
	p.n_ctx = n_ctx;
	p.n_batch = n_batch;
	p.n_ubatch = n_ubatch;
	p.n_seq_max = n_seq;
	p.n_threads = p.n_threads_batch = threads;
	p.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;
	p.kv_unified = true;
	p.no_perf = true;
	p.abort_callback = stopped;
	p.abort_callback_data = c;
	c->llama = bb_context_init(model, &p, err);
	if (!c->llama || !alloc_batch(&c->batch, llama_n_batch(c->llama))) {
		bb_context_free(c);
		return NULL;
	}
	c->memory = llama_get_memory(c->llama);
	start_pool(c, threads, poll);
	return c;
}

void bb_context_free(bb_context *c) {
	if (!c) return;
	if (c->llama) llama_free(c->llama);
	if (c->pool) c->pool_free(c->pool);
	free(c->batch.n_seq_id);
	free(c->batch.seq_id);
	free(c);
}

uint32_t bb_context_cells(const bb_context *c) { return llama_n_ctx(c->llama); }
uint32_t bb_context_batch(const bb_context *c) { return llama_n_batch(c->llama); }
bool bb_has_memory(bb_context *c) { return c->memory != NULL; }
void bb_context_threads(bb_context *c, int32_t n) { llama_set_n_threads(c->llama, n, n); }
void bb_context_stop(bb_context *c, int32_t reason, bool stop) {
	if (stop)
		atomic_fetch_or(&c->stop, reason);
	else
		atomic_fetch_and(&c->stop, ~reason);
}

static double thread_seconds(void) {
	struct timespec t;
	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0) return 0;
	return t.tv_sec + t.tv_nsec * 1e-9;
}

int32_t bb_decode(bb_context *c, int32_t n, const int32_t *token, const int32_t *pos, const int32_t *seq, const int8_t *out, char *err) {
	llama_batch b = c->batch;
	b.n_tokens = n;
	b.token = (llama_token *)token;
	b.pos = (llama_pos *)pos;
	b.logits = (int8_t *)out;
	for (int32_t i = 0; i < n; i++) b.seq_id[i] = (llama_seq_id *)&seq[i];
	double start = thread_seconds();
	int32_t rc = bb_llama_decode(c->llama, &b, err);
	if (rc == 0) llama_synchronize(c->llama);
	c->cpu = thread_seconds() - start;
	return rc;
}

double bb_cpu_seconds(const bb_context *c) { return c->cpu; }

const float *bb_logits(bb_context *c, int32_t i) { return llama_get_logits_ith(c->llama, i); }

void bb_copy(bb_context *c, int32_t from, const int32_t *to, int32_t n) {
	for (int32_t i = 0; i < n; i++) llama_memory_seq_cp(c->memory, from, to[i], -1, -1);
}

bool bb_remove(bb_context *c, int32_t seq, int32_t from) { return llama_memory_seq_rm(c->memory, seq, from, -1); }

void bb_token_flags(const struct llama_vocab *v, uint8_t *flags) {
	for (int32_t i = 0, n = llama_vocab_n_tokens(v); i < n; i++) {
		enum llama_token_attr a = llama_vocab_get_attr(v, i);
		flags[i] = (llama_vocab_is_eog(v, i) ? BB_END : 0) | (a & LLAMA_TOKEN_ATTR_CONTROL ? BB_CONTROL : 0);
	}
}
