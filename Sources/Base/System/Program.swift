// SPDX-License-Identifier: Apache-2.0

/// What the server and the companion have in common as programs of one release.
public enum Program {
    public static let version = "0.1.0"
}
