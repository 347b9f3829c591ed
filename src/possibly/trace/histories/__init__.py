"""Histories: what clients asked of an object, when they asked, and when and what it answered.

model     Operation, History: calls and returns in the order in which they happened
edn       Clojure's data notation, which Jepsen and porcupine write
entries   lines that say invoke, ok, fail, info; two of them are an operation
read      the formats, recognised by how they begin
traces    a recorded run with events for calls and returns

- `transactions`: A history of transactions
"""
