# SPDX-License-Identifier: Apache-2.0
"""How Evolution's subscriptions read files: libical has to find one VCALENDAR and nothing else (e-cal-backend-http).

    evolution.py FILE...

Prints a line for each file: `refuses|takes<TAB>FILE<TAB>reason`.
"""

import ctypes
import ctypes.util
import sys

library = ctypes.CDLL(ctypes.util.find_library("ical") or "libical.so.3")
library.icalparser_parse_string.restype = ctypes.c_void_p
library.icalcomponent_free.argtypes = library.icalcomponent_isa.argtypes = [ctypes.c_void_p]
calendar = library.icalcomponent_string_to_kind(b"VCALENDAR")

for path in sys.argv[1:]:
    with open(path, "rb") as file:
        root = library.icalparser_parse_string(file.read())
    if not root:
        print(f"refuses\t{path}\tBad file format.")
        continue
    is_calendar = library.icalcomponent_isa(root) == calendar
    print(f"takes\t{path}\t" if is_calendar else f"refuses\t{path}\tNot a calendar.")
    library.icalcomponent_free(root)
