# SPDX-License-Identifier: Apache-2.0
"""Signs people and operators in at providers of OpenID Connect that nobody here wrote, and out of them.

    KALENDS=.build-release/release/kalends python3 -B Tests/Clients/openid.py [django] [canaille]

A browser without scripts goes the way that a person goes.
"""

import http.cookiejar
import os
import re
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

from kalends import Failure, Kalends
from openid_providers import PROVIDERS, SECRET

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Faults"))

from ports import free_port  # noqa: E402

class Forms(HTMLParser):
    """The forms of a page, with their hidden fields."""

    def __init__(self, text):
        super().__init__()
        self.forms = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "form":
            self.forms.append({"action": values.get("action", ""), "fields": {}})
        elif tag == "input" and self.forms and values.get("name"):
            self.forms[-1]["fields"][values["name"]] = values.get("value") or ""


class Page:
    def __init__(self, status, address, text):
        self.status, self.address, self.text = status, address, text

    def says(self, text):
        if text not in unescape(self.text):
            raise Failure(f"{urllib.parse.urlsplit(self.address).path} ({self.status}) does not say: {text}")
        return self


class Browser:
    """Follows redirects with its cookies, and fills in forms."""

    def __init__(self):
        self.jar = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))

    def open(self, address, fields=None, origin=None):
        headers = {"Sec-Fetch-Site": "same-origin"} if fields is not None else {}
        if origin:
            headers |= {"Origin": origin, "Referer": origin + "/"}
        data = None if fields is None else urllib.parse.urlencode(fields).encode()
        try:
            with self.opener.open(urllib.request.Request(address, data, headers), timeout=30) as answer:
                if onward := answer.headers["Refresh"]:
                    return self.open(urllib.parse.urljoin(answer.url, onward.partition(";url=")[2]))
                return Page(answer.status, answer.url, answer.read().decode(errors="replace"))
        except urllib.error.HTTPError as error:
            return Page(error.code, error.url, error.read().decode(errors="replace"))

    def send(self, page, action, **typed):
        """Sends the form of a page whose action ends so."""
        form = next((form for form in Forms(page.text).forms if form["action"].endswith(action)), None)
        if form is None:
            raise Failure(f"no form for {action} at {page.address} ({page.status}): {page.text[:300]}")
        target = urllib.parse.urljoin(page.address, form["action"])
        parts = urllib.parse.urlsplit(target)
        return self.open(target, form["fields"] | typed, f"{parts.scheme}://{parts.netloc}")


def check(what, is_so):
    if not is_so:
        raise Failure(what)
    print(f"  {what}")


def run(program, folder, kind):
    port = free_port()
    base = f"http://localhost:{port}"
    provider = kind(folder, base)
    server = Kalends(
        program, folder, "--port", str(port), KALENDS_PUBLIC_URL=base, KALENDS_OIDC_ISSUER=provider.issuer,
        KALENDS_OIDC_CLIENT_ID="kalends", KALENDS_OIDC_CLIENT_SECRET=SECRET, KALENDS_OIDC_NAME="Our company",
        KALENDS_OIDC_SCOPES=provider.scopes,
        KALENDS_OIDC_USER_CLAIM="preferred_username", KALENDS_OIDC_ACCOUNTS="members",
        KALENDS_OIDC_OPERATOR_GROUP="operators")
    try:
        walk(server, provider, base)
        # How tokens begin that name their algorithm or their type first.
        secrets = [secret.encode() for secret in (SECRET, "eyJhbGciOi", "eyJ0eXAiOi")]
        files = [path.read_bytes() for path in Path(folder).glob("kalends.*") if path.is_file()]
        check("no file of the server's has the client secret or a token in clear",
              len(files) > 2 and not any(secret in text for secret in secrets for text in files))
    finally:
        server.stop()
        provider.server.shutdown()


def walk(server, provider, base):
    server.call("PUT", "/v1/circles/clients", {"name": "Company", "timeZone": "Europe/Vienna"})
    for name in ("ann", "vic"):
        server.call("PUT", f"/v1/circles/clients/members/{name}", {"displayName": name, "role": "member"})
    server.call("PUT", "/v1/users/ann/password", {"password": "a garden, 7 bees"})

    vic = Browser()
    page = vic.open(f"{base}/app/circles/clients").says("Sign in at Our company")
    page = provider.log_in(vic, vic.send(page, "/app/sign-in/provider"), "vic")
    check("a member signs in at the provider, and is where they wanted to be",
          page.status == 200 and page.address == f"{base}/app/circles/clients")
    check("the ID token's auth_time counts as a recent sign-in",
          vic.send(vic.open(f"{base}/app/account"), "/app/account/export").status == 200)
    address = re.search(r'href="([^"]*[?&;]id_token_hint=[^"]*)"', vic.send(page, "/app/sign-out").says("You are signed out here").text)
    back = vic.open(unescape(address[1]))
    check("signing out there leads back to the sign-in page", back.status == 200 and back.address == f"{base}/app/sign-in")
    page = vic.send(back, "/app/sign-in/provider")
    check("the provider's session is over, too", "/login" in page.address)

    ann = Browser()
    page = provider.log_in(ann, ann.send(ann.open(f"{base}/app/sign-in"), "/app/sign-in/provider"), "ann")
    check("a claim does not take over a user with a password", page.status == 403)
    page.says("There is a user of this name with a sign-in of their own.")
    page = ann.send(ann.open(f"{base}/app/sign-in"), "/app/sign-in", user="ann", password="a garden, 7 bees")
    page = ann.send(ann.open(f"{base}/app/account"), "/app/account/provider")
    check("whoever is signed in joins the account", page.status == 200 and page.address.endswith("?done=providerJoined"))
    other = Browser()
    page = provider.log_in(other, other.send(other.open(f"{base}/app/sign-in"), "/app/sign-in/provider"), "ann")
    check("and signs in with it then", page.status == 200 and "ann" in page.text and "/sign-in" not in page.address)

    zoe = Browser()
    page = provider.log_in(zoe, zoe.send(zoe.open(f"{base}/app/sign-in"), "/app/sign-in/provider"), "zoe")
    check("nobody whom nobody knows here is let in", page.status == 403)
    page = zoe.send(zoe.open(f"{base}/app/admin"), "/app/sign-in/provider/operator")
    check("a member of the operators' group opens the operator's pages",
          page.status == 200 and zoe.open(f"{base}/app/admin").status == 200)
    page = other.send(other.open(f"{base}/app/admin"), "/app/sign-in/provider/operator")
    page.says("may not open the operator")
    check("and nobody else does", page.status == 403 and other.open(f"{base}/app/admin").status == 403)

    late = Browser()
    page = provider.log_in(late, late.send(late.open(f"{base}/app/sign-in"), "/app/sign-in/provider"), "vic")
    check("a member signs in again", page.status == 200)
    check("the way back of a sign-in works once", twice(late, base) == [303, 400])
    audit = server.call("GET", "/v1/audit?limit=200")["items"]
    actions = [entry["action"] for entry in audit]
    check("the audit trail has each account once, and each session",
          actions.count("providerAccount.joined") == 2 and actions.count("session.created") == 5
          and actions.count("operatorSession.created") == 1)


def twice(browser, base):
    """The statuses of one way back that is gone twice, both times with the cookie of the sign-in."""
    class Stop(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, request, answer, code, message, headers, target):
            if "/app/sign-in/return" in target:
                raise StopIteration(target)
            return super().redirect_request(request, answer, code, message, headers, target)

    page = browser.open(f"{base}/app/sign-in")
    browser.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(browser.jar), Stop())
    try:
        browser.send(page, "/app/sign-in/provider")
        raise Failure("the provider did not send the browser back")
    except StopIteration as stop:
        target = stop.value
    kept = "; ".join(f"{cookie.name}={cookie.value}" for cookie in browser.jar if cookie.name.startswith("kalends_"))
    statuses = []
    for _ in range(2):
        class Stay(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *_):
                return None
        try:
            urllib.request.build_opener(Stay()).open(urllib.request.Request(target, headers={"Cookie": kept}), timeout=30)
        except urllib.error.HTTPError as error:
            statuses.append(error.code)
    return statuses


def main():
    program = os.environ.get("KALENDS", ".build-release/release/kalends")
    for name in sys.argv[1:] or PROVIDERS:
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                run(Path(program).resolve(), folder, PROVIDERS[name])
            except Failure as failure:
                print(f"FAILED at {name}: {failure}")
                return 1
        print(f"The sign-in at {name} works: {time.monotonic() - start:.0f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
