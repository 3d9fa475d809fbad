# Short names for the usual steps; CMake and ctest do the work.
BUILD ?= build
JOBS  ?= $(shell nproc)
FILE  ?=
PREFIX ?=

all: programs

# The plug-in and the drivers in build/examples; `build` adds the tests and the benchmarks.
programs: $(BUILD)/CMakeCache.txt
	cmake --build $(BUILD) -j $(JOBS) --target programs

build: $(BUILD)/CMakeCache.txt
	cmake --build $(BUILD) -j $(JOBS)

$(BUILD)/CMakeCache.txt:
	cmake -S . -B $(BUILD) $(CMAKE_OPTIONS)

deps:
	sh tools/install_dependencies.sh

demo: deps programs
	sh tools/demo.sh $(BUILD) $(FILE)

check: deps build
	ctest --test-dir $(BUILD) --output-on-failure -j 2 -LE 'sanitizer|clients'

# Programs of others with the plug-in: installs them, some minutes.
clients: build
	sh tools/install_clients.sh
	ctest --test-dir $(BUILD) --output-on-failure -L clients

# The documentation as a web site, in $(BUILD)/site.
site:
	sh tools/site.sh $(BUILD)

add-format:
	sh tests/plugin/add_format.sh . $(BUILD)/add_format $(CMAKE_OPTIONS)

bench: programs
	sh tools/demo.sh $(BUILD) $(FILE)

install: programs
	cmake --install $(BUILD) $(if $(PREFIX),--prefix $(PREFIX))

format:
	clang-format -i $$(git ls-files '*.cxx' '*.hpp' '*.cu' '*.cuh' '*.h' '*.c')

clean:
	rm -rf $(BUILD)

.PHONY: all programs build deps demo check clients site add-format bench install format clean
