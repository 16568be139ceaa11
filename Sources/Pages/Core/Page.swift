// SPDX-License-Identifier: Apache-2.0

/// A page with everything that it shows, as facts; words are made of them when it is rendered.
public protocol Page: Sendable {
    /// Whether it shows a secret, so that no browser may keep it.
    var showsSecret: Bool { get }
    /// Where its forms may lead through a redirect beside this server, as origins.
    var formTargets: [String] { get }
    func sheet(_ paper: Paper) -> Sheet
}

extension Page {
    public var showsSecret: Bool { false }
    public var formTargets: [String] { [] }
}

/// A page's parts, made by itself.
public struct Sheet {
    let template: String
    /// In the window's title, without the name of the product.
    let title: String
    /// The one heading; the title where nil.
    var heading: String?
    var isName = false
    /// The entry of the navigation that this page is.
    var place: Place
    var content: [String: Node]
    /// Files of `Scripts` without `.js`.
    var scripts: [String] = []
    var crumbs: [(label: String, path: String)] = []
    var problems: [Node] = []
    /// Seconds until the page is asked for again, for readers without scripts.
    var reloads: Int?

    enum Place: String {
        case nowhere, circles, calendar, sync, conflicts, imports, subscriptions, connectors, office, devices, account,
            check, admin
    }
}

/// A page as it is sent.
public struct RenderedPage: Sendable {
    public let html: String
    /// For `Content-Security-Policy`; the handler puts `frame-ancestors` behind it.
    public let securityPolicy: String
    /// For `Cache-Control`.
    public let cacheControl: String
}

extension Page {
    public func rendered(_ frame: Frame) -> RenderedPage {
        let paper = Paper(frame)
        let html = Templates.render(paper.layout(sheet(paper)), with: "layout")
        let targets = (["'self'"] + formTargets.filter(Self.isOrigin)).joined(separator: " ")
        return RenderedPage(
            html: html,
            securityPolicy: "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
                + "connect-src 'self'; base-uri 'none'; form-action \(targets)",
            cacheControl: showsSecret ? "no-store" : "private, no-cache")
    }

    /// Nothing that could end a directive of the policy.
    private static func isOrigin(_ text: String) -> Bool {
        text.safeAddress != nil && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3B && $0 != 0x2C }
    }
}
