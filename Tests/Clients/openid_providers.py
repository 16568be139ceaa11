# SPDX-License-Identifier: Apache-2.0
"""Providers of OpenID Connect that nobody here wrote. Each runs in this process, on a port of its own, with the users ann, vic
and zoe, of whom zoe is in the group `operators`, and everything that it stores in a folder that is removed."""

import sys
import threading
from pathlib import Path
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from kalends import Failure

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Faults"))

from ports import free_port  # noqa: E402

NAMES = ("ann", "vic", "zoe")
SECRET = "a s:cret with + and %"
LOGIN = "<form method=post>{% csrf_token %}{{ form.as_p }}<button>Log in</button></form>"


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


def serve(port, application):
    server = Server(("127.0.0.1", port), Quiet)
    server.set_app(application)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def private_key():
    """An RSA key as PEM."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa
    return rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()


def password(name):
    return f"{name} at the provider"


class Django:
    """Django OAuth Toolkit with a login page."""

    scopes = "openid profile email"

    def __init__(self, folder, kalends):
        fill = urls()
        self.port = free_port()
        self.issuer = f"http://127.0.0.1:{self.port}/o"
        self._configure(folder)
        import django
        from django.core.management import call_command
        django.setup()
        call_command("migrate", verbosity=0)
        from django.contrib.auth.models import Group, User
        from oauth2_provider.models import Application
        for name in NAMES:
            User.objects.create_user(name, f"{name}@example.org", password(name))
        User.objects.get(username="zoe").groups.add(Group.objects.create(name="operators"))
        Application.objects.create(
            name="Kalends", client_id="kalends", client_secret=SECRET, client_type="confidential",
            authorization_grant_type="authorization-code", algorithm="RS256", skip_authorization=True,
            redirect_uris=f"{kalends}/app/sign-in/return", post_logout_redirect_uris=f"{kalends}/app/sign-in")
        fill()
        from django.core.wsgi import get_wsgi_application
        self.server = serve(self.port, get_wsgi_application())

    def _configure(self, folder):
        from django.conf import settings
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
                "OIDC_ENABLED": True, "OIDC_RSA_PRIVATE_KEY": private_key(), "OIDC_ISS_ENDPOINT": self.issuer, "PKCE_REQUIRED": True,
                "OIDC_RP_INITIATED_LOGOUT_ENABLED": True, "OIDC_RP_INITIATED_LOGOUT_ALWAYS_PROMPT": False,
                "SCOPES": {"openid": "who", "profile": "name and groups", "email": "address"},
                "OAUTH2_VALIDATOR_CLASS": "openid_urls.Validator"})

    @staticmethod
    def log_in(browser, page, name):
        """Types a name and a password on the provider's login page."""
        if "/login/" not in page.address:
            raise Failure(f"the provider does not ask who it is: {page.address} {page.text[:300]}")
        return browser.send(page, "", username=name, password=password(name))


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


class Canaille:
    """Canaille, which has Authlib inside, signs with PS256 here and says groups under a scope of their own."""

    scopes = "openid profile email groups"

    def __init__(self, folder, kalends):
        from canaille import create_app
        from canaille.app import models
        from joserfc.jwk import RSAKey
        self.port = free_port()
        self.issuer = f"http://127.0.0.1:{self.port}"
        key = RSAKey.import_key(private_key(), {"alg": "PS256", "use": "sig", "kid": "p1"}).as_dict(private=True)
        other = RSAKey.import_key(private_key(), {"alg": "RS256", "use": "sig", "kid": "r1"}).as_dict(private=True)
        application = create_app({
            "SECRET_KEY": "for this run only", "SERVER_NAME": f"127.0.0.1:{self.port}", "PREFERRED_URL_SCHEME": "http",
            "CANAILLE": {"DATABASE": "memory", "ROOT": folder, "LOGGING": {"version": 1}},
            "CANAILLE_OIDC": {"ACTIVE_JWKS": [key, other], "TRUSTED_DOMAINS": ["localhost"], "USERINFO_MAPPING": {"PREFERRED_USERNAME": "{{ user.user_name }}"}}})
        backend = application.backend
        with application.app_context(), backend.session():
            users = {name: models.User(
                user_name=name, family_name=name, formatted_name=name, emails=[f"{name}@example.org"], password=password(name))
                for name in NAMES}
            for user in users.values():
                backend.save(user)
            backend.save(models.Group(display_name="operators", members=[users["zoe"]]))
            client = models.Client(
                client_id="kalends", client_secret=SECRET, client_name="Kalends", client_uri=kalends,
                redirect_uris=[f"{kalends}/app/sign-in/return"], post_logout_redirect_uris=[f"{kalends}/app/sign-in"],
                grant_types=["authorization_code"], response_types=["code"], scope=self.scopes.split(),
                token_endpoint_auth_method="client_secret_basic", id_token_signed_response_alg="PS256")
            backend.save(client)
            client.audience = [client]
            backend.save(client)
        self.server = serve(self.port, application)

    @staticmethod
    def log_in(browser, page, name):
        """Types a name on the first page, and a password on the second."""
        if "/login" not in page.address:
            raise Failure(f"the provider does not ask who it is: {page.address} {page.text[:300]}")
        page = browser.send(page, "", login=name)
        return browser.send(page, "", password=password(name))


PROVIDERS = {"django": Django, "canaille": Canaille}
