# SPDX-License-Identifier: Apache-2.0
"""Checks messages with the very code that docs/webhooks.md gives to receivers: one JSON object a line, True or False each."""

import base64
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as page:
    exec(re.search(r"```python\n(.*?)```", page.read(), re.S).group(1))

for line in sys.stdin:
    case = json.loads(line)
    body = base64.b64decode(case["body"])
    print(is_genuine(case["secret"], case["headers"], body, case["now"]))
