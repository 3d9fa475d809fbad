#!/usr/bin/env python3
"""Fails where a page of the documentation links to a file or heading that is not there.

  tools/check_links.py [FOLDER]    the pages of this checkout, or those in FOLDER
"""
import glob
import os
import re
import subprocess
import sys

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def anchors(path):
    """What a heading of the page can be linked by, as web pages of repositories make it."""
    found = set()
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith("#"):
                words = re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower())
                found.add(words.replace(" ", "-"))
    return found


def main():
    if len(sys.argv) > 1:
        os.chdir(sys.argv[1])
        pages = glob.glob("**/*.md", recursive=True)
    else:
        os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
        pages = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], check=True,
                               stdout=subprocess.PIPE).stdout.decode().split()
    faults = 0
    for page in pages:
        with open(page, encoding="utf-8") as f:
            text = f.read()
        for target in LINK.findall(text):
            if re.match(r"[a-z]+:", target):
                continue  # another site's
            name, _, anchor = target.partition("#")
            path = os.path.normpath(os.path.join(os.path.dirname(page), name)) if name else page
            if not os.path.exists(path):
                print(f"{page}: no file {target}")
                faults += 1
            elif anchor and path.endswith(".md") and anchor not in anchors(path):
                print(f"{page}: no heading {target}")
                faults += 1
    print(f"{len(pages)} pages, {faults} broken links")
    return 1 if faults or not pages else 0


sys.exit(main())
