# Thin names over CMake presets and ctest. `make demo` and `make test` do all of their own set-up.
.PHONY: demo build wheel parquet fuzz aarch64 test test-all times long gpu-test gpu-kit gpu-evidence bench setup setup-test format clean

demo:
	@cmake/demo.sh --plan
	@$(MAKE) --no-print-directory setup
	cmake --preset product
	cmake --build --preset demo
	cmake/demo.sh

build: setup
	cmake --preset product
	cmake --build --preset product

# dist/loopscope-*.whl, for machines without a compiler.
wheel: build
	@cmake/make_venv.sh requirements-wheel.txt
	cmake/wheel/make_wheel.sh

parquet: setup
	@cmake/make_venv.sh requirements-parquet.txt
	cmake --preset product
	cmake --build --preset product

test: setup setup-test
	.venv/bin/python tests/run_presets.py release

# With `test`, which comes first: the slow end-to-end files, the address and the thread sanitizer.
test-all: test
	.venv/bin/python tests/run_presets.py --and release slow asan tsan

# Where the time of builds and tests goes, by source, header and test.
times: setup setup-test
	cmake --preset timed
	cmake --build --preset timed
	cmake/times.py

# Also the address sanitizer over what `test-all` leaves out: reports, starting and rerunning programs.
long: setup setup-test
	.venv/bin/python tests/run_presets.py long asan-all || failed=$$?; .venv/bin/python tests/long_record.py && exit $${failed:-0}

fuzz: setup setup-test
	.venv/bin/python tests/run_presets.py fuzz

# Compiled for 64-bit ARM on another processor; its unit tests run in qemu-user.
aarch64: setup setup-test
	@cmake/install_packages.sh cmake/packages-aarch64.txt
	cmake/fetch_aarch64.sh
	.venv/bin/python tests/run_presets.py aarch64

gpu-test: setup setup-test
	.venv/bin/python tests/run_presets.py gpu

gpu-kit: build
	@cmake/install_packages.sh cmake/packages-gpu-kit.txt
	.venv/bin/python tests/gpu_kit/pack.py build gpu_kit

# Where the GPU is this machine's own. A step that fails stops no other, and what the others showed is taken up.
gpu-evidence: gpu-kit
	.venv/bin/python gpu_kit/run.py --part $(or $(PART),1) --out build/gpu-evidence || [ $$? -eq 1 ]
	.venv/bin/python docs/refresh_gpu_evidence.py --from build/gpu-evidence

bench: setup setup-test
	cmake --preset release
	cmake --build --preset release
	tests/bench/run.sh

setup:
	@cmake/install_packages.sh cmake/packages.txt
	@cmake/make_venv.sh requirements.txt

setup-test: setup
	@cmake/install_packages.sh cmake/packages-test.txt
	@cmake/make_venv.sh requirements-test.txt requirements-parquet.txt requirements-wheel.txt
	@cmake/fetch_schemas.sh

format: setup-test
	cmake/format.sh

clean:
	rm -rf build build-*
