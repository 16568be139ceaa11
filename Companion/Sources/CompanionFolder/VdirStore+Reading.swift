// SPDX-License-Identifier: Apache-2.0

import Foundation
import ICalBridge
public import KalendsCompanion

extension VdirStore {
    public func events(in window: TimeRange, calendars: [String]) throws(StoreFailure) -> [StoreEvent] {
        var found: [StoreEvent] = []
        try each(of: calendars) { (calendar, name, event, version) in
            if !event.occurrences(in: window, zones).isEmpty {
                found.append(stored(event, calendar, name, version))
            }
        }
        return found
    }

    public func occurrences(
        in window: TimeRange, calendars: [String]
    ) throws(StoreFailure) -> [StoreOccurrence] {
        let titles: [ByteString: String] = Dictionary(
            uniqueKeysWithValues: try self.calendars().map { ($0.id, $0.title) })
        var found: [StoreOccurrence] = []
        try each(of: calendars) { (calendar, name, event, version) in
            let key = stored(event, calendar, name, version).key
            for occurrence in event.occurrences(in: window, zones) {
                found.append(
                    StoreOccurrence(
                        key: key, title: occurrence.title, range: occurrence.range, isAllDay: occurrence.isAllDay,
                        calendarTitle: titles[calendar] ?? calendar, url: event.master.url))
            }
        }
        return found
    }

    public func events(externalID: String) throws(StoreFailure) -> [StoreEvent] {
        var found: [StoreEvent] = []
        var isHidden = false
        for calendar in try calendars().map(\.id) {
            for name in try names(in: calendar) {
                switch try reading(calendar, name) {
                case (.event(let event), let version)? where event.master.uid == externalID:
                    found.append(stored(event, calendar, name, version))
                case (.unreadable, _)? where try names(externalID, in: path(calendar, name)): isHidden = true
                default: break
                }
            }
        }
        // A file that cannot be read contains the requested event, so the event must not count as deleted.
        if found.isEmpty, isHidden { throw .temporary("A file of the calendars cannot be read.") }
        return found
    }

    public func event(localID: String) throws(StoreFailure) -> StoreEvent? {
        try allowed()
        guard let (calendar, name) = parts(localID) else { return nil }
        switch try reading(calendar, name) {
        case (.event(let event), let version)?: return stored(event, calendar, name, version)
        case (.unreadable, _)?: throw .temporary("A file of the calendars cannot be read.")
        default: return nil
        }
    }

    /// Returns the names of a calendar's files that cannot be read as one event each.
    public func unreadable(in calendar: String) throws(StoreFailure) -> [String] {
        var found: [String] = []
        for name in try names(in: calendar) {
            if case (.unreadable, _)? = try reading(calendar, name) { found.append(name) }
        }
        return found
    }

    /// Visits every event of some calendars; throws unless all of them can be read.
    private func each(
        of calendars: [String],
        _ body: (_ calendar: String, _ name: String, VdirEvent, VdirFile.Version) throws(StoreFailure) -> Void
    ) throws(StoreFailure) {
        try allowed()
        for calendar in calendars {
            for name in try names(in: calendar) {
                guard case (.event(let event), let version)? = try reading(calendar, name) else { continue }
                try body(calendar, name, event, version)
            }
            // A folder that was removed during the read may have looked empty.
            guard isFolder(calendar) else { throw .calendarGone(calendar) }
        }
        try allowed()
    }

    /// Returns the names of a calendar's files.
    func names(in calendar: String) throws(StoreFailure) -> [String] {
        try allowed()
        guard isFolder(calendar) else { throw .calendarGone(calendar) }
        guard let all = try? FileManager.default.contentsOfDirectory(atPath: folder(calendar).path) else {
            throw isFolder(calendar) ? .temporary("A calendar cannot be listed.") : .calendarGone(calendar)
        }
        let names = all.filter { $0.hasSuffix(".ics") && !$0.hasPrefix(".") }
        guard names.count <= Self.mostFiles else { throw .temporary("A calendar has too many files.") }
        return names.sorted()
    }

    /// Returns the current content of a file; nil when the file does not exist.
    func reading(
        _ calendar: String, _ name: String
    ) throws(StoreFailure) -> (VdirEvent.Reading, VdirFile.Version)? {
        let path = path(calendar, name)
        let file = VdirFile(path: path)
        guard let version = file.version else {
            known.removeValue(forKey: path)
            return nil
        }
        if let found = known[path], found.version == version { return (found.reading, version) }
        guard let bytes = try file.read() else { return nil }
        let reading = VdirEvent.read(bytes, zones)
        // A file that changed while it was read is not cached.
        if file.version == version { known[path] = (version, reading) }
        return (reading, version)
    }

    /// Whether the text of a file that is not an event contains a UID.
    private func names(_ externalID: String, in path: String) throws(StoreFailure) -> Bool {
        guard let bytes = try VdirFile(path: path).read(), !externalID.isEmpty else { return false }
        // A long UID continues on the next line (RFC 5545 section 3.1).
        let unfolded = String(fromOutside: bytes).replacing("\r\n ", with: "").replacing("\n ", with: "")
        return unfolded.utf8.firstRange(of: Array(externalID.utf8)) != nil
    }

    func path(_ calendar: String, _ name: String) -> String { "\(folder(calendar).path)/\(name)" }

    /// Returns the calendar and the file name in an identifier; nil for text that is not one of the store's
    /// identifiers.
    func parts(_ localID: String) -> (calendar: String, name: String)? {
        let parts = localID.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, isFolder(parts[0]), parts[1].hasSuffix(".ics"), !parts[1].hasPrefix(".") else {
            return nil
        }
        return (parts[0], parts[1])
    }

    func stored(_ event: VdirEvent, _ calendar: String, _ name: String, _ version: VdirFile.Version) -> StoreEvent {
        StoreEvent(
            key: EventKey(calendarID: calendar, localID: "\(calendar)/\(name)", externalID: event.master.uid),
            unit: event.unit, url: event.master.url, lastModified: version.changedAt, hasAttendees: event.hasAttendees)
    }
}
