"""The numbers that both sides of a benchmark start from: `numbers` of rows.cpp."""
import numpy


def numbers(count, salt=0):
    """A linear congruential sequence of 64-bit words, all of its steps at once; products wrap."""
    if count == 0:
        return numpy.empty(0, numpy.float32)
    mask = 2**64 - 1
    start = numpy.uint64((salt * 0x9E3779B97F4A7C15 + 1) & mask)
    # word i = a^i start + c (1 + a + .. + a^(i-1))
    powers = numpy.full(count, 6364136223846793005, numpy.uint64)
    numpy.cumprod(powers, out=powers)
    sums = numpy.empty(count, numpy.uint64)
    sums[0] = 1
    numpy.cumsum(powers[:-1], out=sums[1:])
    sums[1:] += numpy.uint64(1)
    powers *= start
    sums *= numpy.uint64(1442695040888963407)
    powers += sums
    return (powers >> numpy.uint64(40)).astype(numpy.float32) * numpy.float32(2.0**-23) - numpy.float32(1)
