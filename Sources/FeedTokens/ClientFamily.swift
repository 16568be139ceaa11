// SPDX-License-Identifier: Apache-2.0

/// The family of programs that a User-Agent belongs to; the full text is never stored.
public enum ClientFamily: String, Hashable, Sendable, CaseIterable {
    case appleIOS = "Apple Calendar (iOS)"
    case appleMac = "Apple Calendar (macOS)"
    case google = "Google Calendar"
    case outlook = "Outlook"
    case exchange = "Outlook.com or Exchange"
    case thunderbird = "Thunderbird"
    case evolution = "Evolution or GNOME Calendar"
    case nextcloud = "Nextcloud"
    case homeAssistant = "Home Assistant"
    case icsx5 = "ICSx5"
    case vdirsyncer = "vdirsyncer or khal"
    case commandLine = "Command line"
    case browser = "Browser"
    case davx5 = "DAVx5"
    case kde = "KOrganizer or KDE"
    case calDavSynchronizer = "CalDav Synchronizer"
    case other = "Other"

    /// The marks by which a User-Agent is recognized; the first match wins. A leading space means a word start (not
    /// CriOS).
    private static let words: [(word: String, family: ClientFamily)] = [
        ("google-calendar-importer", .google),
        ("icsx5", .icsx5),
        ("davx5", .davx5),
        ("kde dav", .kde),
        ("akonadi", .kde),
        ("korganizer", .kde),
        ("caldavsynchronizer", .calDavSynchronizer),
        ("vdirsyncer", .vdirsyncer),
        ("khal", .vdirsyncer),
        ("homeassistant", .homeAssistant),
        ("nextcloud", .nextcloud),
        ("thunderbird", .thunderbird),
        ("evolution", .evolution),
        ("gnome-calendar", .evolution),
        ("microsoft.exchange", .exchange),
        ("microsoft office", .outlook),
        ("microsoft outlook", .outlook),
        ("calendaragent", .appleMac),
        (" macos/", .appleMac),
        (" mac+os+x/", .appleMac),
        (" ios/", .appleIOS),
        ("dataaccessd", .appleIOS),
        ("curl/", .commandLine),
        ("wget/", .commandLine),
        ("python-", .commandLine),
        ("java/", .commandLine),
        ("mozilla/", .browser),
    ]

    /// The number that the family is stored as; a number is never reused for another family.
    public var code: Int {
        switch self {
        case .other: 0
        case .appleIOS: 1
        case .appleMac: 2
        case .google: 3
        case .outlook: 4
        case .exchange: 5
        case .thunderbird: 6
        case .evolution: 7
        case .nextcloud: 8
        case .homeAssistant: 9
        case .icsx5: 10
        case .vdirsyncer: 11
        case .commandLine: 12
        case .browser: 13
        case .davx5: 14
        case .kde: 15
        case .calDavSynchronizer: 16
        }
    }

    /// The family stored under a number; `other` for a number that a newer version assigned.
    public init(code: Int) { self = Self.allCases.first { $0.code == code } ?? .other }

    public init(userAgent: String?) {
        // This works on bytes, because it runs at every poll and a search by characters costs more than all the rest of
        // it.
        let text = [32] + (userAgent ?? "").utf8.prefix(512).map { $0 >= 65 && $0 <= 90 ? $0 | 0x20 : $0 }
        self = Self.words.first { Self.contains($0.word, in: text) }?.family ?? .other
    }

    private static func contains(_ word: String, in text: [UInt8]) -> Bool {
        let word = word.utf8
        guard let first = word.first, word.count <= text.count else { return false }
        return (0...text.count - word.count).contains { index in
            text[index] == first && text[index...].starts(with: word)
        }
    }

    /// Whether it comes back by itself; a browser comes when a person opens it.
    public var subscribes: Bool { self != .browser }

    /// Whether its maker's servers fetch feeds for it, from networks that change from day to day.
    var comesFromItsMaker: Bool { self == .google || self == .exchange }

    /// Whether it is a Microsoft program, whose subscriptions fail silently when the answer is compressed.
    public var isMicrosoft: Bool { self == .outlook || self == .exchange }
}
