# WRONG: aiosqlite read then write without transaction: lost update
import asyncio, aiosqlite
async def add(db):
    async with db.execute("select n from t") as c:
        (n,) = await c.fetchone()
    await db.execute("update t set n = ?", (n + 1,))
    await db.commit()
async def main():
    async with aiosqlite.connect(":memory:") as db:
        await db.execute("create table t(n)")
        await db.execute("insert into t values (0)")
        await db.commit()
        await asyncio.gather(add(db), add(db))
        async with db.execute("select n from t") as c:
            (n,) = await c.fetchone()
    assert n == 2, n
asyncio.run(main())
