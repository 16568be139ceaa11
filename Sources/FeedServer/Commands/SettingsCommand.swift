// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KalendsCore
import Server

struct SettingsCommand: ParsableCommand, SettingsTaking {
    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "List every setting with its value and where the value comes from.",
        discussion: """
            A flag overrides a variable, a variable overrides a credential of systemd, and that overrides the file of \
            --config. The values of secrets are not shown. The exit status is 2 when a setting is unknown or a value \
            is not valid. To create a file of settings: kalends settings --template > kalends.conf
            """)

    @OptionGroup var options: SettingsOptions
    @OptionGroup var own: SettingFlags<ServerSettingGroup>
    @OptionGroup(title: "Sign-in at a provider") var openID: SettingFlags<OpenIDSettingGroup>
    @OptionGroup(title: "Calendars in step") var connections: SettingFlags<ConnectionSettingGroup>
    @OptionGroup(title: "Pages") var brand: SettingFlags<BrandSettingGroup>
    @OptionGroup(title: "Quotas") var quotas: SettingFlags<QuotaSettingGroup>
    @OptionGroup(title: "What is kept") var retention: SettingFlags<RetentionSettingGroup>
    @Flag(help: "One line of JSON per setting.") var json = false
    @Flag(help: "Print a file for --config: each setting with a description, commented out where it is not set.")
    var template = false

    func run() throws {
        let values = self.values()
        if template {
            for line in SettingsTemplate.lines(values) { Console.line(line) }
            return try check(values)
        }
        var table = TextTable(["SETTING", "VALUE", "FROM", "VARIABLE", "FLAG"])
        for setting in Setting.all {
            let source = values.source(of: setting)
            let given = source == nil ? nil : values.shown(setting)
            if json {
                Console.line(
                    try JSONValue.object([
                        "name": .string(setting.name), "value": JSONValue(given),
                        "from": .string(source?.rawValue ?? "default"), "default": .string(setting.standard),
                        "variable": .string(setting.variable),
                        "flag": JSONValue(setting.hasFlag ? "--\(setting.flag)" : nil), "about": .string(setting.about),
                    ]).text())
            } else {
                table.add([
                    setting.name, given ?? setting.standard, source?.rawValue ?? "default", setting.variable,
                    setting.hasFlag ? "--\(setting.flag)" : "-",
                ])
            }
        }
        if !json { for line in table.lines { Console.line(line) } }
        try check(values)
    }

    private func check(_ values: SettingValues) throws {
        var checked = values
        _ = try ServerSettings(&checked)
    }
}
