"""Data path expressions on a run: projection, recognition, occurrences, synchronisation, actions.

`meaning`        which events of a trace play which symbols
`projection`     the events of an expression with their predecessors among each other
`expected`       `expect`: the projected run is in the language, or the first event that does not fit
`occurrences`    `never`, `watch`: every convex set of events that is in the language
`by_value`       the same value by value, where all events bear one variable: `send(M); receive(M)`
`synchronise`    `sync` rules: the order that they establish
`turns`          the order that an event loop gives to the turns of its tasks
`perform`        actions
`online`         all of this while a program runs; `online_order` the order then

- `inferred`: an expression from a run
"""
