// SPDX-License-Identifier: Apache-2.0

@_exported public import Base  // Text is compared by its bytes in all of this module.

/// The facts that a page shows; they are put into words when it is rendered.
public protocol Page: Sendable {
    /// Whether the page shows a secret, so that no browser may cache it.
    var showsSecret: Bool { get }
    func sheet(_ paper: RenderContext) -> PageContent
}

extension Page {
    public var showsSecret: Bool { false }
}

/// The parts of a page that the page itself defines.
public struct PageContent {
    let template: String
    /// The window's title, without the name of the product.
    let title: String
    /// The page's only heading; nil for the title.
    var heading: String?
    var isName = false
    /// The navigation entry of this page.
    var section: Section
    var content: [String: Node]
    /// The names of files in `Scripts`, without `.js`.
    var scripts: [String] = []
    var crumbs: [(label: String, path: String)] = []
    var problems: [Node] = []
    /// Whether whoever has an address sees it: without scripts and without a way to the account.
    var isForStrangers = false
    /// Seconds until the page is reloaded, for browsers without scripts.
    var reloads: Int?

    enum Section: String {
        case nowhere, circles, health, calendar, sync, conflicts, imports, subscriptions, activity, connectors, office,
            devices
        case account, check, admin
    }
}

/// A rendered page, ready to be sent.
public struct RenderedPage: Sendable {
    public let html: String
    /// The value of `Content-Security-Policy`; the handler appends `frame-ancestors`.
    public let securityPolicy: String
    /// The value of `Cache-Control`.
    public let cacheControl: String
}

extension Page {
    public func rendered(_ frame: Frame) -> RenderedPage {
        let paper = RenderContext(frame)
        let html = Templates.render(paper.layout(sheet(paper)), with: "layout")
        return RenderedPage(
            html: html,
            securityPolicy: "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
                + "connect-src 'self'; base-uri 'none'; form-action 'self'",
            cacheControl: showsSecret ? "no-store" : "private, no-cache")
    }
}
