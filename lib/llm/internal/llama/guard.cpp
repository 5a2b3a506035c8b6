// llama.cpp reports most mistakes by return value but lets some C++
// exceptions out (a byte that the vocabulary has no token for, memory that
// runs out). They stop here.
#include "shim.h"

#include <cstdio>
#include <exception>

extern "C" bool goProgress(float, uintptr_t); // callback.go

namespace {

template <typename R, typename F> R guard(char *err, R threw, F call) {
	try {
		return call();
	} catch (const std::exception &e) {
		if (err) std::snprintf(err, BB_ERR_SIZE, "%s", e.what());
	} catch (...) {
		if (err) std::snprintf(err, BB_ERR_SIZE, "unknown exception");
	}
	return threw;
}

} // namespace

extern "C" {

struct llama_model *bb_model_load(const char *path, bool mmap, int32_t gpu_layers, uintptr_t progress, char *err) {
	struct llama_model_params p = llama_model_default_params();
	p.use_mmap = mmap;
	if (gpu_layers >= 0) p.n_gpu_layers = gpu_layers;
	p.progress_callback = [](float done, void *handle) { return goProgress(done, reinterpret_cast<uintptr_t>(handle)); };
	p.progress_callback_user_data = reinterpret_cast<void *>(progress);
	return guard(err, static_cast<llama_model *>(nullptr), [&] { return llama_model_load_from_file(path, p); });
}

struct llama_context *bb_context_init(struct llama_model *m, const struct llama_context_params *p, char *err) {
	return guard(err, static_cast<llama_context *>(nullptr), [&] { return llama_init_from_model(m, *p); });
}

int32_t bb_llama_decode(struct llama_context *c, const struct llama_batch *b, char *err) {
	return guard(err, static_cast<int32_t>(BB_THREW), [&] { return llama_decode(c, *b); });
}

int32_t bb_tokenize(const struct llama_vocab *v, const char *text, int32_t len, llama_token *out, int32_t cap, bool special, char *err) {
	return guard(err, INT32_MIN, [&] { return llama_tokenize(v, text, len, out, cap, false, special); });
}

int32_t bb_piece(const struct llama_vocab *v, llama_token t, char *buf, int32_t cap) {
	return guard(nullptr, 0, [&] { return llama_token_to_piece(v, t, buf, cap, 0, true); });
}

int32_t bb_chat(const char *tmpl, const char **role, const char **content, int32_t n, bool add_assistant, char *buf, int32_t cap) {
	return guard(nullptr, -1, [&] {
		llama_chat_message *m = new llama_chat_message[n];
		for (int32_t i = 0; i < n; i++) m[i] = {role[i], content[i]};
		int32_t rc = llama_chat_apply_template(tmpl, m, n, add_assistant, buf, cap);
		delete[] m;
		return rc;
	});
}
}
