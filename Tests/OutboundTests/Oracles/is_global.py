# SPDX-License-Identifier: Apache-2.0
"""Says of each address, one a line, whether Python's ipaddress takes it for one of the public Internet."""

import ipaddress
import sys

for line in sys.stdin:
    address = ipaddress.ip_address(line.strip())
    mapped = getattr(address, "ipv4_mapped", None)
    print((mapped or address).is_global)
