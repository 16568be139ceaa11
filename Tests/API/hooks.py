# SPDX-License-Identifier: Apache-2.0
"""What the tester must be taught: lines of JSON are sent as they are."""

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    return value if isinstance(value, bytes) else str(value).encode()
