"""Code objects that tell of what they touch, instruction by instruction.

`assembler` takes a code object apart and puts it together again, `stack` knows what lies on the interpreter's
stack, `table` says of every instruction what it is given, `insert` puts a site before it. No source is
needed, and what the interpreter did before it does still: nothing is replaced, calls are only put in between.
"""
