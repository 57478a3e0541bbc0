"""Any thread may use any tensor, and nobody waits for the GIL with a lock in hand."""

import gc
import subprocess
import sys
import threading
import time
import weakref

import numpy as np

import reprise as rp


def run(count, body):
    """Runs body(i) on threads; whatever one raises is raised here. A deadlock fails the test."""
    errors = []

    def guarded(i):
        try:
            body(i)
        except BaseException as error:  # noqa: B902: reported below
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "a deadlock"
    if errors:
        raise errors[0]


def test_one_lazy_tensor_read_by_many():
    x = rp.asarray(np.arange(100000, dtype=np.float32))
    y = rp.sin(x) * 2
    results = [None] * 8

    def read(i):
        results[i] = np.asarray(y)

    run(8, read)
    for result in results:
        assert np.array_equal(result, results[0])


def test_adopting_and_letting_go_on_many_threads():
    shared = rp.asarray(np.zeros(64, np.float32)) + 0
    watched = []

    class Array(np.ndarray):
        pass

    def work(i):
        for n in range(100):
            array = np.full(64, i * 1000 + n, dtype=np.float32).view(Array)
            watched.append(weakref.ref(array))
            x = rp.asarray(array)
            y = x + shared
            del array, x  # the last reference goes inside a computation, without the GIL
            assert np.asarray(y)[0] == i * 1000 + n

    run(6, work)
    rp.stats()
    gc.collect()
    assert sum(w() is not None for w in watched) == 0


def test_jit_and_assigns_on_many_threads():
    total = rp.zeros((4,)).realize()

    @rp.jit
    def add(x, scale):
        total.assign_(total + x * scale)
        return x * scale

    def work(i):
        for n in range(50):
            array = np.full(4, n, np.float32)
            assert add(array, float(i)).tolist() == [n * i] * 4

    run(6, work)
    assert total.tolist() == [sum(n * i for i in range(6) for n in range(50))] * 4
    assert add.recorded == 1


def test_other_threads_run_while_one_computes():
    x = rp.rand((600, 600)).realize()
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    ticker = threading.Thread(target=tick)
    ticker.start()
    y = x
    start = time.perf_counter()
    for _ in range(12):
        y = rp.tanh(y @ x)
    y.realize()
    end = time.perf_counter()
    done.set()
    ticker.join()
    assert sum(start < t < end for t in ticks) >= 1


def test_the_interpreter_may_end_with_tensors_alive():
    code = (
        "import numpy as np, reprise as rp\n"
        "kept = rp.asarray(np.ones(10)); pending = rp.asarray(np.ones(10)) + 1\n"
        "view = np.asarray(kept)\n"
        "step = rp.jit(lambda x: x + kept); step(rp.asarray(np.ones(10)))\n"
        "tape = rp.Tape(); tape.__enter__(); more = rp.asarray(np.ones(3)) * 2\n"
        "print('done')\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, "done\n", "")
