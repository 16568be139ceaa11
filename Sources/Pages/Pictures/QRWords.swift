// SPDX-License-Identifier: Apache-2.0

/// The code words of a QR code: data, followed by Reed-Solomon correction over GF(256), in blocks.
enum QRWords {
    /// Correction words in a block, by version.
    private static let correction = [
        10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28, 28, 28, 28, 28,
        28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    ]
    private static let blocks = [
        1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31,
        33, 35, 37, 38, 40, 43, 45, 47, 49,
    ]

    /// The number of bits in the modules that carry words.
    static func rawBits(_ version: Int) -> Int {
        var bits = (16 * version + 128) * version + 64
        if version >= 2 {
            let alignmentPositions = version / 7 + 2
            bits -= (25 * alignmentPositions - 10) * alignmentPositions - 55
            if version >= 7 { bits -= 36 }
        }
        return bits
    }

    static func dataWords(_ version: Int) -> Int {
        rawBits(version) / 8 - correction[version - 1] * blocks[version - 1]
    }

    /// Data and correction words in the order in which they are drawn.
    static func interleaved(_ bytes: [UInt8], version: Int) -> [UInt8] {
        let data = padded(bytes, version: version)
        let count = blocks[version - 1]
        let length = correction[version - 1]
        let all = rawBits(version) / 8
        let short = all / count - length
        let longBlocks = all % count
        let divisor = divisor(length)
        var parts: [(data: ArraySlice<UInt8>, correction: [UInt8])] = []
        var position = 0
        for block in 0..<count {
            let size = short + (block >= count - longBlocks ? 1 : 0)
            let part = data[position..<position + size]
            parts.append((part, remainder(part, divisor)))
            position += size
        }
        var words: [UInt8] = []
        for index in 0...short {
            for part in parts where index < part.data.count { words.append(part.data[part.data.startIndex + index]) }
        }
        for index in 0..<length {
            for part in parts { words.append(part.correction[index]) }
        }
        return words
    }

    /// The mode, the length, the bytes, the end, and alternating padding words up to the capacity.
    private static func padded(_ bytes: [UInt8], version: Int) -> [UInt8] {
        var bits: [Bool] = []
        func append(_ value: Int, _ length: Int) {
            for index in (0..<length).reversed() { bits.append(value >> index & 1 == 1) }
        }
        append(4, 4)
        append(bytes.count, version < 10 ? 8 : 16)
        for byte in bytes { append(Int(byte), 8) }
        let capacity = dataWords(version) * 8
        append(0, min(4, capacity - bits.count))
        append(0, (8 - bits.count % 8) % 8)
        var fill = 0xEC
        while bits.count < capacity {
            append(fill, 8)
            fill ^= 0xEC ^ 0x11
        }
        return stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(0) { $0 << 1 | ($1 ? 1 : 0) }
        }
    }

    private static func divisor(_ degree: Int) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: degree)
        result[degree - 1] = 1
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in 0..<degree {
                result[index] = product(result[index], root)
                if index + 1 < degree { result[index] ^= result[index + 1] }
            }
            root = product(root, 2)
        }
        return result
    }

    private static func remainder(_ data: ArraySlice<UInt8>, _ divisor: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: divisor.count)
        for byte in data {
            let factor = byte ^ result.removeFirst()
            result.append(0)
            for index in divisor.indices { result[index] ^= product(divisor[index], factor) }
        }
        return result
    }

    /// The product in GF(256) modulo x⁸ + x⁴ + x³ + x² + 1.
    private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var result = 0
        for index in (0..<8).reversed() {
            result = (result << 1) ^ ((result >> 7) * 0x11D)
            result ^= (Int(right) >> index & 1) * Int(left)
        }
        return UInt8(truncatingIfNeeded: result)
    }
}
