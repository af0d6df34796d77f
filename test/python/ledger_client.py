"""
A client of the ledger, written from its README and its OpenAPI document alone, with Python's standard library.
Reads a JSON array of calls, [name, argument, ...], from standard input; prints the array of their results.
"""
import base64
import hashlib
import json
import math
import sys
from datetime import datetime, timezone
from decimal import Decimal

import p256

# What a receipt and its entry in the chain both say.
SHARED = ("account_id", "amount", "created_at", "origin", "processed_at", "shard_id", "token_id", "type")


def canonical(value):
    """The text of RFC 8785."""
    if value is None or isinstance(value, (bool, str)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    names = sorted(value, key=lambda name: name.encode("utf-16-be"))
    return "{" + ",".join(canonical(name) + ":" + canonical(value[name]) for name in names) + "}"


def number(value):
    """As ECMAScript prints it (RFC 8785, 3.2.2.3). repr() gives the same digits in another layout."""
    decimal = Decimal(repr(float(value)))
    if not decimal.is_finite() or (isinstance(value, int) and decimal != value):
        raise ValueError(f"{value} does not fit in a double")
    if decimal == 0:
        return "0"
    sign, digits, exponent = decimal.normalize().as_tuple()
    text, point = "".join(map(str, digits)), len(digits) + exponent
    if 0 < point <= 21:
        text = text.ljust(point, "0")
        text = text[:point] + ("." + text[point:] if len(text) > point else "")
    elif -6 < point <= 0:
        text = "0." + "0" * -point + text
    else:
        text = text[0] + ("." + text[1:] if len(text) > 1 else "") + f"e{point - 1:+d}"
    return "-" * sign + text


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def public_jwk(private_key):
    """`private_key`: 64 hexadecimal digits."""
    x, y = (base64url(part.to_bytes(32, "big")) for part in p256.multiply(int(private_key, 16), p256.G))
    return {"kty": "EC", "crv": "P-256", "x": x, "y": y}


def thumbprint(jwk):
    """RFC 7638: the key ID."""
    required = {name: jwk[name] for name in ("crv", "kty", "x", "y")}
    return base64url(hashlib.sha256(canonical(required).encode()).digest())


def sign(private_key, payload):
    """The payload with its signature."""
    der = p256.sign(int(private_key, 16), canonical(payload).encode())
    return {**payload, "signature": base64.b64encode(der).decode()}


def verify(jwk, text, signature):
    """`signature`: base64 of DER."""
    point = tuple(int.from_bytes(base64.urlsafe_b64decode(jwk[name] + "="), "big") for name in ("x", "y"))
    return p256.verify(point, text.encode(), base64.b64decode(signature, validate=True))


def chain_problem(chain):
    """The first thing that is wrong with an account's whole chain; None if it is good."""
    previous = bytes(32)
    for position, entry in enumerate(chain["entries"]):
        link = hashlib.sha256(previous + hashlib.sha256(entry["payload"].encode()).digest()).digest()
        hashes = {"previous_hash": "sha256:" + previous.hex(), "audit_hash": "sha256:" + link.hex()}
        problem = difference({"sequence": position, **hashes}, entry)
        fields = json.loads(entry["payload"])
        named = {"sequence": position, "txn_id": entry["txn_id"], "account_id": chain["account_id"]}
        if problem is None and (canonical(fields) != entry["payload"] or difference(named, fields)):
            problem = "payload"
        if problem is not None:
            return f"entry {position}: {problem}"
        previous = link
    return None


def receipt_problem(signed, key_set, chain):
    """What is wrong with a receipt, given the JWKS and its account's chain; None if it is good."""
    receipt = signed["receipt"]
    key = next((key for key in key_set["keys"] if key["kid"] == receipt["key_id"]), None)
    if key is None or key["purpose"] != "receipt" or "revoked" in key or thumbprint(key) != key["kid"]:
        return "key"
    processed = datetime.strptime(receipt["processed_at"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    if not key["nbf"] <= processed.timestamp() <= key.get("exp", math.inf):
        return "processed_at"
    if receipt["ledger_id"] != key_set["ledger_id"]:
        return "ledger_id"
    if not verify(key, canonical(receipt), signed["signature"]):
        return "signature"
    entry = next((entry for entry in chain["entries"] if entry["txn_id"] == receipt["txn_id"]), None)
    if entry is None or receipt["status"] == "failed":
        return None if entry is None and receipt["status"] == "failed" else "status"
    fields = json.loads(entry["payload"])
    shared = {name: fields[name] for name in SHARED}
    shared.update({name: entry[name] for name in ("sequence", "previous_hash", "audit_hash")})
    return difference({**shared, "submission_hash": "sha256:" + fields["submission_hash"]}, receipt)


def difference(expected, members):
    return next((name for name in expected if members[name] != expected[name]), None)


CALLS = {
    "canonical": lambda text: canonical(json.loads(text)),
    "public_jwk": public_jwk,
    "sign": sign,
    "verify": verify,
    "chain_problem": chain_problem,
    "receipt_problem": receipt_problem,
}

if __name__ == "__main__":
    calls = json.loads(sys.stdin.buffer.read())
    json.dump([CALLS[name](*arguments) for name, *arguments in calls], sys.stdout)
