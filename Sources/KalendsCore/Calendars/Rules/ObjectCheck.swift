// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// Finds out what the texts are that calendar apps store.
///
/// Swift reads nearly all of them here, within milliseconds. What libical would have to read is read in a process
/// without rights, a new one for each text.
struct ObjectCheck: Sendable {
    let executable: String
    let answers: ForeignAnswers

    /// A text that was found to be a calendar object resource.
    struct Found: Sendable {
        var uid: String
        var component: CalendarComponent
        /// When it may have something, in seconds since 1970; nil if that is not known.
        var span: Range<Int>?
        /// Its events as feeds show them.
        var shown: String
    }

    /// The longest UID in bytes, which an index holds.
    private static let longestUID = 1024

    /// Returns what a text is; throws `CollectionFault` if it is not a calendar object resource.
    func found(in text: [UInt8], for user: String) async throws -> Found {
        var verdict = try await readHere(text, for: user)
        if verdict == nil { verdict = try await readElsewhere(text, for: user) }
        let (encoded, shown) = (verdict?.encoded ?? .init(fault: .data), verdict?.shown ?? [])
        switch encoded.fault {
        case .data: throw CollectionFault.invalidData(encoded.sentence ?? .objectUnreadable)
        case .object: throw CollectionFault.invalidObject(encoded.sentence ?? .objectUnreadable)
        case .component: throw CollectionFault.unsupportedComponent
        case nil: break
        }
        guard let component = CalendarComponent(text: encoded.component) else {
            throw CollectionFault.unsupportedComponent
        }
        guard !encoded.uid.isEmpty, encoded.uid.utf8.count <= Self.longestUID, !encoded.uid.utf8.contains(0) else {
            throw CollectionFault.invalidObject(
                Sentence(.uidTooLong, "Its UID is longer than \(Self.longestUID, .count) bytes."))
        }
        var span: Range<Int>?
        if let from = encoded.from, let to = encoded.to, from < to { span = from..<to }
        return Found(
            uid: encoded.uid, component: component, span: span, shown: String(decoding: shown, as: UTF8.self))
    }

    /// Reads a small text where it is, since to pass it on would take longer.
    private func readHere(_ text: [UInt8], for user: String) async throws -> ObjectVerdict? {
        guard text.count > ForeignAnswers.small else { return ObjectVerdict.readBySwift(text) }
        return try await ForeignAnswers.threads.run(for: ByteString(user)) { ObjectVerdict.readBySwift(text) }
    }

    private func readElsewhere(_ text: [UInt8], for user: String) async throws -> ObjectVerdict {
        let turn: ForeignAnswers.Permit
        do {
            turn = try await answers.turn(for: Sender(user: user, host: nil))
        } catch {
            throw Refusal(.unavailable, code: .busy, detail: "The server is busy with other calendars.", retryAfter: 30)
        }
        let process = ObjectProcess(executable, for: ByteString(user))
        let verdict = try await process.verdict(on: text)
        let isConfined = await process.end()
        _ = consume turn
        guard verdict != nil || isConfined else {
            throw Refusal(.unavailable, detail: "Events cannot be read safely on this machine now.", retryAfter: 60)
        }
        // Who answered has read a stranger's bytes, so the answer is a stranger's, too.
        guard let verdict, (try? verdict.shown.isEmpty || !OwnEvents.events(verdict.shown).isEmpty) == true else {
            throw CollectionFault.invalidData(
                Sentence(
                    .objectBeyondLimits, "The object could not be read within the limits on time and memory."))
        }
        return verdict
    }
}
