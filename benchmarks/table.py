"""Rows of `./dev bench --json FILE` as Markdown tables: python3 benchmarks/table.py FILE [DOCUMENT].

With a document the tables replace what stands between its marks.
"""
import json
import sys

MARKS = "<!-- tables: benchmarks/table.py -->\n", "<!-- end of the tables -->\n"


def figure(value):
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{digits}f}" if value >= 0.1 else f"{value:.3g}"


def tables(results):
    """One table for each program; a line for each row, with all of its peers."""
    programs = {}
    for result in results:
        programs.setdefault(result["program"], {}).setdefault(result["name"], []).append(result)
    lines = []
    for program, rows in programs.items():
        lines += [f"### {program}", "", "| row | ours | of the limit | peers (ratio) |", "| --- | --- | --- | --- |"]
        for name, found in rows.items():
            first = found[0]
            limit = f"{first['limit']:.0f} %" if "limit" in first else ""
            peers = ", ".join(
                f"{each['peer']} {figure(each['theirs'])} ({figure(each['ratio'])})"
                for each in sorted(found, key=lambda each: each.get("ratio", 0))
                if "peer" in each
            )
            lines.append(f"| {name} | {figure(first['ours'])} {first['unit']} | {limit} | {peers} |")
        lines.append("")
    return "\n".join(lines)


def main(results_file, document=None):
    with open(results_file, encoding="utf-8") as file:
        text = tables(json.load(file))
    if document is None:
        print(text)
        return
    with open(document, encoding="utf-8") as file:
        before, _, rest = file.read().partition(MARKS[0])
    _, found, after = rest.partition(MARKS[1])
    if not found:
        sys.exit(f"{document} has no place for tables: a line {MARKS[0]!r} and a line {MARKS[1]!r}")
    with open(document, "w", encoding="utf-8") as file:
        file.write(before + MARKS[0] + "\n" + text + "\n" + MARKS[1] + after)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
