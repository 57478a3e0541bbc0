"""What all tests of the oracle share: the seed, and whether everything runs."""

import numpy as np
import pytest

from samples import FULL, SEED

def pytest_report_header():
    sample = "everything" if FULL else "a sample; REPRISE_TEST_FULL=1 runs everything"
    return f"oracle: {sample}. Repeat with REPRISE_TEST_SEED={SEED}"


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"REPRISE_TEST_SEED={SEED}")


@pytest.fixture
def seed():
    return SEED


@pytest.fixture
def full():
    return FULL


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield
