"""Mutated input for everything that reads what strangers write: `make fuzz`.

`targets` says who reads what and what must hold then, `mutations` how a seed becomes another input, and
`python -m fuzz` runs them within a time, each input under a bound of time and memory. Seeds lie in `seeds/`,
a folder a target; an input that showed an error becomes one of them.
"""
