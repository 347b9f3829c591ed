# WRONG: the balance is read by one statement and written by another
import asyncio
import aiosqlite


async def pay(db, amount):
    async with db.execute("select balance from account") as rows:
        (balance,) = await rows.fetchone()
    await db.execute("update account set balance = ?", (balance + amount,))


async def main():
    async with aiosqlite.connect(":memory:") as db:
        await db.execute("create table account (balance)")
        await db.execute("insert into account values (0)")
        await asyncio.gather(pay(db, 1), pay(db, 2))
        async with db.execute("select balance from account") as rows:
            (balance,) = await rows.fetchone()
    assert balance == 3, balance


asyncio.run(main())
