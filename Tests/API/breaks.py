# SPDX-License-Identifier: Apache-2.0
"""What in an OpenAPI document breaks a client of an older one."""

import json
import re

METHODS = ("get", "put", "post", "patch", "delete", "head", "options")
# Lists that grow in any version: a client goes by the status where it does not know the code.
GROWING = {"Problem.code", "Fault.code"}
LOWEST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
HIGHEST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "x-maxBytes")


class Comparison:
    def __init__(self, old, new):
        self.old, self.new, self.found, self.seen = old, new, [], set()
        text = json.dumps(old)
        news = {self.form(path): item for path, item in new["paths"].items()}
        for path, item in old["paths"].items():
            if self.form(path) not in news:
                self.say(path, "the path was removed")
                continue
            for method in METHODS:
                if method in item:
                    self.operation(f"{method.upper()} {path}", item[method], news[self.form(path)].get(method))
        # What no operation refers to is a part of a request that its text names, such as a line of a batch.
        for name in old["components"]["schemas"]:
            if f'"#/components/schemas/{name}"' not in text and name in new["components"]["schemas"]:
                self.schema(name, *({"$ref": f"#/components/schemas/{name}"},) * 2, True)

    @staticmethod
    def form(path):
        return re.sub(r"\{[^}]*\}", "{}", path)

    def say(self, place, text):
        self.found.append(f"{place}: {text}")

    def operation(self, place, old, new):
        if new is None:
            return self.say(place, "the operation was removed")
        self.parameters(place, old, new)
        ways = [{tuple(sorted(way)) for way in one.get("security", [])} for one in (old, new)]
        for way in sorted(ways[0] - ways[1]) if ways[0] else [()] if ways[1] else []:
            self.say(place, f"{' and '.join(way) or 'nobody'} is no longer enough as credential")
        before, after = old.get("requestBody", {}), new.get("requestBody", {})
        if after.get("required") and not before.get("required"):
            self.say(place, "the body is required now")
        self.content(f"{place} body", before, after, True)
        for status, answer in old["responses"].items():
            if status not in new["responses"]:
                self.say(place, f"the response {status} was removed")
                continue
            other = new["responses"][status]
            for name in sorted(set(answer.get("headers", {})) - set(other.get("headers", {}))):
                self.say(f"{place} {status}", f"the header {name} was removed")
            self.content(f"{place} {status}", answer, other, False)

    @staticmethod
    def numbered(operation):
        given = operation.get("parameters", [])
        names = [one["name"] for one in given if one["in"] == "path"]
        return {(one["in"], names.index(one["name"]) if one["in"] == "path" else one["name"]): one for one in given}

    def parameters(self, place, old, new):
        # A parameter of the path is known by its position, and another one by its name.
        before, after = self.numbered(old), self.numbered(new)
        for key, one in before.items():
            if key not in after:
                self.say(place, f"the parameter {one['name']} was removed")
                continue
            if after[key].get("required") and not one.get("required"):
                self.say(place, f"the parameter {one['name']} is required now")
            self.schema(f"{place} {one['name']}", one["schema"], after[key]["schema"], True)
        for key, one in after.items():
            if key not in before and one.get("required"):
                self.say(place, f"the parameter {one['name']} is new and required")

    def content(self, place, old, new, is_request):
        for kind, one in old.get("content", {}).items():
            if kind not in new.get("content", {}):
                self.say(place, f"{kind} was removed")
            else:
                self.schema(place, one.get("schema", {}), new["content"][kind].get("schema", {}), is_request)

    @staticmethod
    def resolved(schema, document):
        """A schema without references, whether it may be null beside, and its name where it is a shared one."""
        name, is_nullable = None, False
        while True:
            forms = schema.get("anyOf", [])
            others = [one for one in forms if one.get("type") != "null"]
            if "$ref" in schema:
                name = schema["$ref"].rsplit("/", 1)[1]
                schema = document["components"]["schemas"][name]
            elif len(others) == 1 and len(forms) == 2:
                schema, is_nullable = others[0], True
            else:
                return schema, is_nullable, name

    def schema(self, place, old, new, is_request):
        old, may_be_null, name = self.resolved(old, self.old)
        new, may_become_null, _ = self.resolved(new, self.new)
        if name:
            # What many operations share is named once for requests, and once for responses.
            place = f"{name} in requests" if is_request else name
            if (pair := (name, id(new), may_be_null, may_become_null, is_request)) in self.seen:
                return
            self.seen.add(pair)
        self.types(place, old, new, may_be_null, may_become_null, is_request)
        self.values(place, old, new, is_request)
        if is_request:
            self.bounds(place, old, new)
        self.fields(place, old, new, is_request)
        for word in ("items", "additionalProperties"):
            if isinstance(old.get(word), dict) and isinstance(new.get(word), dict):
                self.schema(place + "[]", old[word], new[word], is_request)
        # What fits exactly one form fits any of them: in a response `oneOf` says more than `anyOf`.
        if not is_request and "anyOf" in old and "oneOf" in new:
            old = old | {"oneOf": old["anyOf"], "anyOf": []}
        for word in ("anyOf", "oneOf", "allOf"):
            before, after = old.get(word, []), new.get(word, [])
            if len(before) > len(after) if is_request else len(before) < len(after):
                self.say(place, "a form of it was removed" if is_request else "another form of it is new")
            for one, other in zip(before, after):
                self.schema(place, one, other, is_request)

    def types(self, place, old, new, may_be_null, may_become_null, is_request):
        def kinds(schema, is_nullable):
            given = schema.get("type", [])
            return set([given] if isinstance(given, str) else given) | ({"null"} if is_nullable and given else set())

        before, after = kinds(old, may_be_null), kinds(new, may_become_null)
        narrow, wide = (after, before) if is_request else (before, after)
        if "number" in narrow:
            narrow = narrow | {"integer"}
        if narrow and (not wide or wide - narrow):
            said = [" or ".join(sorted(kind)) or "anything" for kind in (before, after)]
            self.say(place, f"the type was {said[0]} and is {said[1]}")
        was, now = old.get("format"), new.get("format")
        if was != now and (now if is_request else was):
            self.say(place, f"the format was {was} and is {now}")

    def values(self, place, old, new, is_request):
        # Whether it may be null is a matter of its types.
        before, after = ({json.dumps(value) for value in one["enum"] if value is not None} if "enum" in one else None
                         for one in (old, new))
        if is_request and after is not None:
            for value in sorted(before - after) if before is not None else ["any other value"]:
                self.say(place, f"{value} is no longer taken")
        elif not is_request and before is not None and place not in GROWING:
            for value in sorted(after - before) if after is not None else ["any other value"]:
                self.say(place, f"{value} is new in responses")

    def bounds(self, place, old, new):
        for names, is_narrower in ((LOWEST, lambda was, now: now > was), (HIGHEST, lambda was, now: now < was)):
            for name in names:
                was, now = old.get(name), new.get(name)
                if now is not None and (was is None or is_narrower(was, now)):
                    self.say(place, f"{name} was {was} and is {now}")
        for name in ("pattern", "multipleOf", "uniqueItems"):
            if new.get(name) and new.get(name) != old.get(name):
                self.say(place, f"{name} was {old.get(name)} and is {new.get(name)}")
        if "default" in old and old["default"] != new.get("default"):
            self.say(place, f"the default was {old['default']} and is {new.get('default')}")
        if new.get("additionalProperties") is False and old.get("additionalProperties") is not False and "properties" in old:
            self.say(place, "unknown fields are refused now")

    def fields(self, place, old, new, is_request):
        before, after = old.get("properties", {}), new.get("properties", {})
        required = [set(one.get("required", [])) for one in (old, new)]
        for name in before:
            if name not in after:
                self.say(place, f"the field {name} was removed")
            else:
                self.schema(f"{place}.{name}", before[name], after[name], is_request)
        if is_request:
            for name in sorted(required[1] - required[0]):
                self.say(place, f"the field {name} is required now")
        for name in sorted(required[0] - required[1]) if not is_request else []:
            if name in after:
                self.say(place, f"the field {name} may be left out now")


def may_break(old, new):
    was, now = ([int(part) for part in re.match(r"(\d+)\.(\d+)", version).groups()] for version in (old, new))
    return now[0] > was[0] or (was[0] == now[0] == 0 and now[1] > was[1])
