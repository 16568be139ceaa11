// SPDX-License-Identifier: Apache-2.0

/// A settings file that lists and describes every setting: those that are set are set in it, all others are comments.
package enum SettingsTemplate {
    private static let introduction = """
        # Settings of kalends serve and of the commands that work on its database. A line is name = value, without
        # quotation marks; a line that begins with # is a comment. A flag of the command line overrides a variable,
        # and a variable overrides this file. A name that is not a setting is refused at the start.
        """

    package static func lines(_ values: SettingValues) -> [String] {
        var lines = introduction.pieces(separatedBy: "\n").map(String.init)
        for group in Setting.groups {
            lines += ["", "## \(group.title)"]
            for setting in group.settings { lines += ["", "# \(about(setting))", line(setting, values)] }
        }
        return lines
    }

    private static func about(_ setting: Setting) -> String {
        switch setting.kind {
        case .number, .bool, .choice: setting.about
        case .text, .list: "\(setting.about) Default: \(setting.standard)."
        }
    }

    /// Returns the line of a setting; a secret is not copied into it.
    private static func line(_ setting: Setting, _ values: SettingValues) -> String {
        if !setting.isSecret, values.source(of: setting) != nil, let given = values.shown(setting) {
            return "\(setting.name) = \(given)"
        }
        switch setting.kind {
        case .number, .bool, .choice: return "#\(setting.name) = \(setting.standard)"
        case .text, .list: return "#\(setting.name) ="
        }
    }
}
