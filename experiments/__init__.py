"""The experiments of chapter 7 of Sen's thesis, measured: recording, checking, and SPIN beside it.

python -m experiments            small sizes, into build/experiments
python -m experiments --full     the sizes of the thesis and beyond
"""
