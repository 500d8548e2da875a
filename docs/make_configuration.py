#!/usr/bin/env python3
"""Writes the pages that list every field of a configuration, from the program's own words.

  docs/make_configuration.py [--program build/release/lfiw] [--check]

`lfiw run FILE --dry-run` prints all fields of an experiment with their defaults and meanings. This
script runs it once for each kind of experiment and writes docs/configuration.md (run and evaluate)
and docs/configuration-experiments.md (everything else). With --check it writes nothing and ends
with status 1 where a page differs from what the program says.
"""

import argparse
import collections
import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

# Groups of fields that stand in many places are described once, under these titles. A group is known
# by the first of these names, which stands first in it, and has all of them.
GROUP_TITLES = {
    ("hidden_layers", "width", "activation"): "Network",
    ("steps", "batch", "validate_every", "patience", "cooldown", "passes", "adam"): "Training",
    ("steps", "batch", "chunks", "report_every", "device", "adam"): "Training on images",
    ("learning_rate", "beta1", "beta2", "epsilon", "weight_decay", "decay_kind", "clip_norm"): "Adam",
    ("relative_floor", "absolute_floor"): "Scaler",
    ("caution", "refuse"): "Limits",
}

EVALUATE_PAGE = """\
# Configuration of `run` and `evaluate`

This page is generated from the program by `docs/make_configuration.py`; change the text of a field
where the field is declared. `lfiw run FILE --dry-run` prints the same list for a file, with the
values that the file and the command line give.

A field is set in an experiment file (YAML) or on the command line as `path.to.field=value`, which
comes after the file. Lists are written `[1, 2, 3]`, and in a shell they are quoted:
`'estimators.horizons=[5,10]'`. Unknown fields and wrong values are errors, one line for each.

There are two sets of defaults. `preset: paper`, the default of an experiment file, has the
settings of the paper. `preset: robust`, the default of `lfiw evaluate` and of the quick-start,
states the value in models that the logged policy calibrates. The column "Default" has one value
where both agree, else the paper's and then the one of `robust`. `evaluate` also fills in what its
options say and what the log tells: `environment`, `task`, `policies`, `log.file` and
`value.horizon`.

Groups of fields that stand in many places, such as the training of a network, are described once,
on [a page of their own](configuration-groups.md). Where one of them stands, its row names the
values that differ from the defaults there.
"""

GROUPS_PAGE = """\
# Groups of fields

This page is generated from the program by `docs/make_configuration.py`; change the text of a field
where the field is declared. These groups of fields stand in many places of the configurations of
[`run` and `evaluate`](configuration.md) and of [other experiments](configuration-experiments.md).
The default here is the most frequent one; where a group stands, its row names what differs.
"""

OTHERS_PAGE = """\
# Configuration of other experiments

This page is generated from the program by `docs/make_configuration.py`; change the text of a field
where the field is declared. The field `experiment` of a file says which kind it is. How fields are
set is told on the page of [`run` and `evaluate`](configuration.md); groups of fields that stand in
many places are described [once](configuration-groups.md). Files of these kinds stand in
`experiments/configs`.
"""

# Kinds of experiments on the second page, with what they are.
OTHERS = {
    "bench": "`lfiw bench` and `lfiw run`: estimators on logs of systems whose values are known.",
    "verdict_calibration": "How often the verdict is right, on random systems of known value.",
    "gof": "`lfiw gof`: how well generated images fit real ones.",
    "gof_table": "The paper's tables of generative models, trained and measured.",
    "omniglot": "The paper's table of generated images as training data.",
    "toy_gaussian": "The paper's figure of a classifier between two distributions of one dimension.",
}

# Sections of the kinds above whose fields are those of the first page.
SAME_SECTIONS = ("value", "log", "dynamics", "classifiers", "rollout", "verdict", "support",
                 "doubly_robust")


class Field:
    """A field with its default, or a map of fields."""

    def __init__(self, name, value, comment):
        self.name, self.value, self.comment = name, value, comment
        self.children = []

    def meaning(self):
        """The comment without the allowed values."""
        return split_comment(self.comment)[0]

    def allowed(self):
        return split_comment(self.comment)[1]

    def names(self):
        return [child.name for child in self.children]

    def group(self):
        """The title of the group of fields that this is; empty where it is none."""
        names = self.names()
        for known, title in GROUP_TITLES.items():
            if names and names[0] == known[0] and set(known) <= set(names):
                return title
        return ""

    def leaves(self, prefix=""):
        for child in self.children:
            if child.children:
                yield from child.leaves(prefix + child.name + ".")
            else:
                yield prefix + child.name, child.value


def split_comment(comment):
    """Takes the allowed values, the last pair of parentheses, off a comment."""
    for kind in ("list of", "list", "one of", "integer", "number"):
        at = comment.rfind(f" ({kind}")
        if at >= 0 and comment.endswith(")"):
            return comment[:at].strip(), comment[at + 2:-1]
        if comment.startswith(f"({kind}") and comment.endswith(")"):
            return "", comment[1:-1]
    return comment.strip(), ""


LINE = re.compile(r"^( *)([A-Za-z_0-9]+):(?: (.*?))?(?: +# (.*))?$")


def parse(text):
    root = Field("", "", "")
    stack = [(-1, root)]
    for line in text.splitlines():
        match = LINE.match(line)
        if not match:
            raise SystemExit(f"a line that is no field: {line!r}")
        indent, name, value, comment = match.groups()
        while stack[-1][0] >= len(indent):
            stack.pop()
        field = Field(name, (value or "").strip(), comment or "")
        stack[-1][1].children.append(field)
        stack.append((len(indent), field))
    return root


def dry_run(program, fields):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "kind.yaml"
        file.write_text("".join(f"{key}: {value}\n" for key, value in fields.items()))
        done = subprocess.run([program, "run", str(file), "--dry-run", "--threads", "1"],
                              capture_output=True, text=True, cwd=folder)
    if done.returncode:
        raise SystemExit(f"{program} run with {fields}: {done.stderr.strip()}")
    return parse(done.stdout)


def cell(text):
    text = text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")
    # words with _ would be set in italics between two of them
    return re.sub(r"(?<![`\w])([a-z0-9.]*_[a-z0-9_.]*)(?![`\w])", r"`\1`", text)


def code(text):
    return f"`{text}`" if text else ""


def anchor(title):
    return re.sub(r"[^a-z0-9_ -]", "", title.lower()).replace(" ", "-")


class Page:
    def __init__(self, text, groups):
        self.lines = [text.rstrip()]
        self.groups = groups  # most common defaults, by title

    def group_cell(self, field, other):
        """The values of a group that are not those of its description."""
        common = self.groups[field.group()]
        values = dict(other.leaves()) if other else {}
        parts = []
        for path, value in field.leaves():
            second = values.get(path, value)
            if field.group() == "Limits" or common.get(path) != value or second != value:
                parts.append(code(f"{path}: {value}") if value == second else
                             f"{code(f'{path}: {value}')} / {code(second)}")
        return ", ".join(parts)

    def default_cell(self, field, other):
        if other is None or other.value == field.value:
            return code(field.value)
        return f"{code(field.value)} / {code(other.value)}"

    def row(self, path, default, meaning, allowed):
        self.lines.append(f"| {code(path)} | {default} | {cell(meaning)} | {cell(allowed)} |")

    def rows(self, field, other, prefix):
        for child in field.children:
            twin = next((x for x in other.children if x.name == child.name), None) if other else None
            path = prefix + child.name
            if title := child.group():
                self.lines.append(f"| {code(path)} | {self.group_cell(child, twin)} | "
                                  f"{cell(child.meaning())} | [{title}](configuration-groups.md#{anchor(title)}) |")
            elif child.children:
                self.row(path, "", child.meaning(), "")
                self.rows(child, twin, path + ".")
            else:
                self.row(path, self.default_cell(child, twin), child.meaning(), child.allowed())

    def header(self):
        self.lines += ["", "| Field | Default | Meaning | Values |", "| --- | --- | --- | --- |"]

    def section(self, level, title, text, fields, other=None, prefix=""):
        self.lines += ["", "#" * level + " " + title]
        if text:
            self.lines += ["", text]
        holder = Field("", "", "")
        holder.children = fields
        self.header()
        self.rows(holder, other, prefix)

    def text(self):
        return "\n".join(self.lines).rstrip() + "\n"


def collect(field, found):
    for child in field.children:
        if child.group():
            found[child.group()].append(child)
        collect(child, found)


def common_defaults(fields):
    """The most frequent value of every field of a group, the first one where several are."""
    counts = collections.defaultdict(collections.Counter)
    for field in fields:
        for path, value in field.leaves():
            counts[path][value] += 1
    return {path: counter.most_common(1)[0][0] for path, counter in counts.items()}


def sentence(text):
    return text[:1].upper() + text[1:] + "." if text and not text.endswith(".") else text


def evaluate_page(paper, robust, groups):
    page = Page(EVALUATE_PAGE, groups)
    top = [field for field in paper.children if not field.children]
    page.section(2, "Top level", "", top, robust)
    for field in paper.children:
        if not field.children:
            continue
        twin = next(x for x in robust.children if x.name == field.name)
        page.section(2, f"`{field.name}`", cell(sentence(field.meaning())), field.children, twin,
                     field.name + ".")
    return page.text()


def groups_page(groups, examples):
    page = Page(GROUPS_PAGE, groups)
    for title in GROUP_TITLES.values():
        if title not in examples:
            continue
        page.lines += ["", f"## {title}"]
        if title == "Limits":
            page.lines += ["", "The two limits of one quantity of the verdict. Which side is beyond "
                           "a limit is told where the quantity is."]
        page.header()
        for child in examples[title].children:
            if sub := child.group():
                page.lines.append(f"| {code(child.name)} |  | {cell(child.meaning())} | "
                                  f"[{sub}](#{anchor(sub)}) |")
            else:
                default = "" if title == "Limits" else code(groups[title][child.name])
                allowed = "" if title == "Limits" else child.allowed()
                page.row(child.name, default, child.meaning(), allowed)
    return page.text()


def others_page(kinds, groups, paper):
    page = Page(OTHERS_PAGE, groups)
    known = {field.name: field.names() for field in paper.children}
    for kind, root in kinds.items():
        page.lines += ["", f"## `experiment: {kind}`", "", OTHERS[kind]]
        page.header()
        top = [field for field in root.children if not field.children]
        holder = Field("", "", "")
        holder.children = top
        page.rows(holder, None, "")
        for field in root.children:
            if not field.children:
                continue
            if field.name in SAME_SECTIONS and known.get(field.name) == field.names():
                page.lines.append(f"| {code(field.name)} | | {cell(field.meaning())} | "
                                  f"as [`{field.name}`](configuration.md#{anchor(field.name)}) |")
                continue
            holder.children = [field]
            page.rows(holder, None, "")
        different = different_defaults(root, paper, known)
        if different:
            page.lines += ["", "Defaults that differ from those of `preset: robust`:", "",
                           ", ".join(code(x) for x in different) + "."]
    return page.text()


def different_defaults(root, robust, known):
    out = []
    for field in root.children:
        if field.name not in SAME_SECTIONS or known.get(field.name) != field.names():
            continue
        twin = next(x for x in robust.children if x.name == field.name)
        values = dict(twin.leaves())
        out += [f"{field.name}.{path}: {value}" for path, value in field.leaves()
                if field.children and values.get(path) != value]
    return out


def make_pages(program):
    paper = dry_run(program, {"experiment": "mbope"})
    robust = dry_run(program, {"experiment": "mbope", "preset": "robust"})
    kinds = {kind: dry_run(program, {"experiment": kind}) for kind in OTHERS}
    found = collections.defaultdict(list)
    for root in (paper, *kinds.values()):
        collect(root, found)
    groups = {title: common_defaults(fields) for title, fields in found.items()}
    examples = {title: fields[0] for title, fields in found.items()}
    return {"configuration.md": evaluate_page(paper, robust, groups),
            "configuration-experiments.md": others_page(kinds, groups, robust),
            "configuration-groups.md": groups_page(groups, examples)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(HERE.parent / "build/release/lfiw"))
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a page is stale")
    arguments = parser.parse_args()
    program = str(pathlib.Path(arguments.program).resolve())
    stale = False
    for name, text in make_pages(program).items():
        file = HERE / name
        if not arguments.check:
            file.write_text(text)
            continue
        old = file.read_text() if file.exists() else ""
        if old == text:
            continue
        stale = True
        print(f"docs/{name} is not what the program says; run docs/make_configuration.py", file=sys.stderr)
        sys.stderr.writelines(list(difflib.unified_diff(
            old.splitlines(True), text.splitlines(True), f"docs/{name}", "the program"))[:40])
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
