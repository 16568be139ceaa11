// SPDX-License-Identifier: Apache-2.0

/// Edits of one value on both sides of a calendar that is kept in step, and which of them counts.
///
/// The same rows are asked of each way by which an edit comes: the merge, a provider's run, a phone, the companion.
public struct EditCase: Sendable, CustomStringConvertible {
    public let description: String
    /// When Kalends and the calendar were edited, in seconds after both last agreed; nil for a side without an edit.
    public let here: Int?
    public let there: Int?
    public let keepsCalendar: Bool
    /// Whether a person has to confirm the decision.
    public let isOpen: Bool

    private init(_ description: String, here: Int?, there: Int?, keepsCalendar: Bool, isOpen: Bool = false) {
        self.description = description
        (self.here, self.there) = (here, there)
        (self.keepsCalendar, self.isOpen) = (keepsCalendar, isOpen)
    }

    private static let year = 360 * 86_400

    /// Moves of an appointment, or of one occurrence of it.
    public static let moves = [
        EditCase("moved here", here: 60, there: nil, keepsCalendar: false),
        EditCase("moved there", here: nil, there: 60, keepsCalendar: true),
        EditCase("moved here more than five minutes later", here: 361, there: 60, keepsCalendar: false, isOpen: true),
        EditCase("moved here five minutes later", here: 360, there: 60, keepsCalendar: true, isOpen: true),
        EditCase("moved there within five minutes", here: 60, there: 70, keepsCalendar: true, isOpen: true),
        EditCase("moved there later", here: 60, there: 600, keepsCalendar: true, isOpen: true),
        EditCase("moved here a year later", here: year, there: 60, keepsCalendar: false, isOpen: true),
        EditCase("moved there a year later", here: 60, there: year, keepsCalendar: true, isOpen: true),
        EditCase("moved here, and unchanged there for a year", here: year, there: nil, keepsCalendar: false),
    ]

    /// Edits of one of the person's own events, which has no times of grace and leaves nothing open.
    public static let own = [
        EditCase("edited here", here: 60, there: nil, keepsCalendar: false),
        EditCase("edited there", here: nil, there: 60, keepsCalendar: true),
        EditCase("edited here a second later", here: 61, there: 60, keepsCalendar: false),
        EditCase("edited at the same moment", here: 60, there: 60, keepsCalendar: true),
        EditCase("edited there a second later", here: 60, there: 61, keepsCalendar: true),
        EditCase("edited here a year later", here: year, there: 60, keepsCalendar: false),
        EditCase("edited there a year later", here: 60, there: year, keepsCalendar: true),
    ]
}
