// On a CPU with AMX, -march=native makes ggml-cpu.cpp ask for the AMX buffer
// type, whose source the carrier module does not compile: the link fails.
// Answering that there is none leaves AVX-512 in use. Weak, so that a real
// definition wins.
#include "shim.h"

#if defined(__AMX_INT8__) && defined(__AVX512VNNI__) && !defined(BRANCHBOOK_LLAMA_SYSTEM)

__attribute__((weak)) ggml_backend_buffer_type_t ggml_backend_amx_buffer_type(void) { return nullptr; }

#endif
