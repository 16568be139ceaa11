// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import ICalBridge
import KalendsCore
import Pages
import Storage

extension PageVisit {
    /// The frame of the page: the language, zone and name of the visitor, and the circle's navigation.
    ///
    /// - Parameters:
    ///   - person: the visitor; nil for a page that shows none.
    ///   - path: the page's path; nil for the request's path.
    func frame(for person: Visitor?, path: String?) -> Frame {
        var frame = PageFront(settings: services.settings).frame(for: request, now: services.now())
        frame.formToken = FormToken.masked(formToken)
        frame.notice = query["done"].flatMap { Notice.What(text: $0) }.map { Notice($0) }
        frame.ask = query["ask"]
        frame.destinations = PageRoutes.destinations
        frame.path = path ?? shownPath
        frame.isOperator = visitor?.isInstallation == true
        if frame.isOperator { frame.user = Words.of(frame.language)["navOperator"] }
        guard let person else { return frame }
        frame.zone = PageZone(person.zone)
        if let language = person.language.flatMap({ Language(text: $0) }) {
            frame.language = language
            frame.weekStart = WeekStart(language, accepting: PageFront.accepted(by: request))
        }
        frame.user = person.name
        guard let circle = person.circle else { return frame }
        if !person.mayWrite { frame.destinations?.removeAll { $0.isSameText(as: ImportPages.start) } }
        frame.circle = CircleLink(id: circle.id, name: circle.name, openConflicts: person.openConflicts)
        return frame
    }

    /// The request's path with its query, without the parameters that apply only once.
    private var shownPath: String {
        let passing = ["ask", "done", "connection", "result", "code"]
        let rest = (request.uri.query ?? "").pieces(separatedBy: "&").filter { part in
            let name = part.prefix { !$0.is("=") }
            return !passing.contains { $0.isSameText(as: String(name)) }
        }
        return request.uri.path + (rest.isEmpty ? "" : "?" + rest.joined(separator: "&"))
    }
}

extension PageZone {
    init(_ zone: TimeZoneReference) {
        self.init(name: zone.identifier) { zone.rules.offset(at: Instant(seconds: $0)) }
    }
}
