"""The compiled kernels: built when a C compiler is there, left out otherwise (`optional`)."""

from __future__ import annotations

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "possibly.detection._rows",
            ["src/possibly/detection/_rows.c"],
            optional=True,
            extra_compile_args=["-O3"],
        )
    ]
)
