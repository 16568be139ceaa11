// SPDX-License-Identifier: Apache-2.0

import Foundation
import ICalBridge
public import KalendsCompanion

extension VdirStore {
    public func save(_ draft: EventDraft) throws(StoreFailure) -> SaveTicket {
        try allowed()
        if let key = draft.key {
            _ = try present(key)
        } else {
            try writable(draft.calendarID)
        }
        let ticket = ticket()
        unsaved.append(.save(ticket, draft))
        return ticket
    }

    public func remove(_ key: EventKey) throws(StoreFailure) {
        try allowed()
        _ = try present(key)
        unsaved.append(.remove(key))
    }

    /// Writes the files one after another; each file is either written completely or unchanged.
    public func commit() throws(StoreFailure) -> [SaveTicket: Result<StoreEvent, StoreFailure>] {
        let writes = unsaved
        unsaved = []
        var saved: [SaveTicket: Result<StoreEvent, StoreFailure>] = [:]
        for write in writes {
            switch write {
            case .save(let ticket, let draft): saved[ticket] = .success(try written(draft))
            case .remove(let key):
                let (_, file, version) = try present(key)
                guard file.version == version else { throw .changedMeanwhile }
                try file.remove()
                known.removeValue(forKey: file.path)
            }
        }
        return saved
    }

    public func rollback() { unsaved = [] }

    private func written(_ draft: EventDraft) throws(StoreFailure) -> StoreEvent {
        let event: VdirEvent
        let (calendar, name): (String, String)
        let file: VdirFile
        if let key = draft.key, let place = parts(key.localID) {
            let found = try present(key)
            (calendar, name) = place
            file = found.file
            event = try found.event.changed(to: draft, now: clock(), zones)
            // Another program may have written the file since it was read.
            guard file.version == found.version else { throw .changedMeanwhile }
        } else {
            try writable(draft.calendarID)
            let uid = Self.uid(of: draft)
            (calendar, name) = (draft.calendarID, "\(uid).ics")
            file = VdirFile(path: path(calendar, name))
            if case (.event(let there), let version)? = try reading(calendar, name), there.master.uid == uid {
                // An earlier commit already wrote this file, so the event is changed rather than made twice.
                event = try there.changed(to: draft, now: clock(), zones)
                guard file.version == version else { throw .changedMeanwhile }
            } else {
                guard file.version == nil else { throw .temporary("A file of the calendar is in the way.") }
                event = try VdirEvent(draft, uid: uid, now: clock(), zones)
            }
        }
        try file.write(event.text)
        // From now on the event is what a reader of the file sees.
        guard case (.event(let read), let version)? = try reading(calendar, name) else {
            throw .invalid("The event cannot be read back.")
        }
        return stored(read, calendar, name, version)
    }

    /// Returns the UID of a new event; an event of the server always gets the same one, so that it is never made twice.
    private static func uid(of draft: EventDraft) -> String {
        guard let url = draft.url, EventMark(url: url) != nil else { return UUID().uuidString.lowercased() }
        return "kalends-\(Hexadecimal.text(NameDigest.of(url).prefix(16)))"
    }

    /// Returns the current event of a key.
    private func present(
        _ key: EventKey
    ) throws(StoreFailure) -> (event: VdirEvent, file: VdirFile, version: VdirFile.Version) {
        guard let (calendar, name) = parts(key.localID) else { throw .eventGone }
        try writable(calendar)
        switch try reading(calendar, name) {
        case (.event(let event), let version)? where event.master.uid == key.externalID:
            return (event, VdirFile(path: path(calendar, name)), version)
        case (.unreadable, _)?: throw .temporary("A file of the calendars cannot be read.")
        default: throw .eventGone
        }
    }

    private func writable(_ calendar: String) throws(StoreFailure) {
        guard isFolder(calendar) else { throw .calendarGone(calendar) }
        guard FileManager.default.isWritableFile(atPath: folder(calendar).path) else { throw .readOnly }
    }
}
