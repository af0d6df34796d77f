"""
An example client of the ledger in one file: signs orders, submits them with retries, and verifies receipts and chains
offline. Needs Python 3.8 and `pip install cryptography`.

    LEDGER_CLIENT_SECRET=... python3 ledger_client.py http://127.0.0.1:8080 transactor

registers two accounts and a token, transfers, captures a part of a hold, and verifies the receipts. Errors are
LedgerError. Failed transactions are no errors: check `status`.
"""
import base64
import hashlib
import http.client
import json
import math
import os
import random
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from datetime import datetime, timedelta, timezone
from decimal import Decimal

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

ES256 = ec.ECDSA(hashes.SHA256())
# Longest wait of one request, in seconds. The ledger waits for 30 at most, and retries for 12.
WAIT, TIMEOUT = 30, 45
ATTEMPTS = 6
# A node may sign for so many seconds with a key that it has read before.
SLACK = 300
# A longer Retry-After, in seconds, ends the attempts.
LONGEST_RETRY_AFTER = 60
# Refusals that pass: Request Timeout, Too Early, Too Many Requests.
PASSING = (408, 425, 429)
# The reply is that of another request with the same key.
PAYLOAD_MISMATCH = {
    "detail": "The idempotency key belongs to an earlier request with another payload.",
    "error_codes": ["ERR_PAYLOAD_MISMATCH"],
}
HASH = re.compile("sha256:[0-9a-f]{64}")
# Members with the same value in a receipt and its entry of the chain.
SHARED = (
    "account_id", "amount", "available_after", "balance_after", "class_id", "created_at", "instance_id", "origin",
    "processed_at", "receive", "shard_id", "token_id", "type",
)


class LedgerError(Exception):
    """
    A refusal, or no verdict after all attempts. `status`: HTTP status, 0 without a response; `codes`: error codes;
    `idempotency_key`: of the request, with which the same request takes effect at most once. `outcome`: "not_applied"
    if the request had no effect, "unknown" if it may have had one, None if it could have none. `txn_id`: of an order
    that the ledger accepted before the error.
    """

    def __init__(self, status, problem, idempotency_key=None, outcome=None):
        super().__init__(problem.get("detail", "no response"))
        self.status, self.problem, self.codes = status, problem, problem.get("error_codes", [])
        self.idempotency_key, self.outcome, self.txn_id = idempotency_key, outcome, None


class Ledger:
    """A client of one ledger."""

    def __init__(self, url, client_id, client_secret):
        self.url, self.credentials = url.rstrip("/"), {"client_id": client_id, "client_secret": client_secret}
        self.opener = urllib.request.build_opener(NoRedirect)
        self.token, self.renew_at = None, 0.0
        self.ledger_id = self.call("GET", "/.well-known/jwks.json", open_path=True)["ledger_id"]

    def register_account(self, account_id, key):
        return self.call("POST", "/v1/accounts", {"account_id": account_id, "public_key": public_jwk(key)})

    def create_token(self, symbol, decimals, issuer, total_supply):
        body = {"symbol": symbol, "decimals": decimals, "issuer": issuer, "total_supply": total_supply}
        return self.call("POST", "/v1/fungible-tokens", body)

    def submit(self, key, **order):
        """Signs and submits an order, and waits. Returns failed transactions, too."""
        return self.final("/v1/transactions", self.signed(key, order), wait=WAIT)

    def create_hold(self, key, **hold):
        """Reserves value of the payer, whose key signs. `expires_at`: RFC 3339."""
        return self.call("POST", "/v1/holds", self.signed(key, hold))

    def capture_hold(self, key, **capture):
        """Captures value of a hold, and waits. The key of the beneficiary signs."""
        path = f"/v1/holds/{quoted(capture['hold_id'])}/captures"
        return self.final(path, self.signed(key, capture))

    def release_hold(self, key, hold_id, account_id):
        """Ends a hold. The key of the beneficiary signs."""
        body = sign(key, {"hold_id": hold_id, "account_id": account_id, "ledger_id": self.ledger_id})
        return self.call("POST", f"/v1/holds/{quoted(hold_id)}/release", body)

    def final(self, path, order, wait=None):
        """
        Sends a signed order, and waits. An error of the wait, also TimeoutError, has `txn_id`, `idempotency_key`, and
        "unknown" as `outcome`: the order may take effect.
        """
        reply = self.call("POST", path, order, wait=wait)
        if reply["status"] != "pending":
            return reply
        try:
            return self.wait_for(reply["txn_id"])
        except (LedgerError, TimeoutError) as error:
            error.txn_id, error.idempotency_key, error.outcome = reply["txn_id"], order["idempotency_key"], "unknown"
            raise

    def wait_for(self, txn_id, seconds=60):
        """The transaction once it is final. Raises TimeoutError."""
        until = time.monotonic() + seconds
        while True:
            transaction = self.call("GET", f"/v1/transactions/{quoted(txn_id)}", wait=WAIT)
            if transaction["status"] != "pending":
                return transaction
            if time.monotonic() > until:
                raise TimeoutError(f"{txn_id} is pending")
            time.sleep(0.2)

    def receipt(self, txn_id):
        return self.call("GET", f"/v1/transactions/{quoted(txn_id)}/receipt")

    def key_set(self):
        return self.call("GET", "/.well-known/jwks.json", open_path=True)

    def audit_chain(self, account_id):
        """The whole chain of an account."""
        path, entries, page_token = f"/v1/accounts/{quoted(account_id)}/audit-chain?page_size=1000", [], ""
        while True:
            page = self.call("GET", path + (f"&page_token={quoted(page_token)}" if page_token else ""))
            entries, page_token = entries + page["entries"], page["next_page_token"]
            if page_token == "":
                return {"account_id": account_id, "entries": entries}

    def signed(self, key, order):
        return sign(key, {"idempotency_key": str(uuid.uuid4()), "ledger_id": self.ledger_id, **order})

    def call(self, method, path, body=None, wait=None, open_path=False):
        """Sends a request again, with the same bytes and keys, until it gets a verdict."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Idempotency-Key": str(uuid.uuid4())} if data else {}
        key = (body or {}).get("idempotency_key", headers.get("Idempotency-Key"))
        if wait is not None:
            headers["Prefer"] = f"wait={wait}"
        renewed = is_uncertain = False
        for attempt in range(1, ATTEMPTS + 1):
            try:
                authorization = {} if open_path else {"Authorization": f"Bearer {self.access_token()}"}
            except LedgerError as error:
                # The error of the token's request becomes that of this one, which this attempt did not send.
                unsent = None if method == "GET" else "not_applied"
                error.idempotency_key, error.outcome = key, "unknown" if is_uncertain else unsent
                raise
            status, reply, reply_headers = self.send(method, path, data, {**headers, **authorization})
            if 200 <= status < 300:
                if reply_headers.get("Idempotency-Payload-Mismatch") == "true":
                    raise LedgerError(status, PAYLOAD_MISMATCH, key, "not_applied")
                return reply
            outcome = outcome_of(method, status, reply)
            is_uncertain = is_uncertain or outcome == "unknown"
            text = reply_headers.get("Retry-After", "0")
            retry_after = int(text) if text.isdecimal() else 0
            if status == 401 and not open_path and not renewed:
                self.token, renewed = None, True
            elif attempt == ATTEMPTS or retry_after > LONGEST_RETRY_AFTER or 0 < status < 500 and status not in PASSING:
                break
            else:
                time.sleep(retry_after + random.uniform(0.5, 1) * 0.2 * 2 ** (attempt - 1))
        raise LedgerError(status, reply, key, "unknown" if is_uncertain else outcome)

    def send(self, method, path, data, headers):
        """(status, body, headers); the status is 0 without a response."""
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with self.opener.open(request, timeout=TIMEOUT) as response:
                return response.status, json.loads(response.read()), response.headers
        except urllib.error.HTTPError as refused:
            with refused:
                try:
                    problem = json.loads(refused.read())
                except (OSError, ValueError, http.client.HTTPException):
                    problem = None
                return refused.code, problem if isinstance(problem, dict) else {}, refused.headers
        except (OSError, ValueError, http.client.HTTPException):
            return 0, {}, {}

    def access_token(self):
        if self.token is None or time.monotonic() >= self.renew_at:
            sent = time.monotonic()
            reply = self.call("POST", "/v1/auth/token", self.credentials, open_path=True)
            self.token, self.renew_at = reply["access_token"], sent + 0.8 * reply["expires_in"]
        return self.token


def outcome_of(method, status, problem):
    """The outcome of a refused attempt. A refusal of the ledger has no effect; a proxy says nothing about the ledger."""
    if method == "GET":
        return None
    if 0 < status < 500 and "error_codes" in problem:
        return "not_applied"
    return problem.get("outcome", "unknown")


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """No other address gets the token."""

    def redirect_request(self, *_):
        return None


def quoted(text):
    return urllib.parse.quote(text, safe="")


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
    sign_bit, digits, exponent = decimal.normalize().as_tuple()
    text, point = "".join(map(str, digits)), len(digits) + exponent
    if 0 < point <= 21:
        text = text.ljust(point, "0")
        text = text[:point] + ("." + text[point:] if len(text) > point else "")
    elif -6 < point <= 0:
        text = "0." + "0" * -point + text
    else:
        text = text[0] + ("." + text[1:] if len(text) > 1 else "") + f"e{point - 1:+d}"
    return "-" * sign_bit + text


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def generate_key():
    return ec.generate_private_key(ec.SECP256R1())


def public_jwk(key):
    numbers = key.public_key().public_numbers()
    x, y = (base64url(part.to_bytes(32, "big")) for part in (numbers.x, numbers.y))
    return {"kty": "EC", "crv": "P-256", "x": x, "y": y}


def thumbprint(jwk):
    """RFC 7638: the key ID."""
    required = {name: jwk[name] for name in ("crv", "kty", "x", "y")}
    return base64url(hashlib.sha256(canonical(required).encode()).digest())


def sign(key, payload):
    """The payload with its signature."""
    return {**payload, "signature": base64.b64encode(key.sign(canonical(payload).encode(), ES256)).decode()}


def verify(jwk, text, signature):
    """`signature`: base64 of DER."""
    try:
        x, y = (int.from_bytes(base64.urlsafe_b64decode(jwk[name] + "="), "big") for name in ("x", "y"))
        key = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
        key.verify(base64.b64decode(signature, validate=True), text.encode(), ES256)
        return True
    except (InvalidSignature, ValueError):
        return False


def chain_problem(chain, tip=None):
    """
    The first thing that is wrong with an account's whole chain; None if it is good. `tip`: the known `audit_hash` of the
    account. Without it entries may be missing at the end. The ledger signs receipts, not chains.
    """
    if not chain["entries"]:
        return "no entries"
    previous = "sha256:" + bytes(32).hex()
    for position, entry in enumerate(chain["entries"]):
        problem = entry_problem(entry, position, previous, chain["account_id"])
        if problem is not None:
            return f"entry {position}: {problem}"
        previous = entry["audit_hash"]
    return None if tip in (None, previous) else "tip"


def entry_problem(entry, position, previous, account_id):
    problem = difference({"sequence": position, "previous_hash": previous}, entry)
    if problem is not None or not HASH.fullmatch(str(entry["audit_hash"])):
        return problem or "audit_hash"
    payload = entry["payload"]
    # The payload of an erased account is gone: only the links are left.
    if payload is None:
        return None
    link = hashlib.sha256(bytes.fromhex(previous[7:]) + hashlib.sha256(payload.encode()).digest())
    if entry["audit_hash"] != "sha256:" + link.hexdigest():
        return "audit_hash"
    try:
        fields = json.loads(payload)
        named = {"sequence": position, "txn_id": entry["txn_id"], "account_id": account_id}
        return "payload" if canonical(fields) != payload or difference(named, fields) else None
    except (AttributeError, TypeError, ValueError):
        return "payload"


def receipt_problem(signed, key_set, chain, **expected):
    """
    The first thing that is wrong with a receipt, given the JWKS and its account's chain; None if it is good. A receipt of a
    failed or another transaction can be good, too: `expected` has members that it must have, such as status="completed".
    """
    receipt = signed["receipt"]
    key = next((key for key in key_set["keys"] if key["kid"] == receipt["key_id"]), None)
    if key is None or key["purpose"] != "receipt" or "revoked" in key or thumbprint(key) != key["kid"]:
        return "key"
    processed = datetime.strptime(receipt["processed_at"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    if not key["nbf"] - SLACK <= processed.timestamp() <= key.get("exp", math.inf) + SLACK:
        return "processed_at"
    if receipt["ledger_id"] != key_set["ledger_id"]:
        return "ledger_id"
    if not verify(key, canonical(receipt), signed["signature"]):
        return "signature"
    problem = difference(expected, receipt)
    if problem is not None:
        return problem
    entry = next((entry for entry in chain["entries"] if entry["txn_id"] == receipt["txn_id"]), None)
    if entry is None or receipt["status"] == "failed":
        return None if entry is None and receipt["status"] == "failed" else "status"
    place = {name: entry[name] for name in ("sequence", "previous_hash", "audit_hash")}
    place["account_id"] = chain["account_id"]
    if entry["payload"] is None:
        return difference(place, receipt)
    fields = json.loads(entry["payload"])
    shared = {name: fields.get(name) for name in SHARED}
    return difference({**shared, **place, "submission_hash": "sha256:" + fields["submission_hash"]}, receipt)


def difference(expected, members):
    return next((name for name in expected if members.get(name) != expected[name]), None)


def main():
    if len(sys.argv) != 3 or "LEDGER_CLIENT_SECRET" not in os.environ:
        sys.exit("usage: LEDGER_CLIENT_SECRET=SECRET python3 ledger_client.py URL CLIENT_ID")
    ledger = Ledger(sys.argv[1], sys.argv[2], os.environ["LEDGER_CLIENT_SECRET"])
    run = uuid.uuid4().hex[:8]
    payer, shop, token = f"payer-{run}", f"shop-{run}", f"PY-{run}"
    payer_key, shop_key = generate_key(), generate_key()
    ledger.register_account(payer, payer_key)
    ledger.register_account(shop, shop_key)
    ledger.create_token(token, 2, payer, "1000")
    value = {"account_id": payer, "to_account_id": shop, "token_id": token}
    transfer = ledger.submit(payer_key, type="transfer", amount="25", **value)
    print("transfer:", transfer["status"])
    tomorrow = (datetime.now(timezone.utc) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    hold = ledger.create_hold(payer_key, amount="10", expires_at=tomorrow, **value)
    capture = ledger.capture_hold(shop_key, hold_id=hold["hold_id"], account_id=shop, amount="6")
    print("capture:", capture["status"])
    print("hold:", ledger.release_hold(shop_key, hold["hold_id"], shop)["status"])
    chain, key_set = ledger.audit_chain(payer), ledger.key_set()
    print("chain:", chain_problem(chain) or "verified")
    for transaction in (transfer, capture):
        chain = ledger.audit_chain(transaction["account_id"])
        expected = {"txn_id": transaction["txn_id"], "status": "completed"}
        problem = receipt_problem(ledger.receipt(transaction["txn_id"]), key_set, chain, **expected)
        print(f"receipt of the {transaction['type']}:", problem or "verified")


if __name__ == "__main__":
    main()
