// SPDX-License-Identifier: Apache-2.0

/// Labels of international names in their ASCII form for the DNS (RFC 3492, RFC 5890).
package enum Punycode {
    /// Returns `xn--…` for a label with non-ASCII letters, and an ASCII label unchanged; nil when it is too long for a
    /// label.
    package static func label(_ text: String) -> String? {
        let scalars = text.unicodeScalars.map { Int($0.value) }
        if scalars.allSatisfy({ $0 < 128 }) { return text }
        guard scalars.count <= 63 else { return nil }
        var output = text.unicodeScalars.filter { $0.value < 128 }.map { UInt8($0.value) }
        let basic = output.count
        var handled = basic
        if basic > 0 { output.append(45) }
        var (code, delta, bias) = (128, 0, 72)
        while handled < scalars.count {
            guard let next = scalars.filter({ $0 >= code }).min() else { return nil }
            delta += (next - code) * (handled + 1)
            code = next
            for scalar in scalars {
                if scalar < code { delta += 1 }
                guard scalar == code else { continue }
                append(delta, bias, to: &output)
                bias = adapted(delta, handled + 1, isFirst: handled == basic)
                (delta, handled) = (0, handled + 1)
            }
            (delta, code) = (delta + 1, code + 1)
        }
        return "xn--" + String(decoding: output, as: UTF8.self)
    }

    private static func append(_ delta: Int, _ bias: Int, to output: inout [UInt8]) {
        var (rest, position) = (delta, 36)
        while true {
            let threshold = min(26, max(1, position - bias))
            guard rest >= threshold else { break }
            output.append(digit(threshold + (rest - threshold) % (36 - threshold)))
            rest = (rest - threshold) / (36 - threshold)
            position += 36
        }
        output.append(digit(rest))
    }

    private static func digit(_ value: Int) -> UInt8 { UInt8(value < 26 ? 97 + value : 22 + value) }

    private static func adapted(_ delta: Int, _ count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var bias = 0
        while delta > 455 {
            delta /= 35
            bias += 36
        }
        return bias + 36 * delta / (delta + 38)
    }
}
