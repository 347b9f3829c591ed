"""Histories of operations and transactions.

- `linearizable`: from a history and a model to an answer
- `transactions`: from a history of transactions and an isolation level to an answer
- `user_models`: A model of the user's own
"""
