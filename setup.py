"""What is compiled when a C compiler is there, and left out when not.

Every `_*.c` is a kernel beside its plain twin (`possibly.compiled`). The modules of NATIVE are their own
twins: mypyc compiles them from the Python that is used without. That takes more than a minute, so it is done
only if POSSIBLY_BUILD=native is in the environment, as `make venv`, `make compile` and `make wheels` put it
there: the first answer should come soon. With POSSIBLY_BUILD=pure nothing is compiled. They are a C file a
module, several compiled at a time; POSSIBLY_OPT=3 makes one file of them all, which takes three times as long
and is hardly faster, for wheels.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

NATIVE = """
causality tree schedulers/course schedulers/dpor macro/inside/watching
runtime/attributes runtime/calls runtime/contents runtime/encode runtime/footprints runtime/items
runtime/kernel runtime/memory runtime/places runtime/results runtime/spin runtime/task runtime/sites
runtime/things runtime/touched/hashed runtime/touched/inspected runtime/touched/lives
runtime/touched/members runtime/touched/parts
runtime/touched/proxies runtime/touched/suspended runtime/touched/unwatched runtime/variables
""".split()
"""Of `possibly.control`: where an execution under control spends its time."""
BUILDING = {"build_ext", "build", "bdist_wheel", "editable_wheel", "install"}
"""Commands that need what is compiled; others only ask about the project."""
LEVEL = os.environ.get("POSSIBLY_OPT", "1")
"""Of optimisation; with the highest all native modules are one file, so that calls between them are fast."""


class Together(build_ext):
    """Compiles the files of an extension on all cores; what it is derived from does that with extensions."""

    def build_extensions(self) -> None:
        compile_some = self.compiler.compile
        with ThreadPoolExecutor(os.cpu_count()) as pool:

            def compile_all(sources: list[str], **options: Any) -> list[str]:
                made = [pool.submit(compile_some, [source], **options) for source in sources]
                return [file for each in made for file in each.result()]

            self.compiler.compile = compile_all
            super().build_extensions()


def kernel(source: Path) -> Extension:
    """Without what only a debugger of C reads, a fifth of the time, unless CFLAGS says what is wanted."""
    name = ".".join(source.with_suffix("").parts[1:])
    flags = ["-O3"] if "CFLAGS" in os.environ else ["-O3", "-g0"]
    return Extension(name, [source.as_posix()], optional=True, extra_compile_args=flags)


def kernels() -> list[Extension]:
    """The largest first, so that no core has one to compile alone at the end."""
    sources = Path("src").glob("possibly/**/_*.c")
    return [kernel(source) for source in sorted(sources, key=lambda each: (-each.stat().st_size, each))]


def natives() -> list[Extension]:
    """The modules of NATIVE, as C that mypyc has made of them."""
    try:
        from mypyc.build import mypycify

        sources = [f"src/possibly/control/{name}.py" for name in NATIVE]
        options = ["--config-file=", "--no-site-packages", "--ignore-missing-imports"]
        made = mypycify(
            [*options, "--follow-imports=silent", *sources],
            opt_level=LEVEL,
            debug_level="1" if LEVEL == "3" else "0",
            multi_file=LEVEL != "3",
            group_name="possibly.control.native",
        )
    except (SystemExit, Exception) as error:  # noqa: BLE001 - whatever it is, all works without
        print(f"controlled execution stays plain Python: {error!r}", file=sys.stderr)
        return []
    for each in made:
        each.optional = True
        each.include_dirs = [*each.include_dirs, "build/possibly/control"]  # where the group's own header is
        each.extra_compile_args = [*each.extra_compile_args, "-Wno-error"]  # a new compiler warns of more
    return list(made)


wanted = os.environ.get("POSSIBLY_BUILD", "kernels")
is_native = wanted == "native" and bool(BUILDING.intersection(sys.argv))
setup(
    ext_modules=([] if wanted == "pure" else kernels()) + (natives() if is_native else []),
    setup_requires=["mypy>=2"] if wanted == "native" else [],
    cmdclass={"build_ext": Together},
    options={"build_ext": {"parallel": os.cpu_count() or 1}},
)
