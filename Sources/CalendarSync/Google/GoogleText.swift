// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// Notes at Google, which are HTML as soon as anything in them looks like it.
enum GoogleText {
    /// Returns the plain text of a description, with LF line ends and without surrounding blanks.
    static func read(_ description: String) -> String {
        let text = tidied(description)
        return HTMLText.plain(text).map(tidied) ?? text
    }

    /// Returns the description that is read as `notes`: text that would be read as HTML is written as HTML.
    static func written(_ notes: String) -> String {
        guard HTMLText.plain(notes) != nil else { return notes }
        var text = "<span>"
        for scalar in notes.unicodeScalars {
            switch scalar {
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "&": text += "&amp;"
            case "\n": text += "<br>"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "</span>"
    }

    /// Returns what remains of notes after writing and reading them. Doing so again changes nothing.
    static func kept(_ notes: String) -> String {
        var text = tidied(notes)
        // Each round removes some blanks; a text that still changes afterwards is left to the comparison with Google's.
        for _ in 0..<4 {
            let next = read(written(text))
            if next == text { break }
            text = next
        }
        return text
    }

    /// Returns a title or place without surrounding blanks.
    static func line(_ text: String) -> String { tidied(text) }

    private static func tidied(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var isAfterReturn = false
        for byte in text.utf8 {
            if byte == 13 {
                bytes.append(10)
            } else if byte != 10 || !isAfterReturn {
                bytes.append(byte)
            }
            isAfterReturn = byte == 13
        }
        func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 10 || byte == 9 }
        let end = bytes.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? 0
        let start = bytes.firstIndex { !isBlank($0) } ?? end
        return String(fromOutside: bytes[start..<end]).withBoundedMarks
    }
}
