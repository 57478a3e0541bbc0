"""The page about Python quotes an example that runs."""

import pathlib
import runpy

ROOT = pathlib.Path(__file__).resolve().parents[3]


def test_the_page_quotes_the_example():
    example = (ROOT / "examples" / "train.py").read_text()
    assert f"```python\n{example}```\n" in (ROOT / "docs" / "PYTHON.md").read_text()


def test_the_example_learns(capsys):
    runpy.run_path(str(ROOT / "examples" / "train.py"), run_name="__main__")
    assert float(capsys.readouterr().out.split("accuracy ")[1]) > 0.9
