// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import KalendsCore
import Storage

extension Components {
    static func syncRecords(_ kinds: ItemKinds) -> [(String, Schema)] {
        [
            ("Authorization", ConnectionAccountRoutes.authorization.schema),
            ("AccountInput", Connections.AccountDraft.schema(kinds)),
            ("AuthorizationCode", ConnectionAccountRoutes.authorizationCode.schema),
            ("CalDAVAccount", CalDAVAccount.view.schema),
            ("RemoteCalendar", RemoteCalendar.view.schema),
            ("CalendarChoice", Connections.CalendarChoice.body.schema),
            ("SyncRun", Connections.Listed<SyncRunRow, RunRecord>.view.schema),
            ("Mapping", CalendarSync.Link.view.schema),
            ("Conflict", Connections.Listed<SyncConflictRow, ConflictRecord>.view.schema),
            ("JournalEntry", Connections.Listed<SyncJournalRow, JournalEntry>.view.schema),
            ("SyncedEvent", Entry.view.schema),
        ]
    }
}
