# SPDX-License-Identifier: Apache-2.0
"""Signs people and operators in at a provider of OpenID Connect that nobody here wrote, Django OAuth Toolkit, and out of it.

    KALENDS=.build-release/release/kalends python3 -B Tests/Clients/openid.py

The provider runs in this process, on a port of its own, with users, groups, a key and a database in a folder that is
removed. A browser without scripts goes the way that a person goes.
"""

import http.cookiejar
import os
import re
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from kalends import Failure, Kalends

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Faults"))

from ports import free_port  # noqa: E402

SECRET = "a s:cret with + and %"
LOGIN = "<form method=post>{% csrf_token %}{{ form.as_p }}<button>Log in</button></form>"


class Provider:
    """Django OAuth Toolkit with a login page."""

    def __init__(self, folder, kalends):
        self.port = free_port()
        self.issuer = f"http://127.0.0.1:{self.port}/o"
        self._configure(folder)
        import django
        from django.core.management import call_command
        django.setup()
        call_command("migrate", verbosity=0)
        from django.contrib.auth.models import Group, User
        from oauth2_provider.models import Application
        for name in ("ann", "vic", "zoe"):
            User.objects.create_user(name, f"{name}@example.org", f"{name} at the provider")
        User.objects.get(username="zoe").groups.add(Group.objects.create(name="operators"))
        self.application = Application.objects.create(
            name="Kalends", client_id="kalends", client_secret=SECRET, client_type="confidential",
            authorization_grant_type="authorization-code", algorithm="RS256", skip_authorization=True,
            redirect_uris=f"{kalends}/app/sign-in/return", post_logout_redirect_uris=f"{kalends}/app/sign-in")

    def _configure(self, folder):
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import rsa
        from django.conf import settings
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
        settings.configure(
            SECRET_KEY="for this run only", ALLOWED_HOSTS=["127.0.0.1"], ROOT_URLCONF="openid_urls", USE_TZ=True,
            DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", LOGIN_URL="/login/",
            INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "oauth2_provider"],
            MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.csrf.CsrfViewMiddleware",
                        "django.contrib.auth.middleware.AuthenticationMiddleware"],
            DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": str(Path(folder) / "provider.sqlite")}},
            TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "OPTIONS": {"loaders": [
                ("django.template.loaders.locmem.Loader", {"registration/login.html": LOGIN}),
                "django.template.loaders.app_directories.Loader"]}}],
            OAUTH2_PROVIDER={
                "OIDC_ENABLED": True, "OIDC_RSA_PRIVATE_KEY": key, "OIDC_ISS_ENDPOINT": self.issuer, "PKCE_REQUIRED": True,
                "OIDC_RP_INITIATED_LOGOUT_ENABLED": True, "OIDC_RP_INITIATED_LOGOUT_ALWAYS_PROMPT": False,
                "SCOPES": {"openid": "who", "profile": "name and groups", "email": "address"},
                "OAUTH2_VALIDATOR_CLASS": "openid_urls.Validator"})

    def start(self):
        import openid_urls  # noqa: F401
        from django.core.wsgi import get_wsgi_application

        class Server(ThreadingMixIn, WSGIServer):
            daemon_threads = True

        class Quiet(WSGIRequestHandler):
            def log_message(self, *_):
                pass

        self.server = Server(("127.0.0.1", self.port), Quiet)
        self.server.set_app(get_wsgi_application())
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def urls():
    """The module that Django takes its addresses from."""
    import types
    module = types.ModuleType("openid_urls")
    sys.modules["openid_urls"] = module

    def fill():
        from django.contrib.auth.views import LoginView
        from django.urls import include, path
        from oauth2_provider.oauth2_validators import OAuth2Validator

        class Validator(OAuth2Validator):
            oidc_claim_scope = None

            def get_additional_claims(self, request):
                user = request.user
                return {"preferred_username": user.username, "email": user.email, "email_verified": True,
                        "groups": [group.name for group in user.groups.all()]}

        module.Validator = Validator
        module.urlpatterns = [
            path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
            path("login/", LoginView.as_view())]
    return fill


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

    def log_in(self, page, name):
        """Types a name and a password on the provider's login page."""
        if "/login/" not in page.address:
            raise Failure(f"the provider does not ask who it is: {page.address} {page.text[:300]}")
        return self.send(page, "", username=name, password=f"{name} at the provider")


def check(what, is_so):
    if not is_so:
        raise Failure(what)
    print(f"  {what}")


def run(program, folder):
    fill = urls()
    port = free_port()
    base = f"http://localhost:{port}"
    provider = Provider(folder, base)
    fill()
    provider.start()
    server = Kalends(
        program, folder, "--port", str(port), KALENDS_PUBLIC_URL=base, KALENDS_OIDC_ISSUER=provider.issuer,
        KALENDS_OIDC_CLIENT_ID="kalends", KALENDS_OIDC_CLIENT_SECRET=SECRET, KALENDS_OIDC_NAME="Our company",
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
    page = vic.log_in(vic.send(page, "/app/sign-in/provider"), "vic")
    check("a member signs in at the provider, and is where they wanted to be",
          page.status == 200 and page.address == f"{base}/app/circles/clients")
    check("the ID token's auth_time counts as a recent sign-in",
          vic.send(vic.open(f"{base}/app/account"), "/app/account/export").status == 200)
    address = re.search(r'href="([^"]*/o/logout/[^"]*)"', vic.send(page, "/app/sign-out").says("You are signed out here").text)
    back = vic.open(unescape(address[1]))
    check("signing out there leads back to the sign-in page", back.status == 200 and back.address == f"{base}/app/sign-in")
    page = vic.send(back, "/app/sign-in/provider")
    check("the provider's session is over, too", "/login/" in page.address)

    ann = Browser()
    page = ann.log_in(ann.send(ann.open(f"{base}/app/sign-in"), "/app/sign-in/provider"), "ann")
    check("a claim does not take over a user with a password", page.status == 403)
    page.says("There is a user of this name with a sign-in of their own.")
    page = ann.send(ann.open(f"{base}/app/sign-in"), "/app/sign-in", user="ann", password="a garden, 7 bees")
    page = ann.send(ann.open(f"{base}/app/account"), "/app/account/provider")
    check("whoever is signed in joins the account", page.status == 200 and page.address.endswith("?done=providerJoined"))
    other = Browser()
    page = other.log_in(other.send(other.open(f"{base}/app/sign-in"), "/app/sign-in/provider"), "ann")
    check("and signs in with it then", page.status == 200 and "ann" in page.text and "/sign-in" not in page.address)

    zoe = Browser()
    page = zoe.log_in(zoe.send(zoe.open(f"{base}/app/sign-in"), "/app/sign-in/provider"), "zoe")
    check("nobody whom nobody knows here is let in", page.status == 403)
    page = zoe.send(zoe.open(f"{base}/app/admin"), "/app/sign-in/provider/operator")
    check("a member of the operators' group opens the operator's pages",
          page.status == 200 and zoe.open(f"{base}/app/admin").status == 200)
    page = other.send(other.open(f"{base}/app/admin"), "/app/sign-in/provider/operator")
    page.says("may not open the operator")
    check("and nobody else does", page.status == 403 and other.open(f"{base}/app/admin").status == 403)

    late = Browser()
    page = late.log_in(late.send(late.open(f"{base}/app/sign-in"), "/app/sign-in/provider"), "vic")
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
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        try:
            run(Path(program).resolve(), folder)
        except Failure as failure:
            print(f"FAILED: {failure}")
            return 1
    print(f"The sign-in at a provider works: {time.monotonic() - start:.0f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
