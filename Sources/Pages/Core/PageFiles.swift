// SPDX-License-Identifier: Apache-2.0

/// The files of this folder that are part of the program; a test compares the list with the folder.
enum PageFiles {
    static let style = PackageResources.style_css
    static let english = PackageResources.en_words
    static let german = PackageResources.de_words
    static let germanPhrases = PackageResources.de_phrases

    static let scripts: [(String, [UInt8])] = [
        ("choose", PackageResources.choose_js),
        ("copy", PackageResources.copy_js),
        ("dialog", PackageResources.dialog_js),
        ("drop", PackageResources.drop_js),
        ("preview", PackageResources.preview_js),
        ("progress", PackageResources.progress_js),
    ]

    static let templates: [(String, [UInt8])] = [
        ("account", PackageResources.account_mustache),
        ("act", PackageResources.act_mustache),
        ("admin", PackageResources.admin_mustache),
        ("agenda", PackageResources.agenda_mustache),
        ("alert", PackageResources.alert_mustache),
        ("apple", PackageResources.apple_mustache),
        ("arrival", PackageResources.arrival_mustache),
        ("badge", PackageResources.badge_mustache),
        ("bars", PackageResources.bars_mustache),
        ("calendar", PackageResources.calendar_mustache),
        ("cell", PackageResources.cell_mustache),
        ("check", PackageResources.check_mustache),
        ("circles", PackageResources.circles_mustache),
        ("conflicts", PackageResources.conflicts_mustache),
        ("connection", PackageResources.connection_mustache),
        ("connectors", PackageResources.connectors_mustache),
        ("devices", PackageResources.devices_mustache),
        ("dialog", PackageResources.dialog_mustache),
        ("empty-state", PackageResources.empty_state_mustache),
        ("entry-chip", PackageResources.entry_chip_mustache),
        ("error", PackageResources.error_mustache),
        ("facts", PackageResources.facts_mustache),
        ("feed", PackageResources.feed_mustache),
        ("field", PackageResources.field_mustache),
        ("form", PackageResources.form_mustache),
        ("import", PackageResources.import_mustache),
        ("item", PackageResources.item_mustache),
        ("layout", PackageResources.layout_mustache),
        ("link-button", PackageResources.link_button_mustache),
        ("month-day", PackageResources.month_day_mustache),
        ("month", PackageResources.month_mustache),
        ("navigation-entry", PackageResources.navigation_entry_mustache),
        ("office-days", PackageResources.office_days_mustache),
        ("offers", PackageResources.offers_mustache),
        ("parts", PackageResources.parts_mustache),
        ("problems", PackageResources.problems_mustache),
        ("progress", PackageResources.progress_mustache),
        ("second-factor", PackageResources.second_factor_mustache),
        ("sentence", PackageResources.sentence_mustache),
        ("sign-in-link", PackageResources.sign_in_link_mustache),
        ("sign-in", PackageResources.sign_in_mustache),
        ("stepper", PackageResources.stepper_mustache),
        ("subscriptions", PackageResources.subscriptions_mustache),
        ("sync", PackageResources.sync_mustache),
        ("table", PackageResources.table_mustache),
        ("time", PackageResources.time_mustache),
        ("toast", PackageResources.toast_mustache),
    ]
}
