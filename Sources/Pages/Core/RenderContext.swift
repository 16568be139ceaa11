// SPDX-License-Identifier: Apache-2.0

/// The context in which a page is rendered: the frame with its words and times.
public struct RenderContext: Sendable {
    let frame: Frame
    let words: Words
    let times: TimeWords

    init(_ frame: Frame) {
        self.frame = frame
        words = Words.of(frame.language)
        times = TimeWords(words: words, zone: frame.zone, now: frame.now)
    }

    /// One of our paths, after the proxy's prefix.
    func href(_ path: String) -> String { frame.base + path }

    func circlePath(_ rest: String = "") -> String {
        "/app/circles/\((frame.circle?.id ?? "").pathSegment)\(rest)"
    }

    func layout(_ sheet: PageContent) -> Node {
        var root = sheet.content
        root["w"] = .words(words)
        root["lang"] = .text(frame.language.rawValue)
        root["csrf"] = .text(frame.formToken)
        root["base"] = .text(frame.base)
        root["path"] = .text(frame.path)
        root["main"] = .text(sheet.template)
        let heading = sheet.heading ?? sheet.title
        root["heading"] = sheet.isName ? ["name": .text(heading)] : ["text": .text(heading)]
        let whose = frame.circle.map { heading == $0.name ? "" : " – \($0.name)" } ?? ""
        root["title"] = .text("\(sheet.title)\(whose) · \(frame.brand.name)")
        root["brand"] = [
            "name": .text(frame.brand.name), "logo": .text(frame.brand.logo.flatMap(\.safeAddress).map(href)),
            "home": .text(sheet.isForStrangers ? nil : href("/app")), "hasAccent": .flag(frame.brand.accent != nil),
        ]
        root["assets"] = [
            "style": .text(href(PageAssets.style.path)),
            "icon": .text(href(frame.brand.logo.flatMap(\.safeAddress) ?? PageAssets.icon.path)),
            "brand": .text(href(PageAssets.brandPath(frame.brand))),
        ]
        root["scripts"] = .list(
            (sheet.isForStrangers ? [] : ["dialog"] + sheet.scripts).compactMap { name in
                PageAssets.script(name).map { .text(href($0.path)) }
            })
        root["navigation"] = frame.user == nil ? .nothing : .list(navigation(sheet.section))
        root["circleNavigation"] = circleNavigation(sheet.section)
        root["hasMenu"] = .flag(frame.user != nil)
        root["crumbs"] = .rows(sheet.crumbs.map { ["label": .text($0.label), "href": .text(href($0.path))] })
        root["toast"] = toast
        root["problems"] = .rows(sheet.problems)
        root["reloads"] = sheet.reloads.map { .number($0) } ?? .nothing
        root["user"] = frame.user.map { own($0, sheet.section) } ?? .nothing
        root["zoneNote"] = frame.user == nil ? .nothing : zoneNote
        return .map(root)
    }

    var zoneNote: Node { .text(words("zoneNote", ["zone": frame.zone.name])) }

    private func navigation(_ section: PageContent.Section) -> [Node] {
        let isCircle: Set<PageContent.Section> = [
            .circles, .calendar, .sync, .conflicts, .imports, .subscriptions, .activity,
        ]
        let entries: [(String, String, Bool)] =
            frame.isOperator
            ? [("navOperator", "/app/admin", section == .admin)]
            : [
                ("navCalendars", "/app", isCircle.contains(section)),
                ("navHealth", "/app/health", section == .health),
                ("navOfficeDays", "/app/office-days", section == .office),
                ("navConnectors", "/app/connectors", section == .connectors),
                ("navCheck", "/app/check", section == .check),
            ]
        return known(entries)
    }

    /// The links about the visitor rather than a calendar, by their name.
    private func own(_ name: String, _ section: PageContent.Section) -> Node {
        let places = [
            ("navDevices", "/app/devices", section == .devices), ("navAccount", "/app/account", section == .account),
        ]
        return [
            "name": .text(name), "isHere": .flag(places.contains(where: \.2)),
            "places": .rows(frame.isOperator ? [] : known(places)),
            "signOut": .text(href(frame.isOperator ? "/app/admin/sign-out" : "/app/sign-out")),
        ]
    }

    private func known(_ entries: [(String, String, Bool)]) -> [Node] {
        entries.filter { frame.leads(to: $0.1) }.map { entry($0.0, $0.1, $0.2) }
    }

    private func circleNavigation(_ section: PageContent.Section) -> Node {
        guard let circle = frame.circle else { return .nothing }
        let entries: [(String, String, Bool)] = [
            ("navCalendar", "", section == .calendar), ("navSync", "/calendar-sync", section == .sync),
            ("navConflicts", "/conflicts", section == .conflicts), ("navImport", "/import", section == .imports),
            ("navSubscriptions", "/subscriptions", section == .subscriptions),
            ("navActivity", "/activity", section == .activity),
        ]
        let known = entries.filter { frame.leads(to: "/app/circles/{circle}" + $0.1) }
        let rows = known.map { key, path, isHere -> Node in
            guard key == "navConflicts", circle.openConflicts > 0 else {
                return entry(key, circlePath(path), isHere)
            }
            return entry(key, circlePath(path), isHere, count: circle.openConflicts)
        }
        return .map(["rows": .list(rows), "name": .text(circle.name)])
    }

    private func entry(_ key: String, _ path: String, _ isHere: Bool, count: Int? = nil) -> Node {
        [
            "label": .text(words[key]), "href": .text(href(path)), "isHere": .flag(isHere),
            "count": count.map {
                ["number": .text(words.number($0)), "title": .text(words("conflictsOpen", count: $0))]
            } ?? .nothing,
        ]
    }

    private var toast: Node {
        guard let notice = frame.notice else { return .nothing }
        let name = notice.what.rawValue
        let key = "notice" + name.prefix(1).uppercased() + name.dropFirst()
        return [
            "text": .text(words(key, ["app": frame.brand.name])),
            "undo": notice.undo.map { act("actUndo", $0.path, $0.values, style: .quiet) } ?? .nothing,
        ]
    }
}

extension String {
    /// The text as one segment of a path; our own ids stay unchanged.
    public var pathSegment: String {
        var text = ""
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"),
                UInt8(ascii: ":"), UInt8(ascii: "-"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let hex = String(byte, radix: 16, uppercase: true)
                text += "%" + (hex.utf8.count == 1 ? "0" : "") + hex
            }
        }
        return text
    }
}
