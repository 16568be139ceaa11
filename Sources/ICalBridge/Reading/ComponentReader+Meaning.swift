// SPDX-License-Identifier: Apache-2.0

/// Handling of markup, double escapes and hints in a component's values.
extension ComponentReader {
    /// - Returns: whether a text now has characters that its bytes do not show.
    func mendTexts(of event: inout Event, _ traits: SourceTraits, _ log: inout ProblemLog) -> Bool {
        if traits.mayBeEscapedTwice {
            mendEscapes(of: &event.summary, "SUMMARY", &log)
            mendEscapes(of: &event.location, "LOCATION", &log)
            mendEscapes(of: &event.description, "DESCRIPTION", &log)
        }
        // If there is also an HTML version, DESCRIPTION is plain text, whatever it looks like.
        guard traits.mayBeHTML, let html = event.description,
            !event.otherProperties.contains(where: { $0.name == "X-ALT-DESC" }), let text = HTMLText.plain(html)
        else { return false }
        event.description = text.isEmpty ? nil : text
        // The HTML is kept in addition to the text, as other programs do, so that nothing is lost.
        event.otherProperties.append(
            ContentLine(
                name: "X-ALT-DESC", parameters: [.init(name: "FMTTYPE", values: ["text/html"])],
                value: String(fromOutside: TextValue.encoded(html.utf8))))
        log.add(
            .repaired, "html-description", line: line, text: html, .descriptionHTML,
            "DESCRIPTION is HTML, whose tags most apps show; its text was taken, and the HTML kept as X-ALT-DESC.")
        return true
    }

    /// Corrects a text that was escaped twice: one in which every comma, semicolon and line break is still escaped.
    private func mendEscapes(of text: inout String?, _ name: String, _ log: inout ProblemLog) {
        guard let written = text, ByteSearch.first(92, in: written.utf8Span.span, 0..<written.utf8.count) != nil,
            TextValue.isEscapedTwice(written.utf8)
        else { return }
        var plain = written
        // Repeated until stable, so that the text is read the same after it has been written again.
        while TextValue.isEscapedTwice(plain.utf8) { plain = TextValue.decoded(Array(plain.utf8)) }
        text = plain
        log.add(
            .repaired, "double-escaped", line: line, text: written, .escapedTwice,
            "\(name, .name) was escaped twice; it was read with the second escaping undone.")
    }

    /// Evaluates hints in the title and the year.
    func judge(_ event: inout Event, _ log: inout ProblemLog) {
        if let summary = event.summary, event.status != "CANCELLED",
            summary.utf8.first.map({ $0 | 0x20 == 99 }) == true,
            ["canceled:", "cancelled:"].contains(where: summary.lowercased().hasPrefix)
        {
            // Exchange leaves the status unchanged, and a calendar would show an event that does not take place.
            log.add(
                .warning, "cancelled-by-title", line: line, text: summary, .cancelledByTitle,
                "The title says that it is cancelled but the status does not; it was read as cancelled.")
            event.status = "CANCELLED"
        }
        guard let year = event.start?.civil.date.year, year < 1970 else { return }
        // The zero of some clock; a birthday may be as long ago, but it recurs.
        if year < 1902 || event.recurrence.isEmpty {
            log.add(
                .warning, "suspicious-date", line: line, text: event.start?.civil.description, .yearUnlikely,
                "The event is in the year \(String(year), .year): many programs write such a date where they have none."
            )
        }
    }
}

extension TextValue {
    /// Whether a decoded text has an escaped comma or semicolon, but no unescaped one and no line break.
    fileprivate static func isEscapedTwice(_ text: String.UTF8View) -> Bool {
        var isEscaped = false
        var found = false
        for byte in text {
            if byte == 10 || !isEscaped && (byte == 44 || byte == 59) { return false }
            found = found || isEscaped && (byte == 44 || byte == 59)
            isEscaped = byte == 92 && !isEscaped
        }
        return found
    }
}
