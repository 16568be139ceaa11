// SPDX-License-Identifier: Apache-2.0

import Calendar

@testable import Pages

extension Samples {
    /// What the address of a feed shows in a browser.
    var addressSamples: [Sample] {
        // A feed may hide of what kind an entry is, and where its page is.
        let shown = entries().map { entry in
            var entry = entry
            (entry.kind, entry.path) = (.imported, nil)
            return entry
        }
        func page(_ view: AgendaPage.View, _ entries: [PageEntry]) -> AgendaPage {
            AgendaPage(name: text("Maria: Rose Family"), view: view, day: Self.today, entries: entries)
        }
        var all: [Sample] = []
        for view in AgendaPage.View.allCases {
            var own = page(view, shown)
            own.url = "https://calendar.example.org/feeds/f_not-a-secret/rose-family.ics"
            own.links = own.url.map(links) ?? []
            all.append(Sample(name: "address-\(view.rawValue)", page: own, user: false))
        }
        var ending = page(.agenda, shown)
        (ending.lastDay, ending.isWhole) = (Self.today.adding(days: 7), false)
        all.append(Sample(name: "address-ending", page: ending, user: false))
        all.append(Sample(name: "address-frame", page: page(.month, shown), user: false))
        all.append(Sample(name: "address-empty", page: page(.agenda, []), user: false))
        return all
    }
}
