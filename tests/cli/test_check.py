"""``skcw check``: what is suspicious, and the correction of what was marked."""

import csv
import io
import json

import pytest


@pytest.fixture(scope="module")
def planted(files, tmp_path_factory):
    """A column file in which some "O" are called "B-DATE", and their lines."""
    lines = (files / "train.conll").read_text().split("\n")
    wrong = [i for i, line in enumerate(lines) if line.endswith(" O")][20::60]
    for i in wrong:
        lines[i] = lines[i].rsplit(" ", 1)[0] + " B-DATE"
    path = tmp_path_factory.mktemp("check") / "bad.conll"
    path.write_text("\n".join(lines))
    return path, wrong


FAST = ("--passes", 4, "--folds", 3)


def test_planted_errors_come_first_and_confusions_are_counted(run, planted):
    path, wrong = planted
    code, out, err = run("check", path, *FAST, "--top", 2 * len(wrong), "--json")
    found = json.loads(out)
    rows = found["suspects"]
    assert code == 0 and err == ""
    listed = {row["line"] - 1 for row in rows}
    assert len(listed & set(wrong)) >= 0.7 * len(wrong)
    chances = [row["probability"] for row in rows]
    assert chances == sorted(chances)
    for row in rows:
        n = len(row["given"].split())
        assert n == len(row["expected"].split()) and row["given"] != row["expected"]
        assert len(row["context"].partition("[")[2].partition("]")[0].split()) == n
    counts = found["confusions"]
    assert sum(c["count"] for c in counts) == found["stretches"] <= found["doubted"]
    assert counts == sorted(counts, key=lambda c: -c["count"])
    (dates,) = [c["count"] for c in counts if (c["from"], c["to"]) == ("DATE", "O")]
    assert dates >= 0.7 * len(wrong)
    code, out, _ = run("check", path, *FAST, "--top", 3)
    assert code == 0 and "labels, in" in out and "\nDATE -> O\n" in out
    assert sum(line.count("[") for line in out.splitlines()) == 3


def test_marked_rows_are_corrected_and_all_else_stays(run, planted, tmp_path):
    path, _ = planted
    table, corrected = tmp_path / "table.csv", tmp_path / "new.conll"
    assert run("check", path, *FAST, "-o", table)[0] == 0
    rows = list(csv.reader(io.StringIO(table.read_text())))
    header, rows = rows[0], [row for row in rows[1:] if row[2] == "B-DATE"]
    assert len(rows) > 3
    rows[0][0], rows[1][0], rows[1][3] = "x", "ok", "B-PER"
    lines = path.read_text().split("\n")
    for row, label in zip(rows[:2], ("O", "B-PER"), strict=True):
        at = int(row[header.index("line")]) - 1
        lines[at] = lines[at].replace(" B-DATE", f" {label}")
    # A spreadsheet may write it with a mark at the beginning and semicolons.
    text = "\n".join(";".join(row) for row in (header, *rows))
    table.write_text(text, encoding="utf-8-sig")
    code, out, err = run("check", path, "--fix", table, "-o", corrected)
    assert (code, out) == (0, "")
    assert err == "skcw check: 2 marked rows, 2 sentences with other labels\n"
    assert corrected.read_text() == "\n".join(lines)

    def refused(change):
        row = change(list(rows[0]))
        table.write_text(",".join(header) + "\n" + ",".join(row) + "\n")
        return run("check", path, "--fix", table)[::2]

    code, err = refused(lambda row: [*row[:2], "B-ORG", *row[3:]])
    assert code != 0 and "row 1: the corpus does not have these words" in err
    code, err = refused(lambda row: row[:4])
    assert code != 0 and "row 1: the corpus does not have these words" in err
    code, err = refused(lambda row: [*row[:3], "O O", *row[4:]])
    assert code != 0 and "row 1: 2 labels are expected of 1 words" in err
    code, err = refused(lambda row: [*row[:3], "B-DTAE", *row[4:]])
    assert code == 0 and "has no 'B-DTAE'" in err
    code, _, err = run("check", path, "--fix", path)
    assert code != 0 and "not a table that `skcw check -o` writes" in err
    code, _, err = run("check", "-", "--fix", table)
    assert code == 2 and "not standard input" in err


def test_the_list_goes_alone_to_standard_output_and_never_over_the_corpus(run, planted):
    path, _ = planted
    code, out, _ = run("check", path, *FAST, "--top", 2, "-o", "-")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0 and [row["mark"] for row in rows] == ["", ""]
    before = path.read_bytes()
    for same in (path, path.parent / "." / ".." / path.parent.name / path.name):
        code, out, err = run("check", path, *FAST, "-o", same)
        assert (code, out) == (2, "") and "-o is the corpus itself" in err
    assert path.read_bytes() == before
    table = path.with_name("table.csv")
    table.write_bytes(b"mark\xd0\0")
    code, _, err = run("check", path, "--fix", table, "-o", table)
    assert code == 2 and "-o is the table itself" in err
    code, _, err = run("check", path, "--fix", table)
    assert code == 1 and f"{table}, line 1: the byte 0xd0" in err


def test_check_needs_two_folds(run, files):
    code, _, err = run("check", files / "train.conll", "--folds", 1)
    assert code == 2 and "--folds must be at least 2" in err
