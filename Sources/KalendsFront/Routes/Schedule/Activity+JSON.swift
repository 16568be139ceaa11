// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore
import Storage

extension Activity.Entry {
    /// An entry with the circle's zone, whose times need it.
    private struct Shown: Viewed {
        let entry: Activity.Entry
        let before: JSONValue
        let after: JSONValue

        init(_ entry: Activity.Entry, _ zone: TimeZoneReference) {
            let fields = entry.fields(zone)
            self.entry = entry
            before = fields.before.map(JSONValue.object) ?? .null
            after = fields.after.map(JSONValue.object) ?? .null
        }

        private static let fields = Schema(["type": "object"]).orNull

        static let view = View<Shown>([
            .count("number", \.entry.change.number).described("The number that the change has in `changes`, too."),
            .instant("at", \.entry.change.at),
            .text("by", \.entry.change.author).described(
                "`user:<id>`, `key:<id>` or `operator`; null for the server itself."),
            .choice("via", \.entry.change.way).described(
                "Where it came from: `caldav`, `google`, `outlook` and `phone` for calendars there."),
            .choice("type", \.entry.change.subject),
            .init("change", .one(of: ["created", "updated", "deleted"])) { .string($0.entry.change.kind.rawValue) },
            .text("collection", \.entry.change.collection), .text("id", \.entry.change.id),
            .text("occurrence", \.entry.change.part).described("The original start of a single occurrence."),
            .init(
                "before",
                fields.described(
                    "The fields that changed, as they were before; all fields after a deletion. Null after a creation, "
                        + "and when the earlier fields are not kept.")
            ) { $0.before },
            .init("after", fields.described("The same fields afterwards; null after a deletion.")) { $0.after },
            .instant("undoableUntil", \.entry.undoableUntil).described(
                "Until when it can be undone, if nobody changes the same item first; null if it cannot."),
            .count("undoes", \.entry.change.undoes).described("The change that this one undid."),
            .count("undoneBy", \.entry.undoneBy).described("The change that undid this one."),
            .count("partOf", \.entry.partOf).described(
                "The change of the series that includes this one; both are undone together."),
            .text("reach") { shown in
                guard shown.entry.change.subject != .event, let collection = shown.entry.change.collection,
                    let id = shown.entry.change.id
                else { return nil }
                let circle = pathComponent(shown.entry.change.circleID)
                return "/v1/circles/\(circle)/\(pathComponent(collection))/\(pathComponent(id))/reach"
            }.described("The address that says which calendars have the item's latest change; null without an item."),
            .text("undoImport") { shown in
                let change = shown.entry.change
                guard change.subject == .fileImport, change.kind == .created, let id = change.id else { return nil }
                return "/v1/imports/\(pathComponent(id))/undo"
            }.described("The address that undoes an import; null for anything else."),
        ])
    }

    static let schema = Shown.view.schema.described("One change, with the fields that it changed.")

    /// - Parameter zone: the circle's.
    func json(_ zone: TimeZoneReference) -> JSONValue { Shown(self, zone).json }
}
