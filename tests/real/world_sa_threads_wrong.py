# WRONG: sqlalchemy two sessions read-modify-write in threads
import threading
from sqlalchemy import create_engine, text
from sqlalchemy.pool import StaticPool
e = create_engine("sqlite://", connect_args={"check_same_thread": False}, poolclass=StaticPool)
with e.begin() as c:
    c.execute(text("create table t(n integer)")); c.execute(text("insert into t values (0)"))
guard = threading.Lock()
def add():
    with guard:
        with e.connect() as c:
            n = c.execute(text("select n from t")).scalar()
    with guard:
        with e.begin() as c:
            c.execute(text("update t set n = :n"), {"n": n + 1})
ts = [threading.Thread(target=add) for _ in range(2)]
[t.start() for t in ts]; [t.join() for t in ts]
with e.connect() as c:
    n = c.execute(text("select n from t")).scalar()
assert n == 2, n
