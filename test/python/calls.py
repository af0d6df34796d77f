"""
Calls functions of the Python client. Reads a JSON array of calls, [name, argument, ...], from standard input; prints the
array of their results.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "api", "client", "python"))

import ledger_client as client


def key_of(private_key):
    """`private_key`: 64 hexadecimal digits."""
    return client.ec.derive_private_key(int(private_key, 16), client.ec.SECP256R1())


def error_of(call):
    """What the error of a call says to its program."""
    try:
        return call()
    except client.LedgerError as error:
        return [error.status, error.codes, error.idempotency_key, error.outcome, error.txn_id]


def refused_order(url):
    """Sends an order with the key "mine", without waiting for its outcome."""
    ledger = client.Ledger(url, "me", "secret")
    return error_of(lambda: ledger.call("POST", "/v1/transactions", {"idempotency_key": "mine"}))


def refused_wait(url):
    """Submits an order with the key "mine", and waits for its outcome."""
    ledger = client.Ledger(url, "me", "secret")
    return error_of(lambda: ledger.submit(client.generate_key(), idempotency_key="mine"))


CALLS = {
    "canonical": lambda text: client.canonical(json.loads(text)),
    "public_jwk": lambda private_key: client.public_jwk(key_of(private_key)),
    "sign": lambda private_key, payload: client.sign(key_of(private_key), payload),
    "verify": client.verify,
    "chain_problem": client.chain_problem,
    "receipt_problem": lambda receipt, jwks, chain, expected={}: client.receipt_problem(receipt, jwks, chain, **expected),
    "refused_order": refused_order,
    "refused_wait": refused_wait,
}

calls = json.loads(sys.stdin.buffer.read())
json.dump([CALLS[name](*arguments) for name, *arguments in calls], sys.stdout)
