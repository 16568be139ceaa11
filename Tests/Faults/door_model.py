# SPDX-License-Identifier: Apache-2.0
"""What the persons of a history of the CalDAV door wrote: the values that each thing may have, while some writes have no
answer and some overlap."""

import threading

ANY = object()


class Cell:
    """Something that is written to. Each field has the values that it may have: one, unless writes overlapped or a kill
    took an answer away."""

    def __init__(self, **values):
        self.lock = threading.RLock()
        self.fields = {name: {value} for name, value in values.items()}
        # `was_contested`: since everything was quiet.
        self.under_way, self.is_contested, self.was_contested = 0, False, False

    def begin(self, **changes):
        with self.lock:
            self.under_way += 1
            self.is_contested |= self.under_way > 1
            self.was_contested |= self.is_contested
            before = {name: set(self.fields.get(name, {None})) for name in changes}
            for name, value in changes.items():
                self.fields[name] = before[name] | {value}
            return Write(self, changes, before)

    def may_be(self, name, value):
        values = self.fields.get(name, {None})
        return ANY in values or value in values

    def saw(self, name, value):
        self.fields[name], self.was_contested = {value}, False

    def only(self, name):
        """The one value that a field has; nothing if it may have several."""
        values = self.fields.get(name, {None})
        return next(iter(values)) if len(values) == 1 and ANY not in values else None

    def state(self):
        return {name: set(values) for name, values in self.fields.items()}


class Write:
    def __init__(self, cell, changes, before):
        self.cell, self.changes, self.before = cell, changes, before

    def end(self, is_done, values=None):
        """`is_done`: none if nobody knows. `values`: what is known about the fields afterwards, where it differs."""
        cell = self.cell
        with cell.lock:
            changes = self.changes | (values or {})
            for name in changes.keys() - self.changes.keys():
                self.before[name] = set(cell.fields.get(name, {None}))
            for name, value in changes.items():
                if is_done is None or cell.is_contested:
                    cell.fields[name] = cell.fields.get(name, {None}) | {value}
                elif is_done and not (value is ANY and values is not None and name not in values):
                    cell.fields[name] = {value}
                else:
                    # It was refused, or changed other fields than these.
                    cell.fields[name] = self.before[name]
            cell.under_way -= 1
            if cell.under_way == 0:
                cell.is_contested = False


class Item(Cell):
    """An entry of a circle: `gone`, `start`, `title`, `status`, `notes`, `rrule`, `part` (the occurrence that was moved
    last, and where to), and `mark:USER`, what a person keeps of it."""

    def __init__(self, collection, uid, identifier=None):
        super().__init__(gone=True)
        self.collection, self.uid, self.identifier = collection, uid, identifier
