// SPDX-License-Identifier: Apache-2.0

/// A table of the current schema, with its columns by name.
package struct SchemaTable: Hashable, Sendable {
    package let name: String
    /// The columns of the primary key, in which rows are ordered.
    package let key: [String]
    package let columns: [String]
    /// The columns as a statement names them.
    fileprivate let list: String

    init(_ name: String, key: String, _ columns: String) {
        self.name = name
        self.key = key.split(separator: " ").map(String.init)
        self.columns = columns.split(separator: " ").map(String.init)
        list = self.columns.joined(separator: ", ")
    }
}

// A statement names every column: while the schema gets a column, those of servers that do not know it remain valid.
extension String.StringInterpolation {
    /// Appends `SELECT … FROM` a table, with all its columns.
    mutating func appendInterpolation(select table: SchemaTable) {
        appendLiteral("SELECT \(table.list) FROM \(table.name)")
    }

    /// Appends all columns of a table that a statement calls `alias`.
    mutating func appendInterpolation(columns table: SchemaTable, of alias: String) {
        appendLiteral(table.columns.map { "\(alias).\($0)" }.joined(separator: ", "))
    }
}

extension Schema {
    /// Every table that stores the program's data, each after those that it refers to; only the list of migrations is
    /// left out.
    package static let tables: [SchemaTable] = [
        AppPassword.schema, AuditEntry.schema, .auditWaiting, .changeNumbers, CircleChange.schema, Circle.schema,
        CollectionProperty.schema, Connection.schema,
        .counters,
        Device.schema, Erasure.schema, .eventSources, .eventStagings, .eventVersions, .feedAccesses,
        .feedAttention,
        .feedClientDays, .feedClients, .formerConnections, .importUsage, ImportRecord.schema, KeptAnswer.schema,
        .leases, Member.schema,
        OfficeDayRecord.schema, OfficeProfile.schema, OfficeVisit.schema, OperatorSession.schema, .ownCalendarNumbers,
        OwnCalendar.schema, Password.schema,
        Patient.schema, .personalCalendars, PersonalEvent.schema, PersonalPart.schema, PhoneCarrier.schema,
        .phoneFormerEvents, .phoneMarks, .plannedCalendars, PlannedEvent.schema, JoinedAccount.schema,
        ResourceName.schema, .revisionsDue,
        .scheduleItems, SecondFactor.schema, ServerRecord.schema,
        ServiceKey.schema, Session.schema, .settings, SignInFailures.schema, .signInHomes, SignInLink.schema,
        Subscription.schema, SyncChannelRow.schema, SyncConflictRow.schema, .syncDays, SyncJournalRow.schema,
        .syncLeases, SyncLinkRow.schema, .syncOperations, .syncPositions, .syncRequests, SyncRunRow.schema,
        PendingSync.schema,
        User.schema, Webhook.schema, .circleUsage, ConnectionAuthorization.schema, ConnectionCredential.schema,
        Feed.schema, PasswordHandout.schema, PushRegistration.schema, .importChanges, .importItems, .importSources,
        ChangedOccurrence.schema,
        KeptContent.schema, .ownRemovals, OwnResource.schema,
        .recoveryCodes, WebhookDelivery.schema, .writtenCircles, .feedTokens,
    ]
}

extension SchemaTable {
    static let auditWaiting = SchemaTable(
        "audit_waiting", key: "written_in place", "written_in place at actor action subject circle_id detail")
    static let changeNumbers = SchemaTable("change_numbers", key: "circle_id", "circle_id last_number")
    static let counters = SchemaTable("counters", key: "name", "name last_number")
    static let eventSources = SchemaTable(
        "event_sources", key: "circle_id source", "circle_id source events sequence_floor")
    static let eventStagings = SchemaTable("event_stagings", key: "circle_id", "circle_id epoch")
    static let eventVersions = SchemaTable(
        "event_versions", key: "circle_id uid recurrence_id source from_epoch",
        """
        circle_id uid recurrence_id source from_epoch until_epoch visible_to shown_uid sequence starts_at \
        ends_at fingerprint content file_sequence file_modified_at imported_by created_at updated_at
        """)
    static let feedAccesses = SchemaTable(
        "feed_accesses", key: "sequence",
        "sequence previous feed number accessed_at client status network")
    static let feedAttention = SchemaTable(
        "feed_attention", key: "feed kind client", "feed kind client noted_at networks cleared_at")
    static let feedClientDays = SchemaTable("feed_client_days", key: "day feed client", "day feed client access_count")
    static let feedClients = SchemaTable(
        "feed_clients", key: "feed client",
        "feed client access_count last_seen_at last_sequence first_day networks networks_before seen_version")
    static let formerConnections = SchemaTable(
        "former_connections", key: "circle_id user_id connection_id", "circle_id user_id connection_id")
    static let importUsage = SchemaTable("import_usage", key: "circle_id day", "circle_id day files bytes")
    static let leases = SchemaTable("leases", key: "name", "name holder epoch ends_at note")
    static let ownCalendarNumbers = SchemaTable("own_calendar_numbers", key: "user_id", "user_id last_number")
    static let ownRemovals = SchemaTable("own_removals", key: "calendar_id name", "calendar_id name number removed_at")
    static let personalCalendars = SchemaTable("personal_calendars", key: "user_id", "user_id last_at events bytes")
    static let phoneFormerEvents = SchemaTable(
        "phone_former_events", key: "user_id external_id instance_key",
        "user_id external_id instance_key source event_id")
    static let phoneMarks = SchemaTable("phone_marks", key: "mark", "mark circle_id user_id connection_id ended_at")
    static let plannedCalendars = SchemaTable("planned_calendars", key: "user_id", "user_id events bytes")
    static let recoveryCodes = SchemaTable("recovery_codes", key: "user_id hash", "user_id hash")
    static let revisionsDue = SchemaTable(
        "revisions_due", key: "circle_id number",
        "circle_id number reason subject after_collection after_id")
    static let scheduleItems = SchemaTable(
        "schedule_items", key: "circle_id collection id",
        """
        circle_id collection id uid sequence patient_id owner_id time_zone is_all_day starts_at ends_at \
        content created_at updated_at deleted_at changed_in shown_in shown_as
        """)
    static let settings = SchemaTable("settings", key: "name", "name value")
    static let signInHomes = SchemaTable("sign_in_homes", key: "user_id network", "user_id network used_at")
    static let syncDays = SchemaTable("sync_days", key: "day provider", "day provider runs successes writes errors")
    static let syncLeases = SchemaTable("sync_leases", key: "connection_id", "connection_id holder expires_at")
    static let syncOperations = SchemaTable("sync_operations", key: "connection_id key", "connection_id key content")
    static let syncPositions = SchemaTable("sync_positions", key: "connection_id", "connection_id content")
    static let syncRequests = SchemaTable(
        "sync_requests", key: "day provider connection_id",
        "day provider connection_id requests successes looks look_requests")
    static let circleUsage = SchemaTable(
        "circle_usage", key: "circle_id", "circle_id items bytes kept_bytes kept_after")
    static let importChanges = SchemaTable(
        "import_changes", key: "import_id position",
        """
        import_id position source uid recurrence_id content_before digest_after file_sequence_before \
        file_modified_before imported_by_before shown_uid_before
        """)
    static let importItems = SchemaTable("import_items", key: "import_id block", "import_id block items")
    static let importSources = SchemaTable("import_sources", key: "import_id block part", "import_id block part source")
    static let writtenCircles = SchemaTable(
        "written_circles", key: "written_in circle", "written_in circle")
    static let feedTokens = SchemaTable(
        "feed_tokens", key: "hash",
        "hash feed_id password_id created_at ends_at replaced_at notice_uid notice_sequence noticed_at")
}
