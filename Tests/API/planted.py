# SPDX-License-Identifier: Apache-2.0
"""Changes of a small document, planted one by one: each is named by compatible.py, or breaks nobody and is not named."""

import copy
import sys

from breaks import Comparison, may_break

# What is planted in SMALL, by a path into it, and what has to be named; nothing for what breaks nobody.
SMALL = {
    "info": {"version": "0.1.0"},
    "components": {"schemas": {
        "Thing": {"type": "object", "required": ["id", "kind"], "properties": {
            "id": {"type": "string"}, "kind": {"enum": ["a", "b"]}, "more": {"type": ["integer", "null"]}}},
        "Line": {"type": "object", "properties": {"op": {"enum": ["put", "delete"]}}},
        "Problem": {"type": "object", "properties": {"code": {"enum": ["x"]}, "at": {"anyOf": [
            {"type": "string"}, {"type": "integer"}]}}}}},
    "paths": {"/things/{id}": {"put": {
        "security": [{"key": []}, {"session": []}],
        "parameters": [{"in": "path", "name": "id", "required": True, "schema": {"type": "string", "maxLength": 9}},
                       {"in": "query", "name": "limit", "schema": {"type": "integer", "minimum": 1, "default": 5}}],
        "requestBody": {"content": {"application/json": {"schema": {
            "type": "object", "additionalProperties": False, "required": ["title"], "properties": {
                "title": {"type": "string"}, "kind": {"enum": ["a", "b"]}, "size": {"type": "number"}}}}}},
        "responses": {"200": {"headers": {"ETag": {}}, "content": {"application/json": {"schema": {"anyOf": [
            {"$ref": "#/components/schemas/Thing"}, {"type": "null"}]}}}}, "404": {"content": {"application/problem+json": {
                "schema": {"$ref": "#/components/schemas/Problem"}}}}}}}}}
PUT, THING = ["paths", "/things/{id}", "put"], ["components", "schemas", "Thing"]
BODY = [*PUT, "requestBody", "content", "application/json", "schema"]
CODE, AT = (["components", "schemas", "Problem", "properties", name] for name in ("code", "at"))
GONE = object()
PLANTED = [
    (["paths", "/things/{id}"], GONE, "the path was removed"), (PUT, GONE, "the operation was removed"),
    ([*PUT, "responses", "404"], GONE, "the response 404 was removed"), ([*PUT, "parameters", 1], GONE, "limit was removed"),
    ([*PUT, "parameters", 1, "required"], True, "limit is required now"),
    ([*PUT, "parameters", 2], {"in": "query", "name": "new", "required": True, "schema": {}}, "new is new and required"),
    ([*PUT, "parameters", 2], {"in": "query", "name": "new", "schema": {}}, None),
    ([*PUT, "parameters", 0, "schema", "maxLength"], 8, "maxLength was 9 and is 8"),
    ([*PUT, "parameters", 0, "schema", "maxLength"], 10, None), ([*PUT, "parameters", 0, "name"], "thing", None),
    ([*PUT, "parameters", 1, "schema", "minimum"], 2, "minimum was 1 and is 2"),
    ([*PUT, "parameters", 1, "schema", "maximum"], 2, "maximum was None and is 2"),
    ([*PUT, "parameters", 1, "schema", "default"], 6, "default was 5 and is 6"),
    ([*PUT, "security", 1], GONE, "session is no longer enough"), ([*PUT, "security", 2], {"device": []}, None),
    ([*PUT, "requestBody", "required"], True, "the body is required now"),
    ([*BODY, "required", 1], "size", "size is required now"), ([*BODY, "properties", "size"], GONE, "size was removed"),
    ([*BODY, "properties", "new"], {"type": "string"}, None),
    ([*BODY, "properties", "kind", "enum", 1], GONE, '"b" is no longer taken'),
    ([*BODY, "properties", "kind", "enum", 2], "c", None), ([*BODY, "properties", "size", "type"], "integer", "type was"),
    ([*BODY, "properties", "title", "type"], ["string", "null"], None),
    ([*BODY, "properties", "title", "pattern"], "^a", "pattern was None"),
    ([*PUT, "responses", "200", "headers", "ETag"], GONE, "ETag was removed"),
    ([*PUT, "responses", "200", "content", "text/csv"], {}, None),
    ([*PUT, "responses", "200", "content", "application/json"], GONE, "application/json was removed"),
    ([*THING, "properties", "more"], GONE, "more was removed"), ([*THING, "properties", "new"], {}, None),
    ([*THING, "required", 1], GONE, "kind may be left out now"), ([*THING, "required", 2], "more", None),
    ([*THING, "properties", "id", "type"], "integer", "type was string"),
    ([*THING, "properties", "id", "format"], "date", None),
    ([*THING, "properties", "id", "type"], ["string", "null"], "is null or string"),
    ([*THING, "properties", "more", "type"], "integer", None),
    ([*THING, "properties", "kind", "enum", 2], "c", '"c" is new'), ([*THING, "properties", "kind", "enum", 1], GONE, None),
    (["components", "schemas", "Line", "properties", "op", "enum", 1], GONE, '"delete" is no longer taken'),
    ([*CODE, "enum", 1], "y", None), (CODE, {"type": "string", "x-extensible-enum": ["x"]}, None),
    (AT, {"oneOf": [{"type": "string"}, {"type": "integer"}]}, None),
    (AT, {"oneOf": [{"type": "string"}, {"type": "boolean"}]}, "type was integer and is boolean"),
    (AT, {"oneOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}, "another form of it is new")]


def try_all():
    for path, value, expected in PLANTED:
        new = copy.deepcopy(SMALL)
        there = new
        for part in path[:-1]:
            there = there[part]
        if value is GONE:
            del there[path[-1]]
        elif isinstance(there, list) and path[-1] == len(there):
            there.append(value)
        else:
            there[path[-1]] = value
        found = Comparison(SMALL, new).found
        if len(found) != (expected is not None) or expected and expected not in found[0]:
            sys.exit(f"compatible: {path} was planted, {expected or 'nothing'} is to be named, and named is {found}")
    for was, now, may in (("0.1.0", "0.1.9", False), ("0.1.0", "0.2.0", True), ("1.2.0", "1.3.0", False),
                          ("1.2.0", "2.0.0", True), ("0.9.0", "1.0.0", True), ("1.9.0", "0.9.0", False)):
        if may_break(was, now) != may:
            sys.exit(f"compatible: whether {now} may break what {was} promised")
    print(f"compatible: {len(PLANTED)} planted changes are told apart")
