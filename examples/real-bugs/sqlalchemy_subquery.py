"""Two threads read the columns of one fresh subquery, which are made at the first reading."""
# WRONG with sqlalchemy==2.0.37 (no columns), WRONG with sqlalchemy==2.0.44 (its own assertion fails)

import threading

import sqlalchemy

columns = (sqlalchemy.Column("name", sqlalchemy.String), sqlalchemy.Column("balance", sqlalchemy.Integer))
accounts = sqlalchemy.Table("accounts", sqlalchemy.MetaData(), *columns)
recent = sqlalchemy.select(accounts).subquery()
seen = []
threads = [threading.Thread(target=lambda: seen.append(recent.c.keys())) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert seen == [["name", "balance"]] * 2, seen
