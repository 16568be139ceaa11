// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Glibc

extension Data {
    /// Whether some bytes are anywhere in these, by the C library's search: scans for secrets read many megabytes.
    package func holds(_ sought: Data) -> Bool {
        guard let first = sought.first else { return true }
        // Both pointers are only used inside, and each place has as many bytes behind it as are compared.
        return unsafe withUnsafeBytes { own in
            unsafe sought.withUnsafeBytes { other in
                guard let start = own.baseAddress, let wanted = other.baseAddress else { return false }
                var index = 0
                while index + other.count <= own.count {
                    let count = own.count - other.count - index + 1
                    guard let found = unsafe memchr(start + index, CInt(first), count) else { return false }
                    if unsafe memcmp(found, wanted, other.count) == 0 { return true }
                    index = unsafe UnsafeRawPointer(found) - start + 1
                }
                return false
            }
        }
    }
}
