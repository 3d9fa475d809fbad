#!/bin/sh
# The documentation as a web site: the pages of docs/, the README in front, the examples, and the manual pages of the
# sources. Broken links are errors.
#
#   tools/site.sh BUILD    makes BUILD/site; needs mkdocs, which it installs into BUILD/site-tools if it is not there
set -eu
build=$(mkdir -p "${1:-build}" && cd "${1:-build}" && pwd)
cd "$(dirname "$0")/.."
mkdocs=$(command -v mkdocs || true)
if [ -z "$mkdocs" ]; then
  mkdocs=$build/site-tools/bin/mkdocs
  if [ ! -x "$mkdocs" ]; then
    python3 -m venv "$build/site-tools"
    "$build/site-tools/bin/pip" install -q 'mkdocs>=1.6,<2'
  fi
fi
pages=$build/site-pages
rm -rf "$pages"
mkdir -p "$pages/docs"
cp docs/*.md docs/*.svg docs/*.tsv "$pages/docs"
# an example is a page with its text
mkdir "$pages/examples"
for file in examples/*.c examples/*.cxx examples/*.py; do
  case $file in *.py) language=python ;; *.cxx) language=cpp ;; *) language=c ;; esac
  { printf '# %s\n\n~~~%s\n' "$file" $language; cat "$file"; echo '~~~'; } > "$pages/$file.md"
done
sed -i 's|(\.\./examples/\([a-z_]*\.[a-z]*\))|(../examples/\1.md)|g' "$pages"/docs/*.md
# pages of the repository outside docs/ are copied beside it; links between all of them stay as they are
cp README.md "$pages/index.md"
cp CONTRIBUTING.md CHANGELOG.md "$pages"
sed -i 's|(README.md)|(index.md)|g' "$pages"/*.md
sed -i 's|(\.\./README.md)|(../index.md)|g' "$pages"/docs/*.md
python3 tools/manual_pages.py "$pages/manual"
cat > "$build/mkdocs.yml" << EOF
site_name: sparsegpu
site_description: GPU sparse matrices, preconditioners and solvers for PETSc
docs_dir: $pages
site_dir: $build/site
theme: readthedocs
validation: {links: {not_found: warn, anchors: warn, unrecognized_links: warn}}
nav:
  - Start: index.md
  - Use: [$(for p in install building examples solvers amg formats options troubleshooting communication limits; do
    [ -f docs/$p.md ] && printf 'docs/%s.md, ' $p; done)]
  - Manual pages: manual/index.md
  - Figures: [docs/results.md, docs/performance.md]
  - Develop: [docs/architecture.md, docs/add-a-format.md, docs/add-a-preconditioner.md, $(
    [ ! -f docs/xsdk.md ] || printf 'docs/xsdk.md, ')docs/fuzzing.md, CONTRIBUTING.md, CHANGELOG.md]
not_in_nav: |
  /manual/*.md
  /examples/*.md
EOF
# not -q, which drops the warnings that --strict counts
"$mkdocs" build --strict -f "$build/mkdocs.yml" > "$build/site.log" 2>&1 || { cat "$build/site.log"; exit 1; }
echo "Site: $build/site/index.html"
