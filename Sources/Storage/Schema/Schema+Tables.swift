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
        .auditTrail, .changeNumbers, .changes, .circles, .connections, .counters, .devices, .eventSources,
        .eventStagings, .eventVersions, .feedAccesses, .feedAttention, .feedClientDays, .feedClients,
        .formerConnections, .importUsage, .imports, .leases, .members, .officeDays, .officeProfiles, .officeVisits,
        .operatorSessions, .passwords, .patients, .personalCalendars, .personalEvents, .phoneCarriers,
        .phoneFormerEvents, .phoneMarks, .plannedCalendars, .plannedEvents, .revisionsDue, .scheduleItems,
        .secondFactors, .servers, .serviceKeys, .sessions, .settings, .signInFailures, .signInHomes, .signInLinks,
        .subscriptions, .syncChannels, .syncConflicts, .syncDays, .syncJournal, .syncLeases, .syncLinks,
        .syncOperations, .syncPositions, .syncRuns, .syncWishes, .users, .webhooks, .circleUsage,
        .connectionAuthorizations, .connectionCredentials, .feeds, .importChanges, .importItems, .importSources,
        .occurrences, .recoveryCodes, .webhookDeliveries, .writtenCircles, .feedTokens,
    ]
}

extension SchemaTable {
    static let auditTrail = SchemaTable(
        "audit_trail", key: "number", "number at actor action subject circle_id detail previous_hash hash")
    static let changeNumbers = SchemaTable("change_numbers", key: "circle_id", "circle_id last_number")
    static let changes = SchemaTable(
        "changes", key: "sequence",
        "sequence circle_id number at type collection item_id part user_id change")
    static let circles = SchemaTable(
        "circles", key: "id",
        "id name time_zone version changed_at events_epoch events_floor created_at updated_at deleted_at")
    static let connections = SchemaTable(
        "connections", key: "id",
        """
        id circle_id user_id provider label account_id account_name calendar_id calendar_name \
        calendar_time_zone state state_at config last_sync_at last_sync_status last_sync_error failures \
        next_sync_at missing_since_at ending ending_at created_at updated_at
        """)
    static let counters = SchemaTable("counters", key: "name", "name last_number")
    static let devices = SchemaTable(
        "devices", key: "id",
        "id hash user_id device_id name platform created_at registered_at last_used_at problem problem_at")
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
    static let imports = SchemaTable(
        "imports", key: "id",
        """
        id circle_id state stage problem imported_by report outline source item_base created_at committed_at \
        undone_at
        """)
    static let leases = SchemaTable("leases", key: "name", "name holder epoch ends_at note")
    static let members = SchemaTable(
        "members", key: "circle_id user_id",
        "circle_id user_id display_name role created_at updated_at left_at")
    static let officeDays = SchemaTable(
        "office_days", key: "user_id day",
        "user_id day word decision status event_state event_target updated_at")
    static let officeProfiles = SchemaTable(
        "office_profiles", key: "user_id",
        """
        user_id settings seed counts_from nights_through next_night_at enabled_at first_enabled_at problem \
        last_sync_at last_sync_status writes errors created_at updated_at
        """)
    static let officeVisits = SchemaTable(
        "office_visits", key: "user_id id", "user_id id starts_at ends_at created_at updated_at")
    static let operatorSessions = SchemaTable(
        "operator_sessions", key: "id", "id hash created_at last_used_at expires_at")
    static let passwords = SchemaTable("passwords", key: "user_id", "user_id hash created_at changed_at")
    static let patients = SchemaTable(
        "patients", key: "circle_id id", "circle_id id display_name created_at updated_at removed_at")
    static let personalCalendars = SchemaTable("personal_calendars", key: "user_id", "user_id last_at events bytes")
    static let personalEvents = SchemaTable(
        "personal_events", key: "user_id id",
        """
        user_id id uid sequence title date start_time end_time end_date time_zone description location \
        recurrence first_day last_day provider external_id external_instance_id instance_key \
        external_calendar_id sync_state last_synced_at source_device created_at updated_at changed_at \
        deleted_at connection_id circle_id collection item_id generation carrier turn sent_at earlier
        """)
    static let phoneCarriers = SchemaTable(
        "phone_carriers", key: "user_id source", "user_id source carrier turn seen_at delivered_at shown")
    static let phoneFormerEvents = SchemaTable(
        "phone_former_events", key: "user_id external_id instance_key",
        "user_id external_id instance_key source event_id")
    static let phoneMarks = SchemaTable("phone_marks", key: "mark", "mark circle_id user_id connection_id ended_at")
    static let plannedCalendars = SchemaTable("planned_calendars", key: "user_id", "user_id events bytes")
    static let plannedEvents = SchemaTable(
        "planned_events", key: "user_id source external_id starts_at",
        """
        user_id source external_id starts_at ends_at start_offset end_offset is_all_day title calendar_name \
        uid sequence created_at updated_at
        """)
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
    static let secondFactors = SchemaTable(
        "second_factors", key: "user_id", "user_id sealed created_at confirmed_at last_step")
    static let servers = SchemaTable(
        "servers", key: "journal",
        "journal token name program shown folded recorded started_at seen_at stopped_at")
    static let serviceKeys = SchemaTable(
        "service_keys", key: "id", "id name hash hint scopes created_at last_used_at revoked_at")
    static let sessions = SchemaTable(
        "sessions", key: "id", "id hash user_id client created_at last_used_at expires_at")
    static let settings = SchemaTable("settings", key: "name", "name value")
    static let signInFailures = SchemaTable("sign_in_failures", key: "name", "name count last_at until_at")
    static let signInHomes = SchemaTable("sign_in_homes", key: "user_id network", "user_id network used_at")
    static let signInLinks = SchemaTable(
        "sign_in_links", key: "id", "id hash user_id leads_to created_at expires_at used_at")
    static let subscriptions = SchemaTable(
        "subscriptions", key: "id",
        """
        id circle_id sealed_url url_digest url_hint host label created_by refresh_minutes state etag \
        last_modified validators_of next_at failures empty_answers last_fetched_at last_changed_at \
        last_problem created updated deleted created_at updated_at
        """)
    static let syncChannels = SchemaTable(
        "sync_channels", key: "id",
        "id connection_id secret_hash expires_at renew_at last_heard_at content")
    static let syncConflicts = SchemaTable(
        "sync_conflicts", key: "connection_id id", "connection_id id number state at resolved_by content bytes")
    static let syncDays = SchemaTable("sync_days", key: "day provider", "day provider runs successes writes errors")
    static let syncJournal = SchemaTable(
        "sync_journal", key: "connection_id number",
        "connection_id number id run_id at direction change content bytes")
    static let syncLeases = SchemaTable("sync_leases", key: "connection_id", "connection_id holder expires_at")
    static let syncLinks = SchemaTable(
        "sync_links", key: "connection_id collection item_id occurrence",
        "connection_id collection item_id occurrence state external_id last_synced_at since_at content")
    static let syncOperations = SchemaTable("sync_operations", key: "connection_id key", "connection_id key content")
    static let syncPositions = SchemaTable("sync_positions", key: "connection_id", "connection_id content")
    static let syncRuns = SchemaTable(
        "sync_runs", key: "id", "id connection_id number state started_at approved_at content")
    static let syncWishes = SchemaTable(
        "sync_wishes", key: "connection_id", "connection_id kind run_id undone_run_id due_at")
    static let users = SchemaTable("users", key: "id", "id time_zone language reads_phone created_at updated_at")
    static let webhooks = SchemaTable(
        "webhooks", key: "id",
        """
        id sealed_url circles types state disabled_reason sealed_secret secret_hint sealed_former \
        former_ends_at position last_ordinal created_at updated_at failing_since last_delivered_at
        """)
    static let circleUsage = SchemaTable("circle_usage", key: "circle_id", "circle_id items bytes")
    static let connectionAuthorizations = SchemaTable(
        "connection_authorizations", key: "state_hash",
        "state_hash connection_id user_id session_id sealed_verifier sealed_code return_to expires_at")
    static let connectionCredentials = SchemaTable(
        "connection_credentials", key: "connection_id", "connection_id sealed account version updated_at")
    static let feeds = SchemaTable(
        "feeds", key: "id",
        """
        id number circle_id user_id label config sequence_offset shown_changed_at config_changed_at shows_own \
        own_version own_changed_at token_hint sealed_token created_at updated_at expires_at revoked_at \
        last_revealed_at
        """)
    static let importChanges = SchemaTable(
        "import_changes", key: "import_id position",
        """
        import_id position source uid recurrence_id content_before digest_after file_sequence_before \
        file_modified_before imported_by_before shown_uid_before
        """)
    static let importItems = SchemaTable("import_items", key: "import_id block", "import_id block items")
    static let importSources = SchemaTable("import_sources", key: "import_id block part", "import_id block part source")
    static let occurrences = SchemaTable(
        "occurrences", key: "circle_id collection item_id original_start",
        "circle_id collection item_id original_start starts_at ends_at content created_at updated_at")
    static let webhookDeliveries = SchemaTable(
        "webhook_deliveries", key: "id",
        """
        id webhook_id ordinal circle_id first_number last_number state attempts next_at created_at \
        failing_since last_attempt_at last_status last_problem finished_at
        """)
    static let writtenCircles = SchemaTable("written_circles", key: "number circle", "number circle")
    static let feedTokens = SchemaTable(
        "feed_tokens", key: "hash",
        "hash feed_id created_at ends_at replaced_at notice_uid notice_sequence noticed_at")
}
