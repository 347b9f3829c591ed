# WRONG: two sessions read a row, and each writes what it has read plus one
import asyncio
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import StaticPool


async def add(engine):
    async with engine.connect() as connection:
        number = (await connection.execute(text("select n from t"))).scalar_one()
        await connection.execute(text("update t set n = :n"), {"n": number + 1})
        await connection.commit()


async def main():
    engine = create_async_engine("sqlite+aiosqlite://", poolclass=StaticPool)
    async with engine.begin() as connection:
        await connection.execute(text("create table t (n integer)"))
        await connection.execute(text("insert into t values (0)"))
    await asyncio.gather(add(engine), add(engine))
    async with engine.connect() as connection:
        number = (await connection.execute(text("select n from t"))).scalar_one()
    await engine.dispose()
    assert number == 2, number


asyncio.run(main())
