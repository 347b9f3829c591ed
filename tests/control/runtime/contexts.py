"""Contexts of the language in which something is read, each as the body of a function that says what it saw.

`{e}` stands for what is read, `{q}` for the same with other quotes; names are doubled so that they meet none
of the place that is read.
"""

from __future__ import annotations

_TEXT = r"""
## argument
out.append({e})
## keyword argument
def gg(*, kk): return kk
out.append(gg(kk={e}))
## star argument
out.append((lambda *aa: aa[0])(*[{e}]))
## spread options
out.append((lambda **kk: kk['aa'])(**{{'aa': {e}}}))
## assignment
vv = {e}
out.append(vv)
## annotated assignment
vv: int = {e}
out.append(vv)
## annotation
class N:
    aa: {e} = 5
out.append(N.__annotations__['aa'])
## walrus
if (vv := {e}) is not None: out.append(vv)
## augmented
vv = 5
vv += {e}
out.append(vv)
## unpacking
vv, ww = {e}, 1
out.append(vv)
## starred target
vv, *ww = 1, {e}
out.append(ww[0])
## swap
vv, ww = 1, {e}
vv, ww = ww, vv
out.append(vv)
## condition
if {e}: out.append(1)
else: out.append(0)
## negated condition
if not {e}: out.append(1)
else: out.append(0)
## elif
if out is None: pass
elif {e}: out.append(1)
else: out.append(0)
## while
nn = 0
while {e} and nn < 1: nn += 1
out.append(nn)
## while not
while not {e}:
    out.append(0)
    break
else: out.append(1)
## conditional expression
out.append(1 if {e} else 0)
## branch of a conditional
out.append({e} if out is not None else 7)
## and
out.append(True and {e})
## or
out.append({e} or 7)
## not
out.append(not {e})
## comparison
out.append({e} < 1)
## chained comparison
out.append(-1 < {e} < 1)
## identity
out.append({e} is 0)
## in
out.append({e} in (0, 5))
## not in
out.append({e} not in [0])
## arithmetic
out.append(2 * {e} + 1)
## unary
out.append(-{e})
## power
out.append(2 ** {e})
## formatted
out.append(f"{{{e}}}")
## formatted with a width
out.append(f"{{{e}:>3}}")
## formatted width
out.append(f"{{5:{{{e} + 1}}}}")
## formatted representation
out.append(f"{{{e}!r}}")
## percent
out.append('%s' % {e})
## percent of a tuple
out.append('%s %s' % (1, {e}))
## format method
out.append('{{}}'.format({e}))
## list
out.append([{e}])
## tuple
out.append(({e}, 2))
## set
out.append({{{e}}})
## dictionary value
out.append({{'aa': {e}}})
## dictionary key
out.append({{{e}: 1}})
## spread in a list
out.append([*[{e}]])
## subscript
out.append('ab'[{e}])
## subscript of a target
ww = [7, 7]
ww[{e}] = 3
out.append(ww)
## subscript of an augmented target
ww = [7, 7]
ww[{e}] += 3
out.append(ww)
## subscript that is deleted
ww = [7, 8]
del ww[{e}]
out.append(ww)
## slice
out.append('abc'[{e}:])
## slice stop
out.append('abc'[:{e}])
## slice target
ww = [7, 8]
ww[{e}:] = [0]
out.append(ww)
## list comprehension
out.append([{e} for _ in (1,)])
## comprehension's condition
out.append([1 for _ in (1,) if {e}])
## comprehension's source
out.append([vv for vv in [{e}]])
## second source
out.append([vv for _ in (1,) for vv in [{e}]])
## set comprehension
out.append({{{e} for _ in (1,)}})
## dict comprehension
out.append({{1: {e} for _ in (1,)}})
## generator expression
out.append(list({e} for _ in (1,)))
## generator expression summed
out.append(sum({e} for _ in (1,)))
## any
out.append(any({e} for _ in (1,)))
## join
out.append(''.join(str({e}) for _ in (1,)))
## lambda's body
out.append((lambda: {e})())
## lambda's default
out.append((lambda aa={e}: aa)())
## default
def gg(aa={e}): return aa
out.append(gg())
## keyword default
def gg(*, aa={e}): return aa
out.append(gg())
## decorator
def wrap(vv): return lambda f: vv
@wrap({e})
def gg(): pass
out.append(gg)
## decorator of a class
def wrap(vv): return lambda f: vv
@wrap({e})
class G: pass
out.append(G)
## class body
class G:
    y = {e}
out.append(G.y)
## class body's condition
class G:
    if {e}: y = 1
    else: y = 0
out.append(G.y)
## class keyword
class P:
    def __init_subclass__(cls, kk): out.append(kk)
class G(P, kk={e}): pass
## class base
class P: pass
class Q: pass
class G((P, Q)[{e}]): pass
out.append(G.__bases__[0].__name__)
## return
def gg(): return {e}
out.append(gg())
## yield
def gg(): yield {e}
out.append(list(gg()))
## yield from
def gg(): yield from [{e}]
out.append(list(gg()))
## sent
def gg():
    vv = yield
    out.append(vv)
    yield
hh = gg()
next(hh)
hh.send({e})
## raise
try: raise ValueError({e})
except ValueError as error: out.append(error.args)
## except
try: raise KeyError
except (KeyError, ValueError)[{e}]: out.append(0)
except KeyError: out.append(1)
## except group
try: raise ExceptionGroup('', [KeyError()])
except* (KeyError, ValueError)[{e}]: out.append(0)
except* KeyError: out.append(1)
## in a handler
try: raise KeyError
except KeyError: out.append({e})
## finally
try: pass
finally: out.append({e})
## try's else
try: pass
except KeyError: pass
else: out.append({e})
## assert
try:
    assert {e}
    out.append(1)
except AssertionError: out.append(0)
## assert's message
try: assert False, {e}
except AssertionError as error: out.append(error.args)
## with
import contextlib
with contextlib.nullcontext({e}) as vv: out.append(vv)
## with of one's own
class W:
    def __enter__(self): return {e}
    def __exit__(self, *aa): pass
with W() as vv: out.append(vv)
## match subject
match {e}:
    case 0: out.append('zero')
    case _: out.append('other')
## match guard
match 1:
    case 1 if {e}: out.append('yes')
    case _: out.append('no')
## match sequence
match [{e}]:
    case [0]: out.append('zero')
    case _: out.append('other')
## match mapping
match {{'aa': {e}}}:
    case {{'aa': 0}}: out.append('zero')
    case _: out.append('other')
## match capture
match ({e}, 1):
    case (vv, ww): out.append(vv)
## for
for vv in [{e}]: out.append(vv)
## for over a range
nn = 0
for vv in range({e}): nn += 1
out.append(nn)
## for's else
for vv in (): pass
else: out.append({e})
## global
global kept
kept = {e}
out.append(kept)
## nonlocal
vv = None
def gg():
    nonlocal vv
    vv = {e}
gg()
out.append(vv)
## own attribute
class G: pass
gg = G()
gg.y = {e}
out.append(gg.y)
## delete
ww = {{0: 1, 1: 1}}
del ww[{e}]
out.append(ww)
## call of a built-in
out.append(max({e}, -1))
## sorted
out.append(sorted([{e}, 0.5]))
## sorted by a key
out.append(sorted([1, 2], key=lambda vv: vv * (1 - 2 * {e})))
## map
out.append(list(map(lambda _: {e}, (1,))))
## filter
out.append(list(filter(lambda _: {e}, (1,))))
## reduce
import functools
out.append(functools.reduce(lambda aa, b: aa + {e}, (1, 2)))
## partial
import functools
out.append(functools.partial(lambda vv: vv, {e})())
## print
import io
ss = io.StringIO()
print({e}, file=ss)
out.append(ss.getvalue())
## eval
out.append(eval('{q}'))
## exec
space = {{}}
exec('vv = {q}', globals(), space)
out.append(space['vv'])
## coroutine
async def gg(): out.append({e})
try: gg().send(None)
except StopIteration: pass
## await
async def gg(): return {e}
async def hh(): out.append(await gg())
try: hh().send(None)
except StopIteration: pass
## async for
async def gg(): yield {e}
async def hh():
    async for vv in gg(): out.append(vv)
try: hh().send(None)
except StopIteration: pass
## async with
class W:
    async def __aenter__(self): return {e}
    async def __aexit__(self, *aa): pass
async def hh():
    async with W() as vv: out.append(vv)
try: hh().send(None)
except StopIteration: pass
## async comprehension
async def gg(): yield {e}
async def hh(): out.append([vv async for vv in gg()])
try: hh().send(None)
except StopIteration: pass
## operator of one's own
class G:
    def __add__(self, other): return {e}
out.append(G() + 1)
## truth of one's own
class G:
    def __bool__(self): return bool({e})
out.append(1 if G() else 0)
## equality of one's own
class G:
    def __eq__(self, other): return {e} == 0
out.append(G() in [1])
## hash of one's own
class G:
    def __hash__(self): return {e}
out.append(hash(G()))
## text of one's own
class G:
    def __repr__(self): return str({e})
out.append(f'{{G()}}')
## length of one's own
class G:
    def __len__(self): return {e}
out.append(len(G()))
## iteration of one's own
class G:
    def __iter__(self): return iter([{e}])
out.append(list(G()))
## item of one's own
class G:
    def __getitem__(self, kk): return {e}
out.append(G()[5])
## call of one's own
class G:
    def __call__(self): return {e}
out.append(G()())
## creation
class G:
    def __init__(self): self.vv = {e}
out.append(G().vv)
## end
class G:
    def __del__(self): out.append({e})
G()
## property
class G:
    @property
    def vv(self): return {e}
out.append(G().vv)
## static method
class G:
    @staticmethod
    def vv(): return {e}
out.append(G.vv())
## class method
class G:
    @classmethod
    def vv(cls): return {e}
out.append(G.vv())
## nested function
def gg():
    def hh(): return {e}
    return hh
out.append(gg()())
## end of a generator
def gg():
    try: yield
    finally: out.append({e})
hh = gg()
next(hh)
hh.close()
## generator dropped
def gg():
    try: yield
    finally: out.append({e})
for _ in gg(): break
"""


def _named(text: str) -> dict[str, str]:
    blocks = [block.partition("\n") for block in text.split("## ")[1:]]
    return {name: body.rstrip("\n") for name, _, body in blocks}


CONTEXTS = _named(_TEXT)
