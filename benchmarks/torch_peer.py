"""PyTorch's side of the benchmarks: does named work on request.

A request is a line "time THREADS SECONDS WORK.." or "result THREADS 0 WORK..". The answer to the
first is the seconds of one call, of as many as take SECONDS; to the second how many numbers follow
it as f32. "error TEXT" answers what cannot be done. Ends with its input.
"""
import ctypes
import functools
import subprocess
import sys
import time

try:
    import torch
except ImportError:
    sys.exit(1)
import numpy

from torch_numbers import numbers
import torch_steps


@functools.lru_cache(maxsize=None)
def values(salt, *shape):
    """Shared by all works that start from the same numbers."""
    count = 1
    for extent in shape:
        count *= extent
    return torch.from_numpy(numbers(count, salt).reshape(shape))


def gemm(m, n, k, transposed_a, transposed_b, dtype="float32"):
    a = values(1, k, m).T if int(transposed_a) else values(1, m, k)
    b = values(2, n, k).T if int(transposed_b) else values(2, k, n)
    a, b = a.to(getattr(torch, dtype)), b.to(getattr(torch, dtype))
    return lambda: a @ b


def batched_gemm(batch, m, n, k):
    a, b = values(1, batch, m, k), values(2, batch, k, n)
    return lambda: torch.bmm(a, b)


def rows(name, *shape):
    x = values(0, *shape)
    if name == "relu_tanh_scale":
        return lambda: torch.tanh(torch.relu(x)) * 2 + 1
    if name == "gelu":
        return lambda: torch.nn.functional.gelu(x, approximate="tanh")
    if name == "exp":
        return lambda: torch.exp(x)
    if name == "two_products":
        b, c, d = (values(salt, *shape) for salt in (1, 2, 3))
        return lambda: x * b + c * d
    if name == "sum_of_squares":
        flat = x.flatten()
        return lambda: flat.dot(flat)
    if name == "softmax":
        return lambda: torch.softmax(x, 1)
    if name == "logsumexp":
        return lambda: torch.logsumexp(x, 1)
    if name == "layer_norm":
        return lambda: torch.nn.functional.layer_norm(x, x.shape[1:])
    raise ValueError(f"no rows called {name}")


def convolution(what, batch, channels, outputs, extent, kernel, padding):
    x = values(1, batch, channels, extent, extent)
    weight = values(2, outputs, channels, kernel, kernel)
    if what == "forward":
        return lambda: torch.conv2d(x, weight, padding=padding)
    out = extent + 2 * padding - kernel + 1
    cotangent = values(3, batch, outputs, out, out)
    wanted = [what != "weight", what != "input", False]

    def backward():
        found = torch.ops.aten.convolution_backward(
            cotangent, x, weight, None, [1, 1], [padding, padding], [1, 1], False, [0, 0], 1, wanted
        )
        return torch.cat([each.flatten() for each in found if each is not None and each.numel()])

    def gradients():
        return torch.ops.aten.convolution_backward(
            cotangent, x, weight, None, [1, 1], [padding, padding], [1, 1], False, [0, 0], 1, wanted
        )

    gradients.result = backward
    return gradients


def chain(a, ops):
    x = a
    for _ in range(ops):
        x = x * a
    return x


def ops_of(a, b, kind):
    def tensor():
        for _ in range(1000):
            a * b

    def literal():
        for _ in range(1000):
            a * 2.0

    return {"tensor": tensor, "literal": literal}[kind]


def eager_op(kind):
    return ops_of(torch.ones(1), torch.ones(1), kind)


def numpy_op(kind):
    return ops_of(numpy.ones(1, numpy.float32), numpy.ones(1, numpy.float32), kind)


def eager_chain(ops):
    a = torch.ones(1)
    return lambda: chain(a, ops)


def script_chain(ops):
    a = torch.ones(1)

    class Chain(torch.nn.Module):
        def forward(self, x):
            return chain(x, ops)

    script = torch.jit.freeze(torch.jit.trace(Chain().eval(), a))
    for _ in range(3):
        script(a)
    return lambda: script(a)


def compile_chain(ops):
    """Traced anew; the second run is what optimizes."""
    a = torch.ones(1 << 10)

    def compiled():
        script = torch.jit.trace(lambda x: chain(x, ops), a, check_trace=False)
        for _ in range(3):
            script(a)

    return compiled


def process(what):
    """A Python that makes its first step and ends, as this one was started."""

    def figure():
        start = time.perf_counter()
        command = [sys.executable, __file__, "first_step"]
        output = subprocess.run(command, check=True, capture_output=True).stdout
        return {"seconds": time.perf_counter() - start, "memory": float(output)}[what]

    figure.figure = figure
    return figure


WORKS = {
    "gemm": gemm,
    "batched_gemm": batched_gemm,
    "rows": rows,
    "convolution": convolution,
    "eager_op": eager_op,
    "numpy_op": numpy_op,
    "eager_chain": eager_chain,
    "script_chain": script_chain,
    "compile_chain": compile_chain,
    "process": process,
    "step": torch_steps.step,
}


@functools.lru_cache(maxsize=None)
def made(words, _threads):
    return WORKS[words[0]](*(int(word) if word.isdigit() else word for word in words[1:]))


def seconds(call, at_least):
    if hasattr(call, "figure"):
        return call.figure()
    call()
    count, start = 0, time.perf_counter()
    while True:
        call()
        count += 1
        elapsed = time.perf_counter() - start
        if elapsed >= at_least:
            return elapsed / count


@functools.lru_cache(maxsize=None)
def blas_thread_setters():
    """Of the OpenBLAS that torch has loaded: its threads are its own, one pool for each library."""
    with open("/proc/self/maps", encoding="ascii") as maps:
        paths = {line.split()[-1] for line in maps}
    libraries = [ctypes.CDLL(path) for path in paths if "blas" in path.rpartition("/")[2]]
    name = "openblas_set_num_threads"
    return [getattr(library, name) for library in libraries if hasattr(library, name)]


def set_threads(threads):
    torch.set_num_threads(threads)
    for set_blas_threads in blas_thread_setters():
        set_blas_threads(threads)


def answer(line):
    what, threads, at_least, *words = line.split()
    set_threads(int(threads))
    work = made(tuple(words), threads)
    with torch.set_grad_enabled(words[0] == "step"):
        if what == "time":
            print(repr(seconds(work, float(at_least))), flush=True)
            return
        result = getattr(work, "result", work)()
    flat = numpy.ascontiguousarray(numpy.asarray(result, dtype=numpy.float32)).reshape(-1)
    print(flat.size, flush=True)
    sys.stdout.buffer.write(flat.tobytes())
    sys.stdout.flush()


def serve():
    print("ready", flush=True)
    for line in sys.stdin:
        try:
            answer(line)
        except Exception as error:  # whatever it is, the other side says it
            print("error", type(error).__name__, str(error).replace("\n", " "), flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["first_step"]:
        print(torch_steps.first_step(), flush=True)
    else:
        serve()
