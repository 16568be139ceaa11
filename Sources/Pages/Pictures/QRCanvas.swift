// SPDX-License-Identifier: Apache-2.0

/// The modules of a QR code while it is drawn.
struct QRCanvas {
    let version: Int
    let size: Int
    private var dark: [Bool]
    /// Marks the modules of fixed patterns, which no mask changes.
    private var fixed: [Bool]

    init(version: Int) {
        self.version = version
        size = version * 4 + 17
        dark = Array(repeating: false, count: size * size)
        fixed = dark
    }

    private mutating func set(_ column: Int, _ row: Int, _ isDark: Bool) {
        dark[row * size + column] = isDark
        fixed[row * size + column] = true
    }

    mutating func drawPatterns() {
        for index in 0..<size {
            set(6, index, index % 2 == 0)
            set(index, 6, index % 2 == 0)
        }
        for (column, row) in [(3, 3), (size - 4, 3), (3, size - 4)] { drawFinder(column, row) }
        let alignmentPositions = alignments
        for (first, column) in alignmentPositions.enumerated() {
            for (second, row) in alignmentPositions.enumerated() {
                let last = alignmentPositions.count - 1
                if (first, second) == (0, 0) || (first, second) == (0, last) || (first, second) == (last, 0) {
                    continue
                }
                for y in -2...2 {
                    for x in -2...2 { set(column + x, row + y, max(abs(x), abs(y)) != 1) }
                }
            }
        }
        drawFormat(mask: 0)
        drawVersion()
    }

    private mutating func drawFinder(_ column: Int, _ row: Int) {
        for y in -4...4 {
            for x in -4...4 where (0..<size).contains(column + x) && (0..<size).contains(row + y) {
                let distance = max(abs(x), abs(y))
                set(column + x, row + y, distance != 2 && distance != 4)
            }
        }
    }

    private var alignments: [Int] {
        guard version > 1 else { return [] }
        let count = version / 7 + 2
        let step = (version * 8 + count * 3 + 5) / (count * 4 - 4) * 2
        var positions = [6]
        for index in (0..<count - 1).reversed() { positions.append(size - 7 - index * step) }
        return positions
    }

    /// Level M is 00 in two bits, followed by the mask's three bits.
    private mutating func drawFormat(mask: Int) {
        var remainder = mask
        for _ in 0..<10 { remainder = (remainder << 1) ^ ((remainder >> 9) * 0x537) }
        let bits = (mask << 10 | remainder) ^ 0x5412
        func bit(_ index: Int) -> Bool { bits >> index & 1 == 1 }
        for index in 0...5 { set(8, index, bit(index)) }
        set(8, 7, bit(6))
        set(8, 8, bit(7))
        set(7, 8, bit(8))
        for index in 9..<15 { set(14 - index, 8, bit(index)) }
        for index in 0..<8 { set(size - 1 - index, 8, bit(index)) }
        for index in 8..<15 { set(8, size - 15 + index, bit(index)) }
        set(8, size - 8, true)
    }

    private mutating func drawVersion() {
        guard version >= 7 else { return }
        var remainder = version
        for _ in 0..<12 { remainder = (remainder << 1) ^ ((remainder >> 11) * 0x1F25) }
        let bits = version << 12 | remainder
        for index in 0..<18 {
            let isDark = bits >> index & 1 == 1
            let (far, near) = (size - 11 + index % 3, index / 3)
            set(far, near, isDark)
            set(near, far, isDark)
        }
    }

    /// Draws the words from the bottom right, up and down, two columns at a time.
    mutating func draw(_ words: [UInt8]) {
        var index = 0
        var right = size - 1
        while right >= 1 {
            if right == 6 { right = 5 }
            for vertical in 0..<size {
                for offset in 0..<2 {
                    let column = right - offset
                    let isUp = (right + 1) & 2 == 0
                    let row = isUp ? size - 1 - vertical : vertical
                    if !fixed[row * size + column], index < words.count * 8 {
                        dark[row * size + column] = words[index >> 3] >> (7 - index & 7) & 1 == 1
                        index += 1
                    }
                }
            }
            right -= 2
        }
    }

    /// The modules under the mask with the lowest penalty.
    func masked() -> [Bool] {
        var best: (modules: [Bool], penalty: Int) = ([], .max)
        for mask in 0..<8 {
            var canvas = self
            canvas.apply(mask)
            canvas.drawFormat(mask: mask)
            let penalty = canvas.penalty
            if penalty < best.penalty { best = (canvas.dark, penalty) }
        }
        return best.modules
    }

    private mutating func apply(_ mask: Int) {
        for row in 0..<size {
            for column in 0..<size where !fixed[row * size + column] {
                let turns =
                    switch mask {
                    case 0: (column + row) % 2 == 0
                    case 1: row % 2 == 0
                    case 2: column % 3 == 0
                    case 3: (column + row) % 3 == 0
                    case 4: (column / 3 + row / 2) % 2 == 0
                    case 5: column * row % 2 + column * row % 3 == 0
                    case 6: (column * row % 2 + column * row % 3) % 2 == 0
                    default: ((column + row) % 2 + column * row % 3) % 2 == 0
                    }
                if turns { dark[row * size + column].toggle() }
            }
        }
    }

    /// The penalty for long runs, squares and an uneven share of dark modules; every mask is readable, so this only
    /// selects the best one.
    private var penalty: Int {
        var penalty = 0
        func run(_ at: (Int) -> Bool) {
            var length = 1
            for index in 1...size {
                if index < size, at(index) == at(index - 1) {
                    length += 1
                } else {
                    if length >= 5 { penalty += length - 2 }
                    length = 1
                }
            }
        }
        for line in 0..<size {
            run { dark[line * size + $0] }
            run { dark[$0 * size + line] }
        }
        for row in 1..<size {
            for column in 1..<size {
                let own = dark[row * size + column]
                if dark[row * size + column - 1] == own, dark[(row - 1) * size + column] == own,
                    dark[(row - 1) * size + column - 1] == own
                {
                    penalty += 3
                }
            }
        }
        let count = dark.count { $0 }
        penalty += abs(count * 20 - dark.count * 10) / dark.count * 10
        return penalty
    }
}
