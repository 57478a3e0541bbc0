// Calls a function that is not in the object: kernels have no external symbols.
float elsewhere(float x);
void phase0(void* const* buffers) { *(float*)buffers[0] = elsewhere(1); }
