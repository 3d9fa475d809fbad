#!/bin/sh
# Damaged matrix files, unknown names and a GPU that is not there: each must end the driver with a PETSc error that
# names what was met, an exit status that is neither 0 nor a signal's, and no memory left behind.
#
#   bad_input_test.sh COMPARE [COMMAND ...]     e.g. bad_input_test.sh build/examples/compare mpiexec -n 2
#
# MEMCHECK=1 runs the driver under valgrind and fails on its errors too.
set -u
compare=$1
shift
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
log=$folder/log
failures=0
tests=0

# expect "TEXT|TEXT" ARGUMENTS ...: runs the driver; every TEXT must be in its messages.
expect() {
  texts=$1
  shift
  tests=$((tests + 1))
  # shellcheck disable=SC2086
  $launch "$compare" "$@" -check_only -malloc_dump > "$log" 2>&1
  status=$?
  wrong=""
  [ "$status" -ne 0 ] || wrong="exit status 0"
  [ "$status" -lt 128 ] || wrong="died with status $status"
  grep -q "PETSC ERROR:" "$log" || wrong="$wrong; no PETSc error"
  grep -qE "Caught signal|Segmentation|Aborted|terminate called" "$log" && wrong="$wrong; a signal"
  [ -z "$clean" ] || ! grep -qE "$leftovers" "$log" || wrong="$wrong; memory"
  rest=$texts
  while [ -n "$rest" ]; do
    text=${rest%%|*}
    case $rest in *"|"*) rest=${rest#*|} ;; *) rest="" ;; esac
    grep -qF -e "$text" "$log" || wrong="$wrong; \"$text\" is not in the message"
  done
  if [ -n "$wrong" ]; then
    failures=$((failures + 1))
    echo "FAILED: $*: $wrong"
    sed 's/^/    /' "$log" | head -40
  fi
}
launch="$*"
# What -malloc_dump and valgrind say of memory. MPI loses some of its own: reports of valgrind count if our sources,
# which need -g, are among the callers.
sources="compressed|generate|json|load|matrix_market|measure|oracle|petsc_binary|rows|run|table|text_cursor"
leftovers="^\[ *[0-9]+\] *[0-9]+ bytes|Total space allocated|^==.*($sources)\.cxx:|Invalid (read|write)"
clean=yes # nothing may be left behind
[ "${MEMCHECK:-0}" = 0 ] || launch="$launch valgrind --leak-check=full --show-leak-kinds=definite"

# file NAME: writes standard input there.
file() { cat > "$folder/$1"; }
# bytes NAME 'OCTAL ESCAPES': writes a binary file.
bytes() { printf "$2" > "$folder/$1"; }
banner="%%MatrixMarket matrix coordinate"

# MatrixMarket: header
file header.mtx < /dev/null
expect "header.mtx|empty" -f "$folder/header.mtx"
echo "%MatrixMarket matrix coordinate real general" | file banner.mtx
expect "banner.mtx, line 1|%MatrixMarket" -f "$folder/banner.mtx"
echo "$banner float general" | file field.mtx
expect "field.mtx, line 1|float|pattern" -f "$folder/field.mtx"
echo "$banner real triangular" | file symmetry.mtx
expect "symmetry.mtx, line 1|triangular|skew-symmetric" -f "$folder/symmetry.mtx"
echo "$banner" | file cut.mtx
expect "cut.mtx, line 1" -f "$folder/cut.mtx"
echo "%%MatrixMarket matrix array pattern general" | file pattern.mtx
expect "pattern.mtx, line 1|pattern" -f "$folder/pattern.mtx"
printf '%s real general\n%% only comments\n' "$banner" | file sizes.mtx
expect "sizes.mtx, line 3|ends" -f "$folder/sizes.mtx"
# MatrixMarket: sizes
printf '%s real general\n2 two 2\n1 1 1\n2 2 1\n' "$banner" | file word.mtx
expect "word.mtx, line 2|\"two\"" -f "$folder/word.mtx"
printf '%s real general\n2 -2 2\n1 1 1\n2 2 1\n' "$banner" | file negative.mtx
expect "negative.mtx, line 2|-2" -f "$folder/negative.mtx"
printf '%s real general\n2 2\n1 1 1\n' "$banner" | file two.mtx
expect "two.mtx, line 2|number of entries" -f "$folder/two.mtx"
printf '%s real general\n2 2 2 2\n1 1 1\n' "$banner" | file four.mtx
expect "four.mtx, line 2|\"2\"" -f "$folder/four.mtx"
printf '%s real general\n4 4 2000000000\n1 1 1\n' "$banner" | file huge.mtx
expect "huge.mtx, line 2|2000000000" -f "$folder/huge.mtx"
printf '%s real general\n2000000000 2000000000 1\n1 1 1\n' "$banner" | file rows.mtx
expect "rows.mtx, line 2|2000000000" -f "$folder/rows.mtx"
printf '%s real general\n4 4 99999999999999999999\n1 1 1\n' "$banner" | file overflow.mtx
expect "overflow.mtx, line 2|99999999999999999999" -f "$folder/overflow.mtx"
printf '%%%%MatrixMarket matrix array real general\n1000000000 1000000000\n1\n' | file array.mtx
expect "array.mtx, line 2|1000000000000000000" -f "$folder/array.mtx"
printf '%s real symmetric\n2 3 1\n1 1 1\n' "$banner" | file oblong.mtx
expect "oblong.mtx, line 2|2 x 3" -f "$folder/oblong.mtx"
# MatrixMarket: entries
printf '%s real general\n4 4 3\n1 1 1\n2 2 1\n' "$banner" | file truncated.mtx
expect "truncated.mtx, line 5|after 2 of 3" -f "$folder/truncated.mtx"
printf '%s real general\n4 4 2\n1 1 1\n2 2\n' "$banner" | file short.mtx
expect "short.mtx, line 4|value" -f "$folder/short.mtx"
printf '%s real general\n4 4 2\n1 1 1\n2 2 x.5\n' "$banner" | file letters.mtx
expect "letters.mtx, line 4|x.5" -f "$folder/letters.mtx"
printf '%s real general\n4 4 2\n1 1 1\n%% comment\n2 2 nan\n' "$banner" | file nan.mtx
expect "nan.mtx, line 5|nan" -f "$folder/nan.mtx"
printf '%s real general\n4 4 2\n1 1 1\n2 2 1e999\n' "$banner" | file big.mtx
expect "big.mtx, line 4|1e999" -f "$folder/big.mtx"
printf '%s integer general\n4 4 1\n1 1 1.5\n' "$banner" | file fraction.mtx
expect "fraction.mtx, line 3|1.5" -f "$folder/fraction.mtx"
printf '%s real general\n4 4 2\n1 1 1\n5 2 1\n' "$banner" | file range.mtx
expect "range.mtx, line 4|row 5|1 ... 4" -f "$folder/range.mtx"
printf '%s real general\n4 4 2\n1 1 1\n2 0 1\n' "$banner" | file zero.mtx
expect "zero.mtx, line 4|column 0|1 ... 4" -f "$folder/zero.mtx"
printf '%s real general\n4 4 1\n1 1 1 9\n' "$banner" | file long.mtx
expect "long.mtx, line 3|\"9\"" -f "$folder/long.mtx"
printf '%s real general\n4 4 1\n1 1 1\n2 2 1\n' "$banner" | file more.mtx
expect "more.mtx, line 4|\"2\"" -f "$folder/more.mtx"
printf '%s real symmetric\n4 4 2\n2 1 1\n1 2 1\n' "$banner" | file both.mtx
expect "both.mtx, line 4|(1, 2)" -f "$folder/both.mtx"
printf '%s real skew-symmetric\n4 4 1\n2 2 1\n' "$banner" | file skew.mtx
expect "skew.mtx, line 3|(2, 2)" -f "$folder/skew.mtx"
printf '%s real general\n4 4 2\n1 1 1\n\000\001\002\377 2 1\n' "$banner" | file inside.mtx
expect "inside.mtx, line 4|????" -f "$folder/inside.mtx"

# Binary
head -c 4000 /dev/urandom > "$folder/tail"
{ printf '\377\376\000\001'; cat "$folder/tail"; } > "$folder/garbage.mtx"
expect "garbage.mtx|0xff" -f "$folder/garbage.mtx"
id='\000\022\173\120' one='\000\000\000\001' two='\000\000\000\002' zero='\000\000\000\000'
value='\077\360\000\000\000\000\000\000'
bytes good.bin "$id$two$two$two$one$one$zero$one$value$value"
if ! "$compare" -f "$folder/good.bin" -check_only > "$log" 2>&1; then
  echo "FAILED: a good binary file" && cat "$log" && failures=$((failures + 1))
fi
bytes cut.bin "$id$two$two$two$one$one$zero$one$value\077\360"
expect "cut.bin, byte 32|2 values" -f "$folder/cut.bin"
bytes head.bin "$id$two$two"
expect "head.bin" -f "$folder/head.bin"
bytes huge.bin "$id\177\377\377\377$two\177\377\377\377$one$one$zero$one$value$value"
expect "huge.bin, byte 4|2147483647" -f "$folder/huge.bin"
bytes negative.bin "$id\377\377\377\376$two$two$one$one$zero$one$value$value"
expect "negative.bin, byte 4|-2" -f "$folder/negative.bin"
bytes column.bin "$id$two$two$two$one$one$zero\000\000\000\007$value$value"
expect "column.bin, byte 28|column 7" -f "$folder/column.bin"
bytes sum.bin "$id$two$two$two$one$zero$zero$one$value$value"
expect "sum.bin, byte 12|sum 1" -f "$folder/sum.bin"
bytes length.bin "$id$two$two$two\000\000\000\003$zero$zero$one$value$value"
expect "length.bin, byte 16|length 3" -f "$folder/length.bin"
bytes inf.bin "$id$two$two$two$one$one$zero$one$value\177\360\000\000\000\000\000\000"
expect "inf.bin, byte 40|value" -f "$folder/inf.bin"

# Compressed
if command -v gzip > /dev/null; then
  seq 1 5000 | awk -v banner="$banner real general" '
    NR == 1 { print banner; print "5000 5000 5000" }
    { print $1, $1, 1 / $1 }' > "$folder/diagonal.mtx"
  gzip -k "$folder/diagonal.mtx" && head -c 5000 "$folder/diagonal.mtx.gz" > "$folder/cut.gz"
  expect "cut.gz, byte 5000|cut short" -f "$folder/cut.gz"
  { head -c 1000 "$folder/diagonal.mtx.gz"; head -c 1000 "$folder/tail"; } > "$folder/damaged.gz"
  expect "damaged.gz, byte|damaged" -f "$folder/damaged.gz"
  gzip -c "$folder/letters.mtx" > "$folder/letters.mtx.gz"
  expect "letters.mtx.gz, line 4|x.5" -f "$folder/letters.mtx.gz"
fi
if command -v xz > /dev/null; then
  xz -k "$folder/diagonal.mtx" && head -c 2000 "$folder/diagonal.mtx.xz" > "$folder/cut.xz"
  expect "cut.xz, byte|cut short" -f "$folder/cut.xz"
  { head -c 1000 "$folder/diagonal.mtx.xz"; head -c 1000 "$folder/tail"; } > "$folder/damaged.xz"
  expect "damaged.xz, byte" -f "$folder/damaged.xz"
fi

# Names
expect "$folder/missing.mtx|No such file" -f "$folder/missing.mtx"
expect "$folder" -f "$folder"
expect "No matrix" -repeat 3
expect "nosuchmatrix|stencil5" -gen nosuchmatrix
expect "/nosuchfolder/x.json|No such file" -gen stencil5 -gen_size 500 -json /nosuchfolder/x.json
expect "nosuchvalues" -gen stencil5 -gen_values nosuchvalues
expect "-gen_size -5" -gen stencil5 -gen_size -5
expect "-repeat 0" -gen stencil5 -repeat 0
expect "nosuchformat|csr" -gen stencil5 -gen_size 500 -formats nosuchformat
clean="" # PETSc does not destroy a matrix whose MatConvert() or MatSetFromOptions() failed
expect "nosuchformat|csr" -gen stencil5 -gen_size 500 -mat_sparsegpu_format nosuchformat
expect "nosuchbackend|kokkos" -gen stencil5 -gen_size 500 -sparsegpu_backend nosuchbackend
# A GPU where there is none: hide the ones there are.
export CUDA_VISIBLE_DEVICES=
expect "cuda" -gen stencil5 -gen_size 500 -sparsegpu_backend cuda

echo "$((tests - failures)) of $tests bad inputs are refused as they should be"
[ "$failures" -eq 0 ]
