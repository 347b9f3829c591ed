"""Hypothesis profiles: the usual one, and `soak` for `make soak` with many more cases.

No deadline: the machines that run the tests are shared and noisy.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("usual", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("soak", settings.get_profile("usual"), max_examples=2_000)
settings.load_profile("usual")
