// A kernel by hand: constants, calls, a jump table and a table of pointers, so that loading it
// takes every kind of relocation that such code has.
struct launch {
  void* const* buffers;
  const unsigned long* params;
  void* status;
};

static const float steps[4] = {0.5f, 1.5f, 2.5f, 3.5f};

__attribute__((noinline)) static float scaled(float x, unsigned long factor) {
  return x * (float)factor + steps[factor & 3];
}

static float twice(float x) { return 2 * x; }
static float negated(float x) { return -x; }
static float (*const functions[2])(float) = {twice, negated};

__attribute__((noinline)) static float choose(long which, float x) {
  switch (which) {
    case 0: return x + 11;
    case 1: return x * 13;
    case 2: return x - 17;
    case 3: return x / 19;
    case 4: return x * x + 23;
    case 5: return 29 - x;
    default: return 0;
  }
}

void phase0(const struct launch* launch, long begin, long end, void* scratch) {
  const float* in = launch->buffers[0];
  float* out = launch->buffers[1];
  (void)scratch;
  for (long i = begin; i < end; ++i) out[i] = scaled(in[i], launch->params[0]);
}

void phase1(const struct launch* launch, long begin, long end, void* scratch) {
  float* out = launch->buffers[1];
  float* kept = scratch;
  for (long i = begin; i < end; ++i) {
    kept[0] = functions[i & 1](out[i]);
    out[i] = choose(i % 7, kept[0]);
  }
}
