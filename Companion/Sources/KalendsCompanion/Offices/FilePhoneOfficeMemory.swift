// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A file with a person's office days that only its owner can read, and that is always replaced as a whole.
///
/// A file that exists but cannot be read must not count as empty: events would be written a second time.
public actor FilePhoneOfficeMemory: PhoneOfficeMemory {
    /// The maximum number of bytes that are read, enough for more than a century of days; a longer file was not written
    /// by this program.
    private static let longest = 64 << 20

    private let file: PrivateFile<PhoneOfficeState>

    public init(_ file: URL) { self.file = PrivateFile(file, longest: Self.longest) }

    public func load() throws -> PhoneOfficeState? { try file.read() }
    public func save(_ state: PhoneOfficeState) throws { try file.write(state) }

    /// Deletes the memory; events in the calendar stay.
    public func clear() throws { try file.remove() }
}
