// SPDX-License-Identifier: Apache-2.0

/// The result of discovery for an address, a user name and a password.
public struct CalDAVAccount: Hashable, Sendable, Codable {
    /// The absolute address of the principal.
    public var principal: String
    /// The absolute addresses of the collections that hold the calendars, at least one.
    public var homes: [String]
    /// The server's name for the principal; nil where it gives none.
    public var name: String?
    /// The address that the person entered, in the form in which it was read: hosts below it belong to the account.
    public var entrance: String

    public init(principal: String, homes: [String], name: String? = nil, entrance: String) {
        self.principal = principal
        self.homes = homes
        self.name = name
        self.entrance = entrance
    }
}
