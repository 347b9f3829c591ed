"""The compiled kernels, every `_*.c` beside its plain twin: built when a C compiler is there, else not."""

from __future__ import annotations

from pathlib import Path

from setuptools import Extension, setup


def kernel(source: Path) -> Extension:
    name = ".".join(source.with_suffix("").parts[1:])
    return Extension(name, [source.as_posix()], optional=True, extra_compile_args=["-O3"])


setup(ext_modules=[kernel(source) for source in sorted(Path("src").glob("possibly/**/_*.c"))])
