// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A file with a person's office days that only its owner reads, replaced as a whole.
///
/// A file that exists and cannot be read is not forgotten: events would be written a second time.
public actor FilePhoneOfficeMemory: PhoneOfficeMemory {
    /// The most bytes that are read: more than a century of days; a longer file is not one of ours.
    private static let longest = 64 << 20

    private let file: PrivateFile<PhoneOfficeState>

    public init(_ file: URL) { self.file = PrivateFile(file, longest: Self.longest) }

    public func load() throws -> PhoneOfficeState? { try file.read() }
    public func save(_ state: PhoneOfficeState) throws { try file.write(state) }

    /// Forgets everything; what is in the calendar stays.
    public func clear() throws { try file.remove() }
}
