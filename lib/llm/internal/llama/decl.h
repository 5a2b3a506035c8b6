// The part of llama.h, ggml.h and ggml-backend.h that this package uses:
// names, signatures and layouts, which are facts of the library's interface.
// cgo cannot point at another module's headers, so they are restated here;
// drift_test.go compiles them against the real ones.
//
// Built with the tag llama_system, the installed headers stand in for this
// file. Of each enumeration one value suffices to declare it, where none is
// used. DECL_NO_TYPES and DECL_NO_FUNCTIONS each leave out one half, for the
// drift test alone.
#ifndef BRANCHBOOK_DECL_H
#define BRANCHBOOK_DECL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef DECL_NO_TYPES

struct llama_vocab;
struct llama_model;
struct llama_context;
struct llama_memory_i;
struct ggml_threadpool;
struct ggml_backend_device;
struct ggml_backend_reg;
struct ggml_backend_buffer_type;
struct ggml_tensor;
struct llama_model_kv_override;
struct llama_model_tensor_buft_override;

typedef struct llama_memory_i *llama_memory_t;
typedef struct ggml_threadpool *ggml_threadpool_t;
typedef struct ggml_backend_device *ggml_backend_dev_t;
typedef struct ggml_backend_reg *ggml_backend_reg_t;
typedef struct ggml_backend_buffer_type *ggml_backend_buffer_type_t;

typedef int32_t llama_pos;
typedef int32_t llama_token;
typedef int32_t llama_seq_id;

enum ggml_log_level { GGML_LOG_LEVEL_WARN = 3, GGML_LOG_LEVEL_ERROR = 4 };

enum ggml_backend_dev_type { GGML_BACKEND_DEVICE_TYPE_CPU = 0 };

enum ggml_sched_priority { GGML_SCHED_PRIO_LOW = -1 };

enum ggml_type { GGML_TYPE_F32 = 0 };

enum llama_vocab_type { LLAMA_VOCAB_TYPE_NONE = 0 };

enum llama_token_attr { LLAMA_TOKEN_ATTR_CONTROL = 8 };

enum llama_split_mode { LLAMA_SPLIT_MODE_NONE = 0 };
enum llama_rope_scaling_type { LLAMA_ROPE_SCALING_TYPE_UNSPECIFIED = -1 };
enum llama_pooling_type { LLAMA_POOLING_TYPE_UNSPECIFIED = -1 };
enum llama_attention_type { LLAMA_ATTENTION_TYPE_UNSPECIFIED = -1 };

enum llama_flash_attn_type { LLAMA_FLASH_ATTN_TYPE_AUTO = -1, LLAMA_FLASH_ATTN_TYPE_ENABLED = 1 };

typedef bool (*llama_progress_callback)(float, void *);
typedef void (*ggml_log_callback)(enum ggml_log_level, const char *, void *);
typedef bool (*ggml_abort_callback)(void *);
typedef bool (*ggml_backend_sched_eval_callback)(struct ggml_tensor *, bool, void *);

typedef struct llama_batch {
	int32_t n_tokens;
	llama_token *token;
	float *embd;
	llama_pos *pos;
	int32_t *n_seq_id;
	llama_seq_id **seq_id;
	int8_t *logits;
} llama_batch;

struct llama_model_params {
	ggml_backend_dev_t *devices;
	const struct llama_model_tensor_buft_override *tensor_buft_overrides;
	int32_t n_gpu_layers;
	enum llama_split_mode split_mode;
	int32_t main_gpu;
	const float *tensor_split;
	llama_progress_callback progress_callback;
	void *progress_callback_user_data;
	const struct llama_model_kv_override *kv_overrides;
	bool vocab_only;
	bool use_mmap;
	bool use_mlock;
	bool check_tensors;
	bool use_extra_bufts;
	bool no_host;
	bool no_alloc;
};

struct llama_context_params {
	uint32_t n_ctx;
	uint32_t n_batch;
	uint32_t n_ubatch;
	uint32_t n_seq_max;
	int32_t n_threads;
	int32_t n_threads_batch;
	enum llama_rope_scaling_type rope_scaling_type;
	enum llama_pooling_type pooling_type;
	enum llama_attention_type attention_type;
	enum llama_flash_attn_type flash_attn_type;
	float rope_freq_base;
	float rope_freq_scale;
	float yarn_ext_factor;
	float yarn_attn_factor;
	float yarn_beta_fast;
	float yarn_beta_slow;
	uint32_t yarn_orig_ctx;
	float defrag_thold;
	ggml_backend_sched_eval_callback cb_eval;
	void *cb_eval_user_data;
	enum ggml_type type_k;
	enum ggml_type type_v;
	ggml_abort_callback abort_callback;
	void *abort_callback_data;
	bool embeddings;
	bool offload_kqv;
	bool no_perf;
	bool op_offload;
	bool swa_full;
	bool kv_unified;
};

typedef struct llama_chat_message {
	const char *role;
	const char *content;
} llama_chat_message;

struct ggml_threadpool_params {
	bool cpumask[512];
	int n_threads;
	enum ggml_sched_priority prio;
	uint32_t poll;
	bool strict_cpu;
	bool paused;
};

#endif // DECL_NO_TYPES

#ifndef DECL_NO_FUNCTIONS

#ifdef __cplusplus
extern "C" {
#endif

void llama_backend_init(void);
void llama_log_set(ggml_log_callback, void *);
void ggml_log_set(ggml_log_callback, void *);

struct llama_model_params llama_model_default_params(void);
struct llama_context_params llama_context_default_params(void);
struct llama_model *llama_model_load_from_file(const char *, struct llama_model_params);
void llama_model_free(struct llama_model *);
struct llama_context *llama_init_from_model(struct llama_model *, struct llama_context_params);
void llama_free(struct llama_context *);

size_t llama_max_parallel_sequences(void);
uint32_t llama_n_ctx(const struct llama_context *);
uint32_t llama_n_batch(const struct llama_context *);
llama_memory_t llama_get_memory(const struct llama_context *);

const struct llama_vocab *llama_model_get_vocab(const struct llama_model *);
int32_t llama_model_n_ctx_train(const struct llama_model *);
int32_t llama_model_meta_count(const struct llama_model *);
int32_t llama_model_meta_key_by_index(const struct llama_model *, int32_t, char *, size_t);
int32_t llama_model_meta_val_str_by_index(const struct llama_model *, int32_t, char *, size_t);
uint64_t llama_model_n_params(const struct llama_model *);
const char *llama_model_chat_template(const struct llama_model *, const char *);
bool llama_model_has_encoder(const struct llama_model *);
bool llama_model_has_decoder(const struct llama_model *);
bool llama_model_is_recurrent(const struct llama_model *);
bool llama_model_is_hybrid(const struct llama_model *);

enum llama_vocab_type llama_vocab_type(const struct llama_vocab *);
int32_t llama_vocab_n_tokens(const struct llama_vocab *);
enum llama_token_attr llama_vocab_get_attr(const struct llama_vocab *, llama_token);
bool llama_vocab_is_eog(const struct llama_vocab *, llama_token);
llama_token llama_vocab_bos(const struct llama_vocab *);
llama_token llama_vocab_eos(const struct llama_vocab *);
bool llama_vocab_get_add_bos(const struct llama_vocab *);
int32_t llama_tokenize(const struct llama_vocab *, const char *, int32_t, llama_token *, int32_t, bool, bool);
int32_t llama_token_to_piece(const struct llama_vocab *, llama_token, char *, int32_t, int32_t, bool);
int32_t llama_chat_apply_template(const char *, const struct llama_chat_message *, size_t, bool, char *, int32_t);

bool llama_memory_seq_rm(llama_memory_t, llama_seq_id, llama_pos, llama_pos);
void llama_memory_seq_cp(llama_memory_t, llama_seq_id, llama_seq_id, llama_pos, llama_pos);

int32_t llama_decode(struct llama_context *, struct llama_batch);
void llama_synchronize(struct llama_context *);
float *llama_get_logits_ith(struct llama_context *, int32_t);
void llama_set_n_threads(struct llama_context *, int32_t, int32_t);
void llama_attach_threadpool(struct llama_context *, ggml_threadpool_t, ggml_threadpool_t);

ggml_backend_dev_t ggml_backend_dev_by_type(enum ggml_backend_dev_type);
ggml_backend_reg_t ggml_backend_dev_backend_reg(ggml_backend_dev_t);
void *ggml_backend_reg_get_proc_address(ggml_backend_reg_t, const char *);
int64_t ggml_blck_size(enum ggml_type);
size_t ggml_type_size(enum ggml_type);
void ggml_threadpool_params_init(struct ggml_threadpool_params *, int);

#ifdef __cplusplus
}
#endif

#endif // DECL_NO_FUNCTIONS

#endif
