# SPDX-License-Identifier: Apache-2.0
"""Sign-in as the Microsoft identity platform has it: everybody consents at once, refresh tokens rotate."""

import base64
import hashlib
import json
import time
import uuid
from urllib.parse import parse_qs, urlencode, urlsplit


class Login:
    """Codes and tokens of all accounts. A token names its account: `eyJ0.alice.…`."""

    def __init__(self, settings):
        self.settings = settings
        self.codes, self.refresh, self.expired = {}, {}, set()
        self.issued = {"eyJ0.static"}
        self.refreshes = 0

    def user(self, header):
        """The account of an Authorization header, None when its token is not good."""
        token = (header or "").removeprefix("Bearer ")
        if not (header or "").startswith("Bearer eyJ") or token in self.expired:
            return None
        parts = token.split(".")
        return parts[1] if len(parts) == 3 else "alice"

    def expire(self):
        """Every access token so far is no longer good."""
        self.expired |= self.issued

    def authorize(self, query):
        """The place to which the browser is sent, or an error page."""
        needed = ("client_id", "redirect_uri", "response_type", "scope")
        if any(not query.get(name) for name in needed) or query["response_type"] != "code":
            return 400, "AADSTS900144: The request body must contain the parameters of a code request."
        back = {"state": query.get("state", "")}
        if self.settings["denies"]:
            back |= {"error": "access_denied", "error_description": "AADSTS65004: User declined to consent."}
        elif query.get("code_challenge") and query.get("code_challenge_method", "plain") not in ("S256", "plain"):
            back |= {"error": "invalid_request"}
        else:
            code = "M.C5_BAY.2.U." + uuid.uuid4().hex
            self.codes[code] = (query, time.time())
            back["code"] = code
        separator = "&" if urlsplit(query["redirect_uri"]).query else "?"
        return 302, query["redirect_uri"] + separator + urlencode(back)

    def token(self, tenant, form):
        """The answer of the token endpoint."""
        if self.settings["clientSecret"] and form.get("client_secret") != self.settings["clientSecret"]:
            return self.error(401, "invalid_client", 7000215, "Invalid client secret provided.")
        if form.get("grant_type") == "authorization_code":
            asked, made = self.codes.pop(form.get("code"), (None, 0))
            if asked is None or time.time() - made > 600:
                return self.error(400, "invalid_grant", 54005, "The code was redeemed already, or is not valid.")
            if asked["redirect_uri"] != form.get("redirect_uri") or asked["client_id"] != form.get("client_id"):
                return self.error(400, "invalid_grant", 50011, "The redirect URI does not match.")
            if challenge := asked.get("code_challenge"):
                digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
                if base64.urlsafe_b64encode(digest).decode().rstrip("=") != challenge:
                    return self.error(400, "invalid_grant", 501481, "The code verifier does not match the challenge.")
            user, scope, nonce = asked.get("login_hint", "alice").split("@")[0], asked["scope"], asked.get("nonce")
        elif form.get("grant_type") == "refresh_token":
            known = self.refresh.get(form.get("refresh_token"))
            if form.get("refresh_token") == "RT0":
                known = ("alice", "offline_access Calendars.ReadWrite User.Read")
            if known is None or self.settings["revoked"]:
                return self.error(400, "invalid_grant", 70000, "The provided value for the 'refresh_token' is invalid.")
            user, scope, nonce = known[0], form.get("scope") or known[1], None
            self.refreshes += 1
        else:
            return self.error(400, "unsupported_grant_type", 70003, "The grant type is not supported.")
        granted = [one for one in scope.split() if one not in ("offline_access", "openid", "profile")]
        answer = {
            "token_type": "Bearer", "scope": " ".join(granted), "expires_in": self.settings["tokenSeconds"],
            "ext_expires_in": self.settings["tokenSeconds"], "access_token": f"eyJ0.{user}.{uuid.uuid4().hex}"}
        self.issued.add(answer["access_token"])
        if "offline_access" in scope.split():
            # The old one stays good, as a lost answer locks nobody out; where it is used once only, whoever comes late is.
            if self.settings["singleUse"]:
                self.refresh.pop(form.get("refresh_token"), None)
            answer["refresh_token"] = "0.AX" + uuid.uuid4().hex
            self.refresh[answer["refresh_token"]] = (user, scope)
        if "openid" in scope.split():
            claims = {"aud": form.get("client_id"), "iss": f"https://login.microsoftonline.com/{tenant}/v2.0", "sub": user,
                      "exp": int(time.time()) + 3600, "iat": int(time.time()), "nonce": nonce, "oid": user, "tid": tenant,
                      "preferred_username": f"{user}@example.test", "ver": "2.0"}
            answer["id_token"] = f"e30.{self.packed(claims)}.x"
            answer["client_info"] = self.packed({"uid": user, "utid": tenant})
        return 200, answer

    @staticmethod
    def packed(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    @staticmethod
    def error(status, code, number, text):
        moment = time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime())
        return status, {
            "error": code, "error_codes": [number], "timestamp": moment, "trace_id": str(uuid.uuid4()),
            "error_description": f"AADSTS{number}: {text}\r\nTrace ID: 0\r\nCorrelation ID: 0\r\nTimestamp: {moment}",
            "correlation_id": str(uuid.uuid4()), "error_uri": f"https://login.microsoftonline.com/error?code={number}"}

    @staticmethod
    def form(body):
        return {name: values[0] for name, values in parse_qs(body.decode()).items()}
