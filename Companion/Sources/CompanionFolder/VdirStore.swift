// SPDX-License-Identifier: Apache-2.0

@_exported public import Base  // Text is compared by its bytes in all of this module.
public import Foundation
public import KalendsCompanion

/// A folder of calendars, each a folder of .ics files with one event each, as vdirsyncer and khal keep it (vdir).
public actor VdirStore: CalendarStore {
    let root: URL
    let zones: Zones
    /// Seconds since 1970.
    let clock: @Sendable () -> Int
    /// The cached content of each file, by path; valid while the file's version stays the same.
    var known: [ByteString: (version: VdirFile.Version, reading: VdirEvent.Reading)] = [:]
    var unsaved: [Unsaved] = []
    private var nextTicket = 1

    /// A write that waits for its commit.
    enum Unsaved {
        case save(SaveTicket, EventDraft)
        case remove(EventKey)
    }

    /// The maximum number of files that are read from one calendar.
    static let mostFiles = 100_000

    /// - Parameter root: the folder that contains one folder for each calendar.
    public init(
        root: URL, zones: Zones, clock: @escaping @Sendable () -> Int = { Int(Date().timeIntervalSince1970) }
    ) {
        self.root = root
        self.zones = zones
        self.clock = clock
    }

    // MARK: Permission

    /// Returns the permission. A folder that cannot be read or written counts as denied. A folder that does not exist
    /// does not: a disk or a network that is away for a while may come back.
    public func authorization() -> CalendarAuthorization {
        let manager = FileManager.default
        guard Self.isFolder(root.path) else { return .fullAccess }
        guard manager.isReadableFile(atPath: root.path), manager.isExecutableFile(atPath: root.path) else {
            return .denied
        }
        return .fullAccess
    }

    /// Returns the permission; there is nobody to ask.
    public func requestAccess() -> CalendarAuthorization { authorization() }

    func allowed() throws(StoreFailure) {
        guard authorization() == .fullAccess else { throw .notAuthorized }
        guard Self.isFolder(root.path) else { throw .calendarGone(root.lastPathComponent) }
    }

    // MARK: Calendars

    public func calendars() throws(StoreFailure) -> [StoreCalendar] {
        try allowed()
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: root.path) else {
            throw .temporary("The folder of calendars cannot be listed.")
        }
        return names.sorted().filter { !$0.hasPrefix(".") && isFolder($0) }.map { name in
            StoreCalendar(
                id: name, title: line("displayname", of: name) ?? name, color: line("color", of: name),
                canWrite: FileManager.default.isWritableFile(atPath: folder(name).path))
        }
    }

    public func makeCalendar(titled title: String) throws(StoreFailure) -> StoreCalendar {
        try allowed()
        // The calendar's name becomes the folder's name, as far as every system can handle it.
        let plain = String(
            title.unicodeScalars.map { scalar in
                scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
                    ? Character(scalar) : "-"
            }.prefix(60))
        let base = plain.allSatisfy { $0.is("-") } ? "calendar" : plain.lowercased()
        var (name, number) = (base, 1)
        while FileManager.default.fileExists(atPath: folder(name).path) {
            number += 1
            name = "\(base)-\(number)"
        }
        do {
            try FileManager.default.createDirectory(at: folder(name), withIntermediateDirectories: false)
            try Data(title.utf8).write(to: folder(name).appending(path: "displayname"))
        } catch { throw .readOnly }
        return StoreCalendar(id: name, title: title)
    }

    func folder(_ id: String) -> URL { root.appending(path: id) }

    /// Whether an id names a calendar of this store: a folder directly below the root.
    func isFolder(_ id: String) -> Bool {
        guard !id.isEmpty, !id.hasPrefix("."), !id.utf8.contains(UInt8(ascii: "/")) else { return false }
        return Self.isFolder(folder(id).path)
    }

    private static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        // The pointer is valid for the duration of the call.
        return unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// Returns the first line of a file next to the events.
    private func line(_ file: String, of id: String) -> String? {
        guard let handle = try? FileHandle(forReadingFrom: folder(id).appending(path: file)),
            let data = try? handle.read(upToCount: 1_000)
        else { return nil }
        let text = String(fromOutside: data).split(whereSeparator: \.isNewline).first.map(String.init)
        return text?.isEmpty == false ? text : nil
    }

    func ticket() -> SaveTicket {
        defer { nextTicket += 1 }
        return SaveTicket(nextTicket)
    }

    // MARK: Changes

    /// Looks every two seconds whether a file changed, since systems report different changes, and none of them reports
    /// those on a network file system.
    public func changeNotices() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        // A read after this call may miss only changes that are reported.
        let first = fingerprint()
        let looking = Task { [weak self] in
            var last = first
            while !Task.isCancelled {
                do { try await Task.sleep(for: .seconds(2)) } catch { break }
                guard let self else { break }
                let now = await self.fingerprint()
                if now != last { continuation.yield() }
                last = now
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in looking.cancel() }
        return stream
    }

    private func fingerprint() -> Int {
        var hasher = Hasher()
        for calendar in (try? calendars()) ?? [] {
            hasher.combine(calendar)
            for name in (try? names(in: calendar.id)) ?? [] {
                hasher.combine(name)
                hasher.combine(VdirFile(path: path(calendar.id, name)).version)
            }
        }
        return hasher.finalize()
    }
}
