// SPDX-License-Identifier: Apache-2.0

/// What the server and the companion have in common as programs of one release.
package enum Program {
    package static let version = "0.1.0"
}
