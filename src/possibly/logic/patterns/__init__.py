"""Ready specifications by name, so that nobody has to write temporal logic for the usual things.

table.py     the patterns: parameters, a sentence, a picture, the formula of each scope
lines.py     a line `pattern response(request, reply) after ready`, read
"""
