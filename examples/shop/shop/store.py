"""The stock and the orders, in a database."""

import aiosqlite

TABLES = """
create table items (name text primary key, stock integer not null);
create table orders (number integer primary key, item text not null, customer text not null,
                     price integer, state text not null);
"""


COLUMNS = ("number", "item", "price", "state")


class SoldOut(Exception):
    """Nothing is left of an item."""


class UnknownItem(Exception):
    """The shop has never had such an item."""


class Store:
    """All that lasts. Every method is one statement of SQL."""

    def __init__(self, connection):
        self.connection = connection

    @classmethod
    async def open(cls, path=":memory:"):
        connection = await aiosqlite.connect(path, isolation_level=None)
        await connection.executescript(TABLES)
        return cls(connection)

    async def close(self):
        await self.connection.close()

    async def add_item(self, name, stock):
        await self.connection.execute("insert into items values (?, ?)", (name, stock))

    async def stock_of(self, name):
        async with self.connection.execute("select stock from items where name = ?", (name,)) as cursor:
            row = await cursor.fetchone()
        if row is None:
            raise UnknownItem(name)
        return row[0]

    async def take(self, name):
        """One piece less, if there is one."""
        async with self.connection.execute(
            "update items set stock = stock - 1 where name = ? and stock > 0", (name,)
        ) as cursor:
            if cursor.rowcount:
                return
        await self.stock_of(name)
        raise SoldOut(name)

    async def put_back(self, name):
        await self.connection.execute("update items set stock = stock + 1 where name = ?", (name,))

    async def write_order(self, item, customer, price, state):
        statement = "insert into orders (item, customer, price, state) values (?, ?, ?, ?)"
        async with self.connection.execute(statement, (item, customer, price, state)) as cursor:
            return cursor.lastrowid

    async def orders_of(self, customer):
        query = f"select {', '.join(COLUMNS)} from orders where customer = ? order by number"
        async with self.connection.execute(query, (customer,)) as cursor:
            return [dict(zip(COLUMNS, row, strict=True)) async for row in cursor]
