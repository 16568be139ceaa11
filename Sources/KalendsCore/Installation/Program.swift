// SPDX-License-Identifier: Apache-2.0

/// The program as it names itself.
package enum Program {
    package static let version = "0.1.0"
}
