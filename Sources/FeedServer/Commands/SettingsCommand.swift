// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct SettingsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "List every setting, what it is set to, and by what.",
        discussion: """
            A flag goes before a variable, and a variable before the file of --config. Values of secrets are not shown. \
            Ends with 2 when something is given that is not a setting, or not a valid value.
            """)

    @OptionGroup var server: ServerOptions
    @Flag(help: "One line of JSON a setting.") var json = false

    func run() throws {
        let values = server.values()
        var table = TextTable(["SETTING", "VALUE", "FROM", "VARIABLE", "FLAG"])
        for setting in Setting.all {
            let source = values.source(of: setting)
            let given = source == nil ? nil : setting.isSecret ? "(set)" : values.text(setting)
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
        var checked = values
        _ = try ServerSettings(&checked)
    }
}
