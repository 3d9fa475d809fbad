#!/usr/bin/env python3
"""Makes a page of each manual page in the sources: the comments between /*MC, /*@, /*S and their ends.

  tools/manual_pages.py FOLDER         writes FOLDER/NAME.md and FOLDER/index.md
  tools/manual_pages.py --man FOLDER   writes FOLDER/man3/NAME.3, for man
"""
import os
import re
import sys

START = re.compile(r"/\*(MC|@C?|S|E)\n(.*?)\n[ ]*(?:M|@|S|E)\*/\n?(.*?)(?=\n\s*\n|\n/\*|\n#|\Z)", re.S)
SECTION = re.compile(r"^ *((?:Input|Output|Input/Output) Parameters?|Options Database Keys?|Notes?|Level|Example|"
                     r"Developer Notes?|Calling Sequence)s?:(.*)$")
ITEM = re.compile(r"^ *[+.\-] +(\S.*?) +- +(.*)$")


def sources():
    listed = [os.path.join(where, name) for where, _, names in os.walk("src") for name in names]
    return sorted(f for f in listed if f.endswith((".h", ".hpp", ".cxx")))


def pages():
    """{name: (one line, body lines, declaration, file)}"""
    found = {}
    for path in sources():
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for match in START.finditer(text):
            kind, body, after = match.groups()
            lines = body.splitlines()
            head = ""
            while lines and lines[0].strip():
                head += " " + lines.pop(0).strip()
            name, _, line = head.strip().partition(" ")
            line = line.lstrip("-= ").strip()
            declaration = re.split(r"\n\{|\)\n|;", after)[0].strip() if kind.startswith("@") else after.splitlines()[0].strip()
            if kind.startswith("@") and not declaration.endswith(")"):
                declaration += ")"
            if name in found:
                sys.exit(f"{path}: a second manual page {name}")
            found[name] = (line, lines, declaration, path)
    return found


def linked(text, names):
    def link(match):
        word = match.group(1)
        name = word.rstrip("()")
        return f"[`{word}`]({name}.md)" if name in names else f"`{word}`"
    return re.sub(r"`([^`]+)`", link, text)


def escaped(text):
    return re.sub(r"<([^>]*)>", r"&lt;\1&gt;", text)


def render(name, page, names):
    line, body, declaration, path = page
    out = [f"# {name}", "", linked(escaped(line), names), "", "```c", declaration, "```", ""]
    for raw in body:
        section, item = SECTION.match(raw), ITEM.match(raw)
        if section:
            rest = section.group(2).strip()
            out += ["", f"**{section.group(1)}**" + (f" {rest}" if rest else ""), ""]
        elif item:
            out.append(f"- `{item.group(1).strip()}`: {linked(escaped(item.group(2)), names)}")
        elif raw.strip().startswith(".seealso:"):
            out += ["", "**See also** " + linked(raw.strip()[9:].strip(), names)]
        elif not raw.strip():
            out.append("")
        else:
            text = linked(escaped(raw.strip()), names)
            out.append("  " + text if out and out[-1].startswith(("- ", "  ")) else text)
    return "\n".join(out + ["", f"*In `{path}`.*", ""])


def roff(text):
    """A line of text for man: nothing in it is a request or an escape; what is in backquotes is bold."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"`([^`]+)`", r"\\fB\1\\fR", text)
    return "\\&" + text if text.startswith((".", "'")) else text


def render_roff(name, page):
    line, body, declaration, path = page
    out = [f".TH {name} 3 \"\" sparsegpu \"sparsegpu\"", ".SH NAME", f"{name} \\- {roff(line.replace('`', ''))}", ".SH SYNOPSIS", ".nf"]
    out += [roff(text) for text in declaration.splitlines()] + [".fi"]
    if body and not SECTION.match(next(raw for raw in body if raw.strip())):
        out.append(".SH DESCRIPTION")
    for raw in body:
        section, item = SECTION.match(raw), ITEM.match(raw)
        if section:
            out += [f".SH {section.group(1).upper()}"] + ([roff(section.group(2).strip())] if section.group(2).strip() else [])
        elif item:
            out += [".TP", f"\\fB{roff(item.group(1).strip())}\\fR", roff(item.group(2))]
        elif raw.strip().startswith(".seealso:"):
            out += [".SH SEE ALSO", roff(raw.strip()[9:].strip())]
        else:
            out.append(roff(raw.strip()) or ".PP")
    return "\n".join(out) + "\n"


def main():
    man = sys.argv[1:2] == ["--man"]
    if len(sys.argv) != 2 + man:
        sys.exit(__doc__)
    folder = os.path.abspath(sys.argv[1 + man])
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    all_pages = pages()
    if man:
        os.makedirs(os.path.join(folder, "man3"), exist_ok=True)
        for name, page in all_pages.items():
            with open(os.path.join(folder, "man3", name + ".3"), "w", encoding="utf-8") as f:
                f.write(render_roff(name, page))
        return
    os.makedirs(folder, exist_ok=True)
    for name, page in all_pages.items():
        with open(os.path.join(folder, name + ".md"), "w", encoding="utf-8") as f:
            f.write(render(name, page, all_pages))
    with open(os.path.join(folder, "index.md"), "w", encoding="utf-8") as f:
        f.write("# Manual pages\n\n| name | what |\n|---|---|\n")
        for name in sorted(all_pages):
            line = linked(escaped(all_pages[name][0]), all_pages).replace("|", "\\|")
            f.write(f"| [{name}]({name}.md) | {line} |\n")
    print(f"{len(all_pages)} manual pages")


main()
