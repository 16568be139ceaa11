// SPDX-License-Identifier: Apache-2.0

/// A calendar app whose behaviour with some files is known.
public enum CalendarClient: String, Hashable, Sendable, Codable, CaseIterable {
    case apple
    case google
    case outlook
    case thunderbird
    case evolution
    case homeAssistant = "home-assistant"

    /// The app's usual name.
    public var title: String {
        switch self {
        case .apple: "Apple Calendar"
        case .google: "Google Calendar"
        case .outlook: "Outlook"
        case .thunderbird: "Thunderbird"
        case .evolution: "Evolution"
        case .homeAssistant: "Home Assistant"
        }
    }
}
