"""ECDSA on P-256 with SHA-256 (FIPS 186-5). For tests only: the arithmetic is not constant-time."""
import hashlib
import secrets

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)


def add(left, right):
    """The sum of two points; None is the point at infinity."""
    if left is None or right is None:
        return right if left is None else left
    (x1, y1), (x2, y2) = left, right
    if x1 == x2 and (y1 + y2) % P == 0:
        return None
    slope = (3 * x1 * x1 - 3) * pow(2 * y1, -1, P) if left == right else (y2 - y1) * pow(x2 - x1, -1, P)
    x = (slope * slope - x1 - x2) % P
    return x, (slope * (x1 - x) - y1) % P


def multiply(factor, point):
    total = None
    while factor > 0:
        if factor & 1:
            total = add(total, point)
        point = add(point, point)
        factor >>= 1
    return total


def digest_of(message):
    return int.from_bytes(hashlib.sha256(message).digest(), "big")


def sign(private_key, message):
    """The signature in DER."""
    nonce = 1 + secrets.randbelow(N - 1)
    r = multiply(nonce, G)[0] % N
    return der_of(r, pow(nonce, -1, N) * (digest_of(message) + r * private_key) % N)


def verify(public_key, message, der):
    x, y = public_key
    r_end = 4 + der[3]
    r, s = (int.from_bytes(part, "big") for part in (der[4:r_end], der[r_end + 2 :]))
    on_curve = x < P and y < P and (y * y - x * x * x + 3 * x - B) % P == 0
    if der != der_of(r, s) or not on_curve or not (0 < r < N and 0 < s < N):
        return False
    inverse = pow(s, -1, N)
    point = add(multiply(digest_of(message) * inverse % N, G), multiply(r * inverse % N, public_key))
    return point is not None and point[0] % N == r


def der_of(*numbers):
    """SEQUENCE of INTEGERs, each without leading zeros but with one where its first bit is set."""
    contents = [number.to_bytes(number.bit_length() // 8 + 1, "big") for number in numbers]
    body = b"".join(bytes([0x02, len(content)]) + content for content in contents)
    return bytes([0x30, len(body)]) + body
