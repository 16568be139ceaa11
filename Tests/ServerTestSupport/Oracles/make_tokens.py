# SPDX-License-Identifier: Apache-2.0
"""Makes tokens.json: users' tokens signed by another implementation, right ones and forged ones.

    python3 -m pip install joserfc cryptography
    python3 make_tokens.py > tokens.json

The clock of the tests stands at NOW. What is right is made with joserfc, which refuses to make most of what is wrong:
that is put together by hand. The private keys are thrown away.
"""
import base64, hashlib, hmac, json

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

NOW = 1_772_452_800
SECRET = "an old umbrella, 7 spoons and the sea at noon"
ISSUER, AUDIENCE = "https://host.example", "kalends"


def b64(data):
    data = data if isinstance(data, bytes) else json.dumps(data).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def pem(key):
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def der(key):
    return key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


def key_of(private, kid):
    text = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    kind = RSAKey if isinstance(private, rsa.RSAPrivateKey) else ECKey
    return kind.import_key(text, {"kid": kid})


def public(private, kid, **more):
    return {**key_of(private, kid).as_dict(private=False), "kid": kid, **more}


r1, r2 = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2))
weak = rsa.generate_private_key(public_exponent=65537, key_size=1024)
e1, e2 = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
e384 = ec.generate_private_key(ec.SECP384R1())
shared = "this was published as if it were a public key"
JWKS = {"keys": [
    public(r1, "r1", use="sig", alg="RS256"), public(e1, "e1"), public(weak, "weak"), public(r2, "enc", use="enc"),
    public(r2, "r512", alg="RS512"), public(r2, "signer", key_ops=["sign"]), public(e384, "e384"),
    {"kty": "oct", "k": b64(shared.encode()), "kid": "oct", "alg": "HS256"}, {"kty": "OKP"}, 7,
]}

claims = {"sub": "ann", "iss": ISSUER, "aud": AUDIENCE, "iat": NOW - 60, "exp": NOW + 3600}
accepted, refused = {}, {}


def changed(**more):
    return {name: value for name, value in {**claims, **more}.items() if value is not ...}


def good(name, token, user="ann"):
    accepted[name] = {"token": token, "user": user}


def bad(name, token, detail="The token is not valid."):
    refused[name] = {"token": token, "detail": detail}


def hs(body, header=None, key=SECRET, alg="HS256"):
    return jwt.encode({"alg": alg, **(header or {})}, body, OctKey.import_key(key), algorithms=[alg])


def by(private, body, header, alg):
    """As joserfc signs, whatever the header says."""
    signed = f"{b64(header)}.{b64(body)}".encode()
    if alg == "HS256":
        signature = hmac.digest(private, signed, hashlib.sha256)
    elif alg == "RS256":
        signature = private.sign(signed, padding.PKCS1v15(), hashes.SHA256())
    else:
        r, s = decode_dss_signature(private.sign(signed, ec.ECDSA(hashes.SHA256())))
        signature = r.to_bytes(32, "big") + s.to_bytes(32, "big")
    return f"{signed.decode()}.{b64(signature)}"


def rs(body, header=None, alg="RS256"):
    return jwt.encode({"alg": alg, "kid": "r1", **(header or {})}, body, key_of(r1, "r1"), algorithms=[alg])


def es(body, header=None):
    return jwt.encode({"alg": "ES256", "kid": "e1", **(header or {})}, body, key_of(e1, "e1"), algorithms=["ES256"])


good("HS256", hs(claims))
good("RS256", rs(claims))
good("ES256", es(claims))
good("RS256 without kid", by(r1, claims, {"alg": "RS256"}, "RS256"))
good("ES256 without kid", by(e1, claims, {"alg": "ES256"}, "ES256"))
good("a list of audiences", rs(changed(aud=["other", AUDIENCE])))
good("an end with a fraction", hs(changed(exp=NOW + 600.5)))
good("the type of an access token", es(claims, {"typ": "at+JWT"}))
good("the type JWT", hs(claims, {"typ": "JWT"}))
good("neither iat nor nbf", hs(changed(iat=...)))
good("a clock that is half a minute ahead", hs(changed(iat=NOW + 29, nbf=NOW + 29)))
good("an end in a second", hs(changed(exp=NOW + 1)))
good("every character of an id", hs(changed(sub="Az0._~:-" + "x" * 120)), "Az0._~:-" + "x" * 120)
good("claims that are none of ours", es(changed(scope="all", roles=["a"], nested={"a": [1, None]})))

expired = "The token has expired."
bad("expired", hs(changed(exp=NOW - 1)), expired)
bad("expired now", rs(changed(exp=NOW)), expired)
bad("expired long ago", es(changed(exp=1)), expired)
bad("expired and signed with another secret", hs(changed(exp=1), key="another secret of thirty-two bytes or more"))
for name, value in [("none", ...), ("text", "9999999999"), ("null", None), ("a list", [NOW + 600]), ("true", True),
                    ("huge", 1 << 70), ("huge with a fraction", 1e300)]:
    bad(f"an end that is {name}", hs(changed(exp=value)))
bad("not yet valid", hs(changed(nbf=NOW + 61)))
bad("issued in the future", rs(changed(iat=NOW + 61)))
bad("nbf is text", hs(changed(nbf="0")))
bad("another issuer", hs(changed(iss="https://host.example.evil")))
bad("no issuer", hs(changed(iss=...)))
bad("a list of issuers", hs(changed(iss=[ISSUER])))
bad("another audience", hs(changed(aud="other")))
bad("other audiences", hs(changed(aud=["other", "kalends2"])))
bad("no audience", hs(changed(aud=...)))
bad("audience in an object", hs(changed(aud={AUDIENCE: AUDIENCE})))
for name, value in [("none", ...), ("empty", ""), ("a number", 7), ("null", None), ("two words", "ann b"),
                    ("a path", "../ann"), ("too long", "x" * 129), ("not ASCII", "añn"), ("a list", ["ann"])]:
    bad(f"a subject that is {name}", hs(changed(sub=value)))

for alg in ["none", "None", "NONE", "nOnE", "", None, 7, ["HS256"], "hs256", "HS256 "]:
    head = b64({"alg": alg, "typ": "JWT"})
    bad(f"alg {alg!r} without a signature", f"{head}.{b64(claims)}.")
    bad(f"alg {alg!r} with a signature", by(SECRET.encode(), claims, {"alg": alg}, "HS256"))
bad("no alg", by(SECRET.encode(), claims, {"typ": "JWT"}, "HS256"))
n = JWKS["keys"][0]["n"]
for name, key in [
    ("PEM of the RSA key", pem(r1.public_key())), ("PEM without its last line end", pem(r1.public_key()).strip()),
    ("DER of the RSA key", der(r1.public_key())), ("modulus", base64.urlsafe_b64decode(n + "==")),
    ("modulus in base64", n.encode()), ("JWK", json.dumps(JWKS["keys"][0]).encode()),
    ("PEM of the EC key", pem(e1.public_key())), ("published symmetric key", shared.encode()), ("empty key", b""),
    ("32 zeros", bytes(32)), ("another secret", b"another secret of thirty-two bytes or more"),
]:
    for kid in [None, "r1", "e1", "oct"]:
        header = {"alg": "HS256"} if kid is None else {"alg": "HS256", "kid": kid}
        bad(f"HS256 with the {name}, kid {kid}", by(key, claims, header, "HS256"))
bad("RS256 by another key", by(r2, claims, {"alg": "RS256", "kid": "r1"}, "RS256"))
bad("RS256 by another key without kid", by(r2, claims, {"alg": "RS256"}, "RS256"))
bad("RS256 of an unknown kid", by(r2, claims, {"alg": "RS256", "kid": "r2"}, "RS256"))
bad("RS256 by the right key of an unknown kid", by(r1, claims, {"alg": "RS256", "kid": "r2"}, "RS256"))
bad("RS256 with the kid of an EC key", by(r1, claims, {"alg": "RS256", "kid": "e1"}, "RS256"))
bad("RS256 with a kid that is a path", by(r1, claims, {"alg": "RS256", "kid": "../../dev/null"}, "RS256"))
bad("RS256 with a kid that is a number", by(r1, claims, {"alg": "RS256", "kid": 1}, "RS256"))
bad("RS256 by 1024 bits", by(weak, claims, {"alg": "RS256", "kid": "weak"}, "RS256"))
bad("RS256 by a key for encryption", by(r2, claims, {"alg": "RS256", "kid": "enc"}, "RS256"))
bad("RS256 by a key of RS512", by(r2, claims, {"alg": "RS256", "kid": "r512"}, "RS256"))
bad("RS256 by a key that may only sign", by(r2, claims, {"alg": "RS256", "kid": "signer"}, "RS256"))
for alg in ["RS384", "RS512", "PS256"]:
    bad(alg, rs(claims, alg=alg))
for alg in ["HS384", "HS512"]:
    bad(alg, hs(claims, alg=alg))
bad("ES384", jwt.encode({"alg": "ES384", "kid": "e384"}, claims, key_of(e384, "e384"), algorithms=["ES384"]))
bad("ES256 by another key", by(e2, claims, {"alg": "ES256", "kid": "e1"}, "ES256"))
bad("ES256 of an unknown kid", by(e2, claims, {"alg": "ES256", "kid": "e2"}, "ES256"))
signed = f"{b64({'alg': 'ES256', 'kid': 'e1'})}.{b64(claims)}"
bad("ES256 with a signature of zeros", f"{signed}.{b64(bytes(64))}")
bad("ES256 with a signature in DER", f"{signed}.{b64(e1.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))}")
bad("ES256 with the order as a signature",
    f"{signed}.{b64(bytes.fromhex('FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551') * 2)}")
own = public(r2, "r1")
bad("a key of its own in the header", by(r2, claims, {"alg": "RS256", "kid": "r1", "jwk": own}, "RS256"))
bad("an address of keys in the header",
    by(r2, claims, {"alg": "RS256", "kid": "r1", "jku": "https://evil.example/jwks"}, "RS256"))
bad("a critical extension", by(SECRET.encode(), claims, {"alg": "HS256", "crit": ["exp"], "exp": 1}, "HS256"))
bad("an unencoded payload",
    by(SECRET.encode(), claims, {"alg": "HS256", "crit": ["b64"], "b64": False}, "HS256"))
bad("the type of a logout token", by(SECRET.encode(), claims, {"alg": "HS256", "typ": "logout+jwt"}, "HS256"))
bad("a type that is a number", by(SECRET.encode(), claims, {"alg": "HS256", "typ": 1}, "HS256"))
h, p, s = hs(claims).split(".")
bad("another user's claims under the signature", f"{h}.{b64(changed(sub='ben'))}.{s}")
bad("another header over the signature", f"{b64({'alg': 'HS256', 'kid': 'x'})}.{p}.{s}")
for name, token in [
    ("no signature", f"{h}.{p}."), ("two parts", f"{h}.{p}"), ("four parts", f"{h}.{p}.{s}.{s}"),
    ("five parts", f"{h}.{p}.{s}.{s}.{s}"), ("padding", f"{h}.{p}.{s}="), ("a blank", f"{h}.{p}. {s}"),
    ("half a signature", f"{h}.{p}.{s[:21]}"), ("a signature twice", f"{h}.{p}.{s}{s}"), ("dots", ".."),
    ("empty claims", by(SECRET.encode(), {}, {"alg": "HS256"}, "HS256")),
    ("a list of claims", by(SECRET.encode(), [claims], {"alg": "HS256"}, "HS256")),
    ("claims that are no JSON", by(SECRET.encode(), b"sub=ann", {"alg": "HS256"}, "HS256")),
    ("claims that are no UTF-8", by(SECRET.encode(), b'{"sub":"\xff"}', {"alg": "HS256"}, "HS256")),
    ("a header that is a list", by(SECRET.encode(), claims, ["HS256"], "HS256")),
    ("lists without an end", by(SECRET.encode(), b"[" * 4000, {"alg": "HS256"}, "HS256")),
    ("more than 8 KiB", hs(changed(filler="x" * 9000))),
]:
    bad(name, token)

print(json.dumps({
    "secret": SECRET, "issuer": ISSUER, "audience": AUDIENCE, "jwks": JWKS,
    "rotated": {"keys": [public(e2, "e2")]}, "byRotated": by(e2, claims, {"alg": "ES256", "kid": "e2"}, "ES256"),
    "byUnknown": by(r2, claims, {"alg": "RS256", "kid": "unknown"}, "RS256"),
    "lasting": hs(changed(iat=..., exp=4_102_444_800)), "accepted": accepted, "refused": refused,
}, indent=1, ensure_ascii=True))
