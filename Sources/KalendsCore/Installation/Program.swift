// SPDX-License-Identifier: Apache-2.0

/// The program's version.
package enum Program {
    package static let version = "0.1.0"
}
