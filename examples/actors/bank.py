"""A bank of actors: accounts, tellers and an auditor are tasks of asyncio that share nothing but messages.

possibly explore --macro examples/actors/bank.py [wrong|right] [TRANSFERS]

A transfer is two messages: the teller asks one account to give, waits for its answer, and asks the other to
take. The auditor asks every account for its balance and adds up what they say.

The order bug is planted in `Auditor`: it asks while transfers are under way. An account that has been asked
may still give or take before the next one is asked, so the same money is counted twice or not at all. Each
account is right, each answer is right, and the sum is not. No line is wrong by itself: the claim that the
audit is the capital shows it, and the tree names the two messages whose order makes the difference.

The corrected form lets no transfer be under way while the auditor asks: every teller holds a permit for as
long as its transfer lasts, and the auditor collects all permits before it begins and hands them back after.
"""

import asyncio
import sys
from dataclasses import dataclass

import possibly

VARIANT = sys.argv[1] if len(sys.argv) > 1 else "wrong"
TRANSFERS = int(sys.argv[2]) if len(sys.argv) > 2 else 1
CAPITAL = {"alice": 10, "bob": 10}


# ---- messages -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Give:
    """To an account: part with some money, and say whether you could."""

    amount: int
    answer: asyncio.Queue


@dataclass(frozen=True)
class Take:
    """To an account: here is some money."""

    amount: int
    answer: asyncio.Queue


@dataclass(frozen=True)
class Ask:
    """To an account: how much have you got?"""

    answer: asyncio.Queue


@dataclass(frozen=True)
class Close:
    """To an account: nobody will ask you for anything any more."""


@dataclass(frozen=True)
class Answer:
    """Of an account."""

    who: str
    is_done: bool
    balance: int


# ---- actors -------------------------------------------------------------------------------------


class Account:
    """Has a balance, which nobody else sees, and an inbox."""

    def __init__(self, name, balance):
        self.name = name
        self.balance = balance
        self.inbox = asyncio.Queue()

    async def run(self):
        while True:
            message = await self.inbox.get()
            if isinstance(message, Close):
                return
            await message.answer.put(self.handled(message))

    def handled(self, message):
        match message:
            case Give(amount):
                if amount > self.balance:
                    return Answer(self.name, False, self.balance)
                self.balance -= amount
            case Take(amount):
                self.balance += amount
        return Answer(self.name, True, self.balance)


class Bank:
    """The addresses of all actors, and the permits of transfers."""

    def __init__(self, capital, tellers):
        self.accounts = {name: Account(name, balance) for name, balance in capital.items()}
        self.permits = asyncio.Queue()
        self.reports = asyncio.Queue()
        self.tellers = tellers
        self.capital = sum(capital.values())

    async def open(self):
        for _ in range(self.tellers):
            await self.permits.put("permit")

    async def close(self):
        for account in self.accounts.values():
            await account.inbox.put(Close())


class Teller:
    """Moves money from one account to another, again and again."""

    def __init__(self, bank, source, target, amount):
        self.bank = bank
        self.source, self.target = source, target
        self.amount = amount
        self.answers = asyncio.Queue()

    async def run(self):
        await asyncio.sleep(0)  # customers come when they like
        for _ in range(TRANSFERS):
            if VARIANT == "right":
                permit = await self.bank.permits.get()
                await self.transfer()
                await self.bank.permits.put(permit)
            else:
                await self.transfer()

    async def transfer(self):
        if await self.asked(self.source, Give(self.amount, self.answers)):
            assert await self.asked(self.target, Take(self.amount, self.answers))

    async def asked(self, name, message):
        await self.bank.accounts[name].inbox.put(message)
        answer = await self.answers.get()
        return answer.is_done


class Auditor:
    """Adds up what all accounts say they have."""

    def __init__(self, bank):
        self.bank = bank
        self.answers = asyncio.Queue()

    async def run(self):
        audit = None
        await asyncio.sleep(0)  # nobody knows when it comes
        if VARIANT == "right":
            permits = [await self.bank.permits.get() for _ in range(self.bank.tellers)]
            audit = await self.added_up()
            for permit in permits:
                await self.bank.permits.put(permit)
        else:
            audit = await self.added_up()
        await self.bank.reports.put(audit)  #: report

    async def added_up(self):
        total = 0
        for account in self.bank.accounts.values():
            await account.inbox.put(Ask(self.answers))
            answer = await self.answers.get()
            total += answer.balance
        return total


# ---- what must be true --------------------------------------------------------------------------


@possibly.predicate
def audit_is_right(state):
    """The auditor has found the capital, or has not finished."""
    return "Auditor" not in state or state.Auditor.audit in (None, sum(CAPITAL.values()))


async def served(bank):
    """All actors, until the tellers and the auditor are through."""
    accounts = [
        asyncio.create_task(account.run(), name=f"account-{name}") for name, account in bank.accounts.items()
    ]
    customers = [
        asyncio.create_task(Teller(bank, "alice", "bob", 3).run(), name="Teller"),
        asyncio.create_task(Auditor(bank).run(), name="Auditor"),
    ]
    possibly.claim("G audit_is_right & F done(Auditor)")
    await asyncio.gather(*customers)
    await bank.close()
    await asyncio.gather(*accounts)
    return await bank.reports.get()


async def main():
    bank = Bank(CAPITAL, tellers=1)
    await bank.open()
    audit = await served(bank)
    left = sum(account.balance for account in bank.accounts.values())
    assert left == bank.capital, f"{left} is left of {bank.capital}"
    print(f"the audit says {audit}")


if __name__ == "__main__":
    asyncio.run(main())
