// SPDX-License-Identifier: Apache-2.0

/// A range of addresses such as `10.0.0.0/8`, or a single address.
package struct AddressRange: Hashable, Sendable {
    private let base: IPAddress
    private let length: Int

    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let base = IPAddress(parts[0]) else { return nil }
        self.base = base
        let full = base.bytes.count * 8
        guard parts.count == 2 else {
            length = full
            return
        }
        guard let length = Int(parts[1]), (0...full).contains(length) else { return nil }
        self.length = length
    }

    package func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == base.bytes.count else { return false }
        for (index, pair) in zip(address.bytes, base.bytes).enumerated() {
            let bits = min(8, max(0, length - index * 8))
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> bits)
            if pair.0 & mask != pair.1 & mask { return false }
        }
        return true
    }
}
