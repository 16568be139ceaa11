// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KalendsCore

/// Settings whose flags help lists together.
protocol SettingGroup: Sendable {
    static var settings: [Setting] { get }
}

enum ServerSettingGroup: SettingGroup {
    /// All but those that `SettingsOptions` has for every command.
    static var settings: [Setting] { Setting.server.filter { ![.database, .files, .servers].contains($0) } }
}

enum OpenIDSettingGroup: SettingGroup {
    static var settings: [Setting] { Setting.openID }
}

enum ConnectionSettingGroup: SettingGroup {
    static var settings: [Setting] { Setting.connections }
}

enum BrandSettingGroup: SettingGroup {
    static var settings: [Setting] { Setting.brand }
}

enum QuotaSettingGroup: SettingGroup {
    static var settings: [Setting] { Quotas.settings.map(\.setting) }
}

enum RetentionSettingGroup: SettingGroup {
    static var settings: [Setting] { Retention.settings.map(\.setting) }
}

/// The flags of a group's settings, which follow from the settings; one that has no flag is left out.
///
/// The library asks a command for its flags by its mirror and its keys, which are written here instead of a property
/// for each flag.
struct SettingFlags<Group: SettingGroup>: ParsableArguments, CustomReflectable {
    /// The values that were given, by the setting's name.
    private(set) var given: [String: String] = [:]

    private static var settings: [Setting] { Group.settings.filter(\.hasFlag) }

    init() {}

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Name.self)
        for setting in Self.settings {
            let key = Name(stringValue: setting.name)
            given[setting.name] =
                try setting.kind == .bool
                ? values.decode(Flag<Bool?>.self, forKey: key).wrappedValue.map { $0 ? "true" : "false" }
                : values.decode(Option<String?>.self, forKey: key).wrappedValue
        }
    }

    var customMirror: Mirror {
        let flags = Self.settings.map { setting -> Mirror.Child in
            let (name, help) = (setting.option, setting.help)
            let flag: Any =
                setting.kind == .bool
                ? Flag<Bool?>(name: name, inversion: .prefixedNo, help: help) : Option<String?>(name: name, help: help)
            return ("_\(setting.name)", flag)
        }
        return Mirror(self, children: flags)
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
