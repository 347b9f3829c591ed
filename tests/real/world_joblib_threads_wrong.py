# WRONG: threads of joblib change one number without a lock
from joblib import Parallel, delayed

total = {"n": 0}


def add():
    seen = total["n"]
    total["n"] = seen + 1


Parallel(n_jobs=2, backend="threading")(delayed(add)() for _ in range(2))
assert total["n"] == 2, total
