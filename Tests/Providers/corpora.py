# SPDX-License-Identifier: Apache-2.0
"""Files that others published, below the folder that KALENDS_CORPORA names; none without it."""

import os


def find(name):
    """The path of a file in that folder or in one of its folders; None where there is none."""
    root = os.environ.get("KALENDS_CORPORA")
    if not root:
        return None
    folders = [root] + [os.path.join(root, inner) for inner in sorted(os.listdir(root))]
    return next((path for path in (os.path.join(folder, name) for folder in folders) if os.path.exists(path)), None)
