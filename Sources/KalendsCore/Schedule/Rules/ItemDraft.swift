// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
import Storage

/// An item from a request: its content if every field is valid, and the faults of those that are not.
///
/// The people whom the item names are checked later and reported together with these faults.
package struct ItemDraft: Sendable {
    let kind: any ItemContent.Type
    let content: (any ItemContent)?
    package private(set) var faults: FaultList
    /// The values that were computed from a repeating appointment.
    private(set) var followed: FollowedSeries?
    /// The item's row, if it was made before, for the zone that the circle had then.
    private var made: (row: ScheduleItem, zone: TimeZoneReference)?
    let patientID: String?
    let ownerID: String?

    /// Reads an item of a kind as it was sent.
    package init(_ kind: any ItemContent.Type, _ id: String, in circle: String, from value: JSONValue) {
        self.kind = kind
        var fields = FieldReader(value)
        for (name, own) in [("id", id), ("circleId", circle)] {
            if let given = fields.value(name), given.string != own {
                fields.fault(name, code: .contradiction, "This differs from the path.")
            }
        }
        content = kind.init(&fields)
        faults = fields.faults
        patientID = fields.given("patientId")?.string
        ownerID = fields.given("ownerId")?.string
    }

    /// Takes an item from values, by the rules for requests, so that it cannot hold what no request may set.
    ///
    /// - Parameter zone: the circle's zone.
    package init(_ content: any ItemContent, in zone: TimeZoneReference) {
        self.init(type(of: content), "", in: "", from: .object(content.members(zone)))
    }

    /// The content of a repeating appointment; nil for other items.
    private var series: AppointmentContent? {
        (content as? AppointmentContent).flatMap { $0.recurrence == nil ? nil : $0 }
    }

    /// Whether a rule has to be followed before it is stored.
    var repeats: Bool { series != nil }

    /// Makes the item's row; that of a repeating appointment takes work for which there is a budget elsewhere.
    mutating func makeRow(_ id: String, in circle: String, zone: TimeZoneReference) {
        guard !repeats, let row = try? content?.item(id, in: circle, zone: zone) else { return }
        made = (row, zone)
    }

    /// Returns the item's row; nil if the draft has no content. `zone` is the circle's.
    func row(_ id: String, in circle: String, zone: TimeZoneReference) throws -> ScheduleItem? {
        if let made, made.zone == zone { return made.row }
        return try content?.item(id, in: circle, zone: zone, followed: followed)
    }

    /// Follows the rule of a repeating appointment outside any transaction; a rule that takes too much work is a fault.
    ///
    /// - Parameters:
    ///   - zone: the circle's zone.
    ///   - changed: the original starts of occurrences that were changed one by one.
    ///   - budget: the budget of the whole request.
    mutating func follow(in zone: TimeZoneReference, changed: [String], budget: inout RecurrenceBudget) {
        guard let series else { return }
        let own = series.zone(or: zone)
        followed = series.followed(in: own, among: changed.compactMap { Instant(basic: $0) }, budget: &budget)
        if followed == nil { faults.append(.unfollowed(at: "/recurrence/rrule", budget)) }
    }
}

extension Fault {
    /// The fault of a rule that could not be followed: it takes more work than allowed, or the call's budget is used
    /// up.
    static func unfollowed(at pointer: String, _ budget: RecurrenceBudget) -> Fault {
        if budget.isSpent {
            return Fault(
                pointer: pointer, code: .callTooCostly,
                message:
                    "The rules in this request take more work than one request may; send this item again by itself.")
        }
        return Fault(
            pointer: pointer, code: .ruleTooCostly,
            message: "Following this rule takes more work than a rule may; say it more simply, or end it sooner.")
    }
}
