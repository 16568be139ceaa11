// SPDX-License-Identifier: Apache-2.0

/// How long texts that people write may be.
package enum TextLength {
    /// The maximum number of characters in a title, a name, a label or a place.
    package static let line = 1000
}
