// SPDX-License-Identifier: Apache-2.0

extension PropertyTree {
    /// The components at the top of an iCalendar text that is whole: what the strict writer makes.
    ///
    /// What is not closed is left out; a stranger's file belongs before the calendar reader, not here.
    static func trees(inText bytes: [UInt8]) -> [PropertyTree] {
        var log = ProblemLog(limit: 0)
        let text = SourceText(bytes, log: &log)
        var closed: [PropertyTree] = []
        var open: [PropertyTree] = []
        for line in text.lines {
            guard let property = Property(text.bytes, line) else { continue }
            switch property.name {
            case "BEGIN": open.append(PropertyTree(name: property.trimmed.uppercased()))
            case "END":
                guard let component = open.popLast() else { continue }
                if open.isEmpty {
                    closed.append(component)
                } else if open.count < depthLimit {
                    open[open.count - 1].components.append(component)
                }
            default:
                if !open.isEmpty { open[open.count - 1].properties.append(TypedProperty(property.contentLine)) }
            }
        }
        return closed
    }

    /// The component as iCalendar lines.
    func write(to writer: inout ContentLineWriter) {
        writer.line("BEGIN", name)
        for property in properties where !property.values.isEmpty { writer.line(property.contentLine) }
        for component in components { component.write(to: &writer) }
        writer.line("END", name)
    }

    /// Calendars as one iCalendar text in UTF-8.
    static func text(of trees: [PropertyTree]) -> [UInt8] {
        var writer = ContentLineWriter(keepsHiddenCharacters: true)
        for tree in trees { tree.write(to: &writer) }
        return writer.bytes
    }
}
