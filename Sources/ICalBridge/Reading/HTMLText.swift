// SPDX-License-Identifier: Apache-2.0

/// The text of a description that was written as HTML; every calendar app but Google's shows such a description with
/// its tags.
package enum HTMLText {
    /// The text without its markup; nil when there is no markup.
    ///
    /// Line breaks, paragraphs and list items become lines, and the address of a link comes after its words.
    package static func plain(_ text: String) -> String? {
        guard text.utf8.contains(60), isHTML(text) else { return nil }
        var scanner = Scanner(text)
        return scanner.text()
    }

    /// Whether the text contains a tag that only markup has: `a<b` is not HTML, `<br>` is.
    private static func isHTML(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        var patience = Self.patience
        for index in bytes.indices where bytes[index] == 60 && patience > 0 {
            guard let tag = Tag(bytes, at: index) else {
                patience -= 1
                continue
            }
            if tag.isClosing || tag.name == "br" || tag.name == "html" || tag.name == "!doctype" { return true }
        }
        return false
    }

    /// The most `<` without a tag that are checked: each costs up to the length of a tag.
    private static let patience = 1000

    /// A tag such as `<a href="…">`, with one of the names that descriptions use.
    private struct Tag {
        var name: String
        var isClosing: Bool
        /// The index after the `>`.
        var end: Int
        var link: String?

        /// The longest tag that is read, in bytes.
        private static let limit = 4096

        private static let names: Set<ByteString> = [
            "!doctype", "a", "b", "blockquote", "body", "br", "center", "code", "div", "em", "font", "h1", "h2", "h3",
            "h4", "h5", "h6", "head", "hr", "html", "html-blob", "i", "img", "li", "meta", "ol", "p", "pre", "s",
            "small", "span", "strong", "style", "sub", "sup", "table", "tbody", "td", "th", "title", "tr", "u", "ul",
        ]

        init?(_ bytes: [UInt8], at start: Int) {
            var index = start + 1
            isClosing = index < bytes.count && bytes[index] == 47
            if isClosing { index += 1 }
            let first = index
            while index < bytes.count, index - first < 12,
                bytes[index] | 0x20 >= 97 && bytes[index] | 0x20 <= 122 || bytes[index] == 33 || bytes[index] == 45
                    || (48...57).contains(bytes[index])
            {
                index += 1
            }
            name = String(fromOutside: bytes[first..<index]).lowercased()
            guard Self.names.contains(name), index < bytes.count,
                bytes[index] <= 32 || bytes[index] == 62 || bytes[index] == 47
            else { return nil }
            // An attribute may hold a `>` in quotes.
            var quote: UInt8 = 0
            let attributes = index
            while index < bytes.count, index - start < Self.limit, quote != 0 || bytes[index] != 62 {
                if quote == 0, bytes[index] == 34 || bytes[index] == 39 {
                    quote = bytes[index]
                } else if bytes[index] == quote {
                    quote = 0
                }
                index += 1
            }
            guard index < bytes.count, index - start < Self.limit else { return nil }
            end = index + 1
            if name == "a", !isClosing { link = Self.address(bytes[attributes..<index]) }
        }

        private static func address(_ attributes: ArraySlice<UInt8>) -> String? {
            let text = String(fromOutside: attributes)
            guard let start = text.range(of: "href=") else { return nil }
            let rest = text[start.upperBound...]
            guard let quote = rest.first, quote.is("\"") || quote.is("'") else {
                return String(rest.prefix { !$0.isWhitespace })
            }
            return String(rest.dropFirst().prefix { $0 != quote })
        }
    }

    private struct Scanner {
        private let bytes: [UInt8]
        private var out: [UInt8] = []
        private var links: [(start: Int, address: String)] = []
        /// The name of the open element whose content is not shown, or nil.
        private var hidden: String?
        private var patience = HTMLText.patience

        init(_ text: String) { bytes = Array(text.utf8) }

        mutating func text() -> String {
            var index = 0
            while index < bytes.count {
                if bytes[index] == 60, patience > 0 {
                    if let tag = Tag(bytes, at: index) {
                        take(tag)
                        index = tag.end
                        continue
                    }
                    patience -= 1
                }
                if bytes[index] == 38, let (scalar, end) = entity(at: index) {
                    if hidden == nil { out += String(scalar).utf8 }
                    index = end
                } else {
                    if hidden == nil { out.append(bytes[index]) }
                    index += 1
                }
            }
            return Self.tidied(String(fromOutside: out))
        }

        private mutating func take(_ tag: Tag) {
            if let hidden {
                if tag.isClosing, tag.name == hidden { self.hidden = nil }
                return
            }
            switch tag.name {
            case "br", "hr": out.append(10)
            case "p", "div", "ul", "ol", "tr", "table", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "pre":
                if !out.isEmpty, out.last != 10 { out.append(10) }
                if tag.name == "p", tag.isClosing { out.append(10) }
            case "li":
                if !tag.isClosing { out += (out.isEmpty || out.last == 10 ? "- " : "\n- ").utf8 }
            case "td", "th": if !tag.isClosing, let last = out.last, last > 32 { out.append(32) }
            case "style", "head", "title": if !tag.isClosing { hidden = tag.name }
            case "a":
                if !tag.isClosing {
                    links.append((out.count, tag.link ?? ""))
                } else if let link = links.popLast(), !link.address.isEmpty,
                    String(fromOutside: out[min(link.start, out.count)...]).trimmedOfSpace != link.address
                {
                    out += " (\(link.address))".utf8
                }
            default: break
            }
        }

        /// Reads `&amp;`, `&#8364;` or `&#x20AC;`; returns the character and the index after it.
        private func entity(at start: Int) -> (Unicode.Scalar, Int)? {
            guard let end = bytes[start...].prefix(12).firstIndex(of: 59) else { return nil }
            let name = String(fromOutside: bytes[start + 1..<end])
            if name.hasPrefix("#") {
                let digits = name.dropFirst()
                let isHex = digits.first?.is("x") == true || digits.first?.is("X") == true
                guard let number = UInt32(isHex ? digits.dropFirst() : digits, radix: isHex ? 16 : 10), number >= 32,
                    let scalar = Unicode.Scalar(number)
                else { return nil }
                return (scalar, end + 1)
            }
            let known: [ByteString: Unicode.Scalar] = [
                "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "copy": "\u{A9}",
                "ndash": "\u{2013}", "mdash": "\u{2014}", "hellip": "\u{2026}", "bull": "\u{2022}", "euro": "\u{20AC}",
                "lsquo": "\u{2018}", "rsquo": "\u{2019}", "ldquo": "\u{201C}", "rdquo": "\u{201D}", "auml": "\u{E4}",
                "ouml": "\u{F6}", "uuml": "\u{FC}", "Auml": "\u{C4}", "Ouml": "\u{D6}", "Uuml": "\u{DC}",
                "szlig": "\u{DF}", "eacute": "\u{E9}", "egrave": "\u{E8}", "agrave": "\u{E0}", "ccedil": "\u{E7}",
            ]
            return known[name].map { ($0, end + 1) }
        }

        /// The text without spaces at the ends of lines, and with at most one empty line in a row.
        private static func tidied(_ text: String) -> String {
            var lines: [Substring] = []
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                let end = line.lastIndex { !$0.isWhitespace }.map { line.index(after: $0) } ?? line.startIndex
                let trimmed = line[..<end]
                if trimmed.isEmpty, lines.last?.isEmpty ?? true { continue }
                lines.append(trimmed)
            }
            while lines.last?.isEmpty == true { lines.removeLast() }
            return lines.joined(separator: "\n")
        }
    }
}

extension String {
    fileprivate var trimmedOfSpace: Substring {
        let start = firstIndex { !$0.isWhitespace } ?? endIndex
        let end = lastIndex { !$0.isWhitespace }.map(index(after:)) ?? start
        return self[start..<max(start, end)]
    }

    /// The range of another text, found without Foundation.
    fileprivate func range(of other: String) -> Range<Index>? {
        var index = startIndex
        while index < endIndex {
            if self[index...].hasPrefix(other) { return index..<self.index(index, offsetBy: other.count) }
            index = self.index(after: index)
        }
        return nil
    }
}
