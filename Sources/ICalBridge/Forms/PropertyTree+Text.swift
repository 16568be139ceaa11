// SPDX-License-Identifier: Apache-2.0

extension PropertyTree {
    /// One step through a text, in the text's order.
    enum Step {
        /// A top-level component begins: its name and its properties, which come before its components.
        case begin(PropertyTree)
        /// A subcomponent, with everything in it.
        case component(PropertyTree)
        case end(name: String)
    }

    /// Visits the components of a well-formed iCalendar text, as the strict writer makes it, with one in memory at a time.
    ///
    /// Unclosed components are left out; a file from elsewhere has to go through the calendar reader first.
    ///
    /// - Parameter parts: the text, in parts that each end at the end of a line.
    static func walk(inText parts: [[UInt8]], _ visit: (Step) -> Void) {
        var open: [PropertyTree] = []
        var hasBegun = false
        // At the first component, or at the end, all properties of the calendar have been read.
        func begin() {
            guard !hasBegun else { return }
            hasBegun = true
            visit(.begin(open[0]))
        }
        func take(_ property: Property) {
            switch property.name {
            case "BEGIN":
                if !open.isEmpty { begin() }
                open.append(PropertyTree(name: property.trimmed.uppercased()))
            case "END":
                if open.count == 1 { begin() }
                guard let component = open.popLast() else { return }
                if open.isEmpty {
                    hasBegun = false
                    visit(.end(name: component.name))
                } else if open.count == 1 {
                    visit(.component(component))
                } else if open.count < depthLimit {
                    open[open.count - 1].components.append(component)
                }
            default:
                if !open.isEmpty { open[open.count - 1].properties.append(TypedProperty(property.contentLine)) }
            }
        }
        for part in parts {
            var log = ProblemLog(limit: 0)
            let text = SourceText(part, log: &log)
            for line in text.lines {
                if let property = Property(text.bytes, line) { take(property) }
            }
        }
    }

    /// Writes the component as iCalendar lines.
    func write(to writer: inout ContentLineWriter) {
        writer.line("BEGIN", name)
        for property in properties where !property.values.isEmpty { writer.line(property.contentLine) }
        for component in components { component.write(to: &writer) }
        writer.line("END", name)
    }

    /// The calendars as one iCalendar text in UTF-8.
    static func text(of trees: [PropertyTree]) -> [UInt8] {
        var writer = ContentLineWriter(keepsHiddenCharacters: true)
        for tree in trees { tree.write(to: &writer) }
        return writer.bytes
    }
}
