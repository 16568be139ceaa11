// SPDX-License-Identifier: Apache-2.0

/// A table of the current schema, with its columns by name.
package struct SchemaTable: Hashable, Sendable {
    package let name: String
    /// The columns of the primary key, in which rows are ordered.
    package let key: [String]
    package let columns: [String]

    init(_ name: String, key: String, _ columns: String) {
        self.name = name
        self.key = key.split(separator: " ").map(String.init)
        self.columns = columns.split(separator: " ").map(String.init)
    }
}

extension Schema {
    /// Every table that stores the program's data, each after those that it refers to; only the list of migrations is
    /// left out.
    package static let tables: [SchemaTable] = [
        SchemaTable("audit_trail", key: "number", "number at actor action subject circle_id detail previous_hash hash"),
        SchemaTable("change_numbers", key: "circle_id", "circle_id last_number"),
        SchemaTable(
            "changes", key: "sequence",
            "sequence circle_id number at type collection item_id part user_id change"),
        SchemaTable(
            "circles", key: "id",
            "id name time_zone version changed_at created_at updated_at events_epoch events_floor deleted_at"),
        SchemaTable(
            "connections", key: "id",
            """
            id circle_id user_id provider label account_id account_name calendar_id calendar_name \
            calendar_time_zone state state_at config last_sync_at last_sync_status last_sync_error failures \
            next_sync_at missing_since_at ending ending_at created_at updated_at
            """),
        SchemaTable("counters", key: "name", "name last_number"),
        SchemaTable(
            "devices", key: "id",
            "id hash user_id device_id name platform created_at registered_at last_used_at"),
        SchemaTable("event_sources", key: "circle_id source", "circle_id source events sequence_floor"),
        SchemaTable("event_stagings", key: "circle_id", "circle_id epoch"),
        SchemaTable(
            "event_versions", key: "circle_id uid recurrence_id source from_epoch",
            """
            circle_id uid recurrence_id source from_epoch until_epoch visible_to shown_uid sequence starts_at \
            ends_at fingerprint content file_sequence file_modified_at imported_by created_at updated_at
            """),
        SchemaTable(
            "feed_accesses", key: "sequence",
            "sequence previous feed number accessed_at client status network"),
        SchemaTable("feed_attention", key: "feed kind client", "feed kind client noted_at networks cleared_at"),
        SchemaTable("feed_client_days", key: "day feed client", "day feed client access_count"),
        SchemaTable(
            "feed_clients", key: "feed client",
            "feed client access_count last_seen_at last_sequence first_day networks networks_before seen_version"),
        SchemaTable("former_connections", key: "circle_id user_id connection_id", "circle_id user_id connection_id"),
        SchemaTable("import_usage", key: "circle_id day", "circle_id day files bytes"),
        SchemaTable(
            "imports", key: "id",
            """
            id circle_id state imported_by report source created_at committed_at undone_at stage problem outline \
            item_base
            """),
        SchemaTable("leases", key: "name", "name holder epoch ends_at note"),
        SchemaTable(
            "members", key: "circle_id user_id",
            "circle_id user_id display_name role created_at updated_at left_at"),
        SchemaTable(
            "office_days", key: "user_id day",
            "user_id day word decision status event_state event_target updated_at"),
        SchemaTable(
            "office_profiles", key: "user_id",
            """
            user_id settings seed counts_from nights_through next_night_at enabled_at first_enabled_at problem \
            last_sync_at last_sync_status writes errors created_at updated_at
            """),
        SchemaTable("office_visits", key: "user_id id", "user_id id starts_at ends_at created_at updated_at"),
        SchemaTable("operator_sessions", key: "id", "id hash created_at last_used_at expires_at"),
        SchemaTable("passwords", key: "user_id", "user_id hash created_at changed_at"),
        SchemaTable("patients", key: "circle_id id", "circle_id id display_name created_at updated_at removed_at"),
        SchemaTable("personal_calendars", key: "user_id", "user_id last_at events bytes"),
        SchemaTable(
            "personal_events", key: "user_id id",
            """
            user_id id uid sequence title date start_time end_time end_date time_zone description location \
            recurrence first_day last_day provider external_id external_instance_id instance_key \
            external_calendar_id sync_state last_synced_at source_device created_at updated_at changed_at \
            deleted_at connection_id circle_id collection item_id generation carrier turn sent_at earlier
            """),
        SchemaTable("phone_carriers", key: "user_id source", "user_id source carrier turn seen_at delivered_at shown"),
        SchemaTable(
            "phone_former_events", key: "user_id external_id instance_key",
            "user_id external_id instance_key source event_id"),
        SchemaTable("phone_marks", key: "mark", "mark circle_id user_id connection_id ended_at"),
        SchemaTable("planned_calendars", key: "user_id", "user_id events bytes"),
        SchemaTable(
            "planned_events", key: "user_id source external_id starts_at",
            """
            user_id source external_id starts_at ends_at start_offset end_offset is_all_day title calendar_name \
            uid sequence created_at updated_at
            """),
        SchemaTable(
            "revisions_due", key: "circle_id number",
            "circle_id number reason subject after_collection after_id"),
        SchemaTable(
            "schedule_items", key: "circle_id collection id",
            """
            circle_id collection id uid sequence patient_id owner_id time_zone is_all_day starts_at ends_at \
            content created_at updated_at deleted_at changed_in shown_in shown_as
            """),
        SchemaTable(
            "servers", key: "journal",
            "journal token name program shown folded recorded started_at seen_at stopped_at"),
        SchemaTable("service_keys", key: "id", "id name hash hint created_at last_used_at revoked_at scopes"),
        SchemaTable("sessions", key: "id", "id hash user_id client created_at last_used_at expires_at"),
        SchemaTable("settings", key: "name", "name value"),
        SchemaTable("sign_in_failures", key: "name", "name count last_at until_at"),
        SchemaTable("sign_in_homes", key: "user_id network", "user_id network used_at"),
        SchemaTable("sign_in_links", key: "id", "id hash user_id leads_to created_at expires_at used_at"),
        SchemaTable(
            "subscriptions", key: "id",
            """
            id circle_id sealed_url url_digest url_hint host label created_by refresh_minutes state etag \
            last_modified validators_of next_at failures empty_answers last_fetched_at last_changed_at \
            last_problem created updated deleted created_at updated_at
            """),
        SchemaTable(
            "sync_channels", key: "id",
            "id connection_id secret_hash expires_at renew_at last_heard_at content"),
        SchemaTable("sync_conflicts", key: "connection_id id", "connection_id id number state at resolved_by content"),
        SchemaTable("sync_days", key: "day provider", "day provider runs successes writes errors"),
        SchemaTable(
            "sync_journal", key: "connection_id number",
            "connection_id number id run_id at direction change content"),
        SchemaTable("sync_leases", key: "connection_id", "connection_id holder expires_at"),
        SchemaTable(
            "sync_links", key: "connection_id collection item_id",
            "connection_id collection item_id state external_id last_synced_at since_at content"),
        SchemaTable("sync_operations", key: "connection_id key", "connection_id key content"),
        SchemaTable("sync_positions", key: "connection_id", "connection_id content"),
        SchemaTable("sync_runs", key: "id", "id connection_id number state started_at approved_at content"),
        SchemaTable("sync_wishes", key: "connection_id", "connection_id kind run_id undone_run_id due_at"),
        SchemaTable("unsorted_events", key: "circle_id uid", "circle_id uid"),
        SchemaTable("users", key: "id", "id time_zone created_at updated_at language reads_phone"),
        SchemaTable(
            "webhooks", key: "id",
            """
            id sealed_url circles types state disabled_reason sealed_secret secret_hint sealed_former \
            former_ends_at position created_at updated_at failing_since last_delivered_at last_ordinal
            """),
        SchemaTable("circle_usage", key: "circle_id", "circle_id items bytes"),
        SchemaTable(
            "connection_authorizations", key: "state_hash",
            "state_hash connection_id user_id session_id sealed_verifier return_to expires_at"),
        SchemaTable("connection_credentials", key: "connection_id", "connection_id sealed account version updated_at"),
        SchemaTable(
            "feeds", key: "id",
            """
            id circle_id user_id label config sequence_offset shown_changed_at config_changed_at token_hint \
            sealed_token created_at updated_at expires_at revoked_at last_revealed_at number shows_own \
            own_version own_changed_at
            """),
        SchemaTable(
            "import_changes", key: "import_id position",
            """
            import_id position uid recurrence_id content_before content_after source digest_after \
            file_sequence_before file_modified_before imported_by_before shown_uid_before
            """),
        SchemaTable("import_items", key: "import_id block", "import_id block items source"),
        SchemaTable("import_sources", key: "import_id block part", "import_id block part source"),
        SchemaTable(
            "occurrences", key: "circle_id collection item_id original_start",
            "circle_id collection item_id original_start starts_at ends_at content created_at updated_at"),
        SchemaTable(
            "webhook_deliveries", key: "id",
            """
            id webhook_id ordinal circle_id first_number last_number state attempts next_at created_at \
            failing_since last_attempt_at last_status last_problem finished_at
            """),
        SchemaTable("written_circles", key: "number circle", "number circle"),
        SchemaTable(
            "feed_tokens", key: "hash",
            "hash feed_id created_at ends_at replaced_at notice_uid notice_sequence noticed_at"),
    ]
}
