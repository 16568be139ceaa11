// SPDX-License-Identifier: Apache-2.0

import Calendar
import Foundation
import Testing

@testable import Pages

struct RenderingTests {
    @Test("Whatever is in a name, a page has the same elements as with a plain one", arguments: Language.allCases)
    func hostile(_ language: Language) {
        let hostile = [
            "<script>alert(1)</script>\"><img src=x onerror=alert(1)>' onmouseover='alert(1)"
                + "<\u{338}script>alert(1)<\u{338}/script>\"\u{301}><b\u{301}>{{csrf}}{{{csrf}}}{{>layout}}"
                + "</title></textarea></select></bdi><h1>\u{202E}gnp.exe\u{2066}a\u{0}b\u{1B}[31m\u{85}]]><!--"
                + String(repeating: "e" + String(repeating: "\u{301}", count: 80), count: 4),
            "javascript:alert(1)",
        ]
        let plain = Samples(language: language)
        let expected = plain.all.map(plain.render)
        for text in hostile {
            let evil = Samples(text: { _ in text }, language: language)
            for (sample, expected) in zip(evil.all, expected) {
                let html = evil.render(sample)
                // Names that are all the same may make fewer rows of a picture; none of them makes an element.
                for element in Self.watched {
                    #expect(
                        Self.count(element, in: html) <= Self.count(element, in: expected), "\(sample.name): \(element)"
                    )
                }
                let isClean = !html.unicodeScalars.contains {
                    $0.value == 0x202E || ($0.value < 0x20 && $0.value != 0x0A) || (0x7F...0x9F).contains($0.value)
                }
                #expect(isClean, "\(sample.name)")
                #expect(!html.hasLongRunOfMarks, "\(sample.name)")
            }
        }
    }

    private static let watched = [
        "<script", "<img", "form-token", "href=\"javascript", "<h1", "<b>", "<b ", "<title", "</title", "</textarea",
        "</select", "<!--", "onerror=\"",
        "onmouseover='",
    ]

    private static func count(_ text: String, in html: String) -> Int {
        // By Foundation, which is optimized: the same in code of the tests took a sixth of this suite's time.
        let (page, wanted) = (Data(html.utf8), Data(text.utf8))
        var (count, rest) = (0, page.startIndex..<page.endIndex)
        while let found = page.range(of: wanted, in: rest) {
            count += 1
            rest = found.upperBound..<page.endIndex
        }
        return count
    }

    @Test("Each template of a page has a sample, so that browsers look at it")
    func samples() throws {
        let samples = Samples()
        let context = { RenderContext(samples.frame($0)) }
        let shown = Set(samples.all.map { ByteString($0.page.sheet(context($0)).template) })
        let folder = WordsTests.sources.appending(path: "Models")
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            let source = try String(contentsOf: file, encoding: .utf8)
            for match in source.matches(of: /template: "([a-z-]+)"/) {
                #expect(shown.contains(ByteString(match.1)), "\(file.lastPathComponent): \(match.1)")
            }
        }
    }

    @Test("Each page is well-formed, with one main heading and no id twice", arguments: Language.allCases)
    func wellFormed(_ language: Language) throws {
        let samples = Samples(text: { $0 + " & <Söhne>" }, language: language)
        for sample in samples.all {
            let html = samples.render(sample)
            #expect(Self.count("<h1", in: html) == 1, "\(sample.name)")
            #expect(Self.count("<main", in: html) == 1, "\(sample.name)")
            var ids: Set<String> = []
            for match in html.matches(of: #/ id="([^"]*)"/#) {
                #expect(ids.insert(String(match.1)).inserted, "\(sample.name) has the id \(match.1) twice.")
            }
            for match in html.matches(of: /(?:aria-labelledby|aria-describedby|for)="([^"]*)"/) {
                for id in match.1.split(separator: " ") { #expect(ids.contains(String(id)), "\(sample.name): \(id)") }
            }
            Self.checkNesting(html, sample.name)
        }
    }

    private static func checkNesting(_ html: String, _ name: String) {
        let empty: Set<String> = ["meta", "link", "input", "img", "path", "rect", "circle", "line", "!doctype", "br"]
        var open: [String] = []
        for match in html.matches(of: /<(\/?)([!a-z0-9]+)((?:[^<>"]|"[^"]*")*)>/) {
            let element = String(match.2)
            if match.1.isEmpty {
                if !empty.contains(element), !match.3.hasSuffix("/") { open.append(element) }
                if element == "rect", !match.3.hasSuffix("/") { open.append(element) }
            } else {
                let last = open.popLast()
                if last != element {
                    Issue.record("\(name): </\(element)> closes \(last ?? "nothing")")
                    return
                }
            }
        }
        #expect(open.isEmpty, "\(name): \(open)")
    }

    @Test("Each form that changes something carries the token, and no password is sent back")
    func forms() {
        let samples = Samples()
        for sample in samples.all {
            let html = samples.render(sample)
            for form in html.matches(of: /<form[^>]*method="post"[^>]*>(.*?)<\/form>/.dotMatchesNewlines()) {
                #expect(form.1.contains("name=\"token\" value=\"form-token\""), "\(sample.name)")
            }
            #expect(!html.contains("never-sent-back"), "\(sample.name)")
        }
    }

    @Test("What a person typed comes back in the form, with what is wrong at the field and at the top")
    func drafts() throws {
        let samples = Samples(language: .german)
        let sample = try #require(samples.all.first { $0.name == "account" })
        let html = samples.render(sample)
        #expect(html.contains("value=\"Mars/Olympus\""))
        #expect(html.contains("aria-describedby=\"account-timeZone-hint account-timeZone-error\""))
        #expect(html.contains("id=\"problems\" autofocus"))
        #expect(html.contains("<a href=\"#account-timeZone\">Zeitzone</a>"))
    }

    @Test("A conflict about one day of a series names the day", arguments: Language.allCases)
    func oneDay(_ language: Language) throws {
        let samples = Samples(language: language)
        let sample = try #require(samples.all.first { $0.name == "conflicts" })
        let start = try #require((sample.page as? ConflictsPage)?.open.compactMap(\.occurrence).first)
        let times = TimeWords(words: .of(language), zone: Samples.berlin, now: Samples.now)
        let day = times.weekdayDate(times.zone.local(start).day)
        let before = Words.of(language)["conflictOneDay"].components(separatedBy: "{day}")[0]
        #expect(samples.render(sample).contains(before + day))
    }

    @Test("A page that shows a secret is not kept, and all others are")
    func secrets() {
        let samples = Samples()
        for sample in samples.all {
            let page = sample.page.rendered(samples.frame(sample))
            let hasSecret =
                page.html.contains("kal_")
                || ["factor-begun", "factor-codes", "sign-in-code"].contains(sample.name)
                || sample.name.hasPrefix("app-made-") || sample.page is ProviderPage || sample.page is AgendaPage
            #expect(page.cacheControl == (hasSecret ? "no-store" : "private, no-cache"), "\(sample.name)")
            let title = page.html.firstMatch(of: /<title>(.*?)<\/title>/)?.1 ?? ""
            #expect(!title.contains("kal_"), "\(sample.name)")
        }
    }

    @Test("The policy lets nothing in but our own files, and a form only to this server")
    func policy() throws {
        let samples = Samples()
        for sample in samples.all {
            let page = sample.page.rendered(samples.frame(sample))
            #expect(!page.securityPolicy.contains("unsafe"))
            #expect(page.securityPolicy.hasSuffix("form-action 'self'"), "\(sample.name)")
            for match in page.html.matches(of: /(?:src|<link[^>]*href)="([^"]*)"/) {
                #expect(match.1.hasPrefix("/app/assets/"), "\(sample.name): \(match.1)")
            }
        }
    }

    @Test("Every path lies behind what a proxy puts before it")
    func base() {
        var samples = Samples()
        samples.base = "/calendars"
        for sample in samples.all {
            for match in samples.render(sample).matches(of: /(?:href|src|action|data-progress)="(\/[^"]*)"/) {
                #expect(match.1.hasPrefix("/calendars/app"), "\(sample.name): \(match.1)")
            }
        }
    }

    @Test("Each time has its exact one beside it, with the offset of its zone")
    func times() throws {
        let samples = Samples()
        for sample in samples.all {
            for match in samples.render(sample).matches(of: /<time datetime="([^"]*)"(?: title="([^"]*)")?/) {
                let isDay = CivilDate(iso: String(match.1)) != nil
                let isInstant = match.1.firstMatch(of: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/) != nil
                #expect(isDay || isInstant, "\(sample.name): \(match.1)")
                if isInstant { #expect(match.2?.contains("(Europe/Berlin)") == true, "\(sample.name)") }
            }
        }
    }

    @Test("Reads of a day that is tomorrow here, where days are those of UTC, are in the picture")
    func latestReads() {
        let samples = Samples()
        var page = samples.feed(url: "https://example.org/f")
        page.reads = [.init(day: Samples.today.adding(days: 1), client: "curl", count: 7)]
        let html = samples.render(.init(name: "feed", page: page, isCircle: true))
        #expect(Self.count("<rect class=\"k0\" x", in: html) == 1)
    }

    @Test("A picture of one day has a column and no wall")
    func oneDay() {
        let samples = Samples()
        let page = ConnectionPage(
            connection: samples.connection(.google, .active), step: .done(isNew: false), content: [],
            linked: 1, runs: [], history: [RunDay(day: Samples.today, succeeded: 5)])
        let html = samples.render(.init(name: "connection", page: page, isCircle: true))
        let bar = html.firstMatch(of: /<rect class="k3" x="([0-9.]+)" y="[0-9.]+" width="([0-9.]+)"/)
        #expect(bar?.2 == "32" && bar?.1 == "374")
    }

    @Test("A page says what its state calls for: no plans while off, no advice for what has ended, no table of nothing")
    func states() {
        let samples = Samples()
        func html(_ name: String) -> String {
            samples.all.first { $0.name == name }.map { samples.render($0) } ?? ""
        }
        #expect(html("check-good").contains("Problems in the file"))
        let refused = html("check-refused")
        #expect(!refused.contains("Problems in the file") && refused.contains("Check a file"))
        #expect(html("feed").contains("If somebody else reads it"))
        let revoked = html("feed-revoked")
        #expect(revoked.contains("Take it off the list") && !revoked.contains("Add the address to a calendar app"))
        #expect(html("office-off").contains("Nothing is planned") && !html("office").contains("Nothing is planned"))
        // What a feed does not show is said where it is listed and at the top of its page, by name.
        #expect(html("sync").contains("Not shown: <strong><bdi>Shifts, Follow-ups</bdi></strong>"))
        let feed = html("feed")
        #expect(feed.contains("href=\"#settings\"") && feed.contains("Shifts, Follow-ups are switched off"))
        #expect(!revoked.contains("href=\"#settings\""))
        let silent = html("item-silent")
        #expect(
            silent.contains("#settings\"><bdi>Phone</bdi></a> does not show it: Shifts, Follow-ups are switched off"))
        #expect(!silent.contains("No calendar app has read") && html("item").contains("All 4") == false)
        // What is there comes before what could be had, and nothing that was undone is shown as new.
        let sync = html("sync")
        #expect(
            sync.range(of: "id=\"feeds\"")?.lowerBound ?? sync.endIndex
                < (sync.range(of: "id=\"offers\"")?.lowerBound ?? sync.startIndex))
        #expect(!html("import-undone").contains("class=\"figures\""))
        #expect(Self.count("/undo\"", in: html("import-earlier")) == 1)
        let conflicts = html("conflicts")
        #expect(Self.count("and the appointment is cancelled in Kalends too.", in: conflicts) == 1)
        let offers = html("sync-empty")
        #expect(offers.contains("href=\"/app/connectors/apple\"") && !offers.contains("value=\"apple\""))
    }

    @Test("The connector is called connected only while the phone is heard of and may use its calendars")
    func connector() throws {
        var samples = Samples()
        func html(_ name: String) throws -> String {
            samples.render(try #require(samples.all.first { $0.name == name }))
        }
        #expect(try html("apple-connected").contains(">Connected<"))
        for (name, badge, advice) in [
            ("apple-permissionRevoked", "Needs permission", "Then open Kalends there and connect Apple Calendar"),
            ("apple-calendarGone", "Calendar not found", "choose a calendar."),
            ("apple-calendarReadOnly", "Calendar is read-only", "a calendar that you may change."),
            ("apple-switchedOff", "Switched off on the phone", "to switch it on again."),
            ("apple-disconnected", "Disconnected by the phone", "to connect it again."),
            ("apple-quiet", "Last seen on Saturday at 11:04 am", "so that it gets in touch again."),
            ("connectors-permission", "Needs permission", "Open Settings on your iPhone"),
            ("connectors-quiet", "Last seen on Saturday at 11:04 am", "so that it gets in touch again."),
        ] {
            let page = try html(name)
            #expect(page.contains(badge) && page.contains(advice), "\(name)")
            #expect(!page.contains(">Connected<"), "\(name)")
        }
        #expect(try html("apple-permissionRevoked").contains("Calendar access is disabled in iOS Settings."))
        #expect(try html("apple-disconnected").contains("You disconnected Apple Calendar on your phone <time"))
        #expect(try html("apple-waiting").contains("Waiting for your phone"))
        samples.language = .german
        #expect(try html("apple-permissionRevoked").contains("Braucht die Berechtigung"))
        #expect(try html("apple-disconnected").contains("Vom Telefon getrennt"))
    }

    @Test("Pages of the largest demo are light: 1,000 events in a month and 50 feeds")
    func weight() throws {
        var samples = Samples()
        samples.language = .german
        let entries = samples.entries(1000)
        let feeds = (0..<50).map {
            FeedSummary(
                id: "f\($0)", label: "Feed \($0)", lastReadAt: Samples.now - $0 * 1000, lastClient: "Google Calendar")
        }
        let offers = Provider.allCases.map { SyncPage.Offer($0) }
        let pages: [any Page] = [
            CalendarPage(view: .month, day: Samples.today, people: [], patients: [], feeds: [], entries: entries),
            CalendarPage(
                view: .agenda, day: Samples.today.adding(days: -10), people: [], patients: [], feeds: [],
                entries: entries),
            SyncPage(feeds: feeds, connections: [], offers: offers, content: []),
        ]
        for page in pages {
            let html = samples.render(.init(name: "large", page: page, isCircle: true))
            // Raw; packed it is a tenth of it.
            #expect(html.utf8.count < 500_000)
        }
        #expect(PageAssets.all.reduce(0) { $0 + $1.bytes.count } < 60_000)
    }

    @Test("Pages are written for the browser where PAGES_OUT says so")
    func write() throws {
        guard let out = ProcessInfo.processInfo.environment["PAGES_OUT"] else { return }
        let folder = URL(fileURLWithPath: out)
        for language in Language.allCases {
            var samples = Samples(language: language)
            if ProcessInfo.processInfo.environment["PAGES_HOSTILE"] != nil {
                samples.text = {
                    $0 + " \"><img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script><\u{338}b>\u{202E}"
                }
            }
            for sample in samples.all {
                let page = sample.page.rendered(samples.frame(sample))
                let own = folder.appending(path: language.rawValue)
                try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
                try page.html.write(to: own.appending(path: sample.name + ".html"), atomically: true, encoding: .utf8)
                try page.securityPolicy.write(
                    to: own.appending(path: sample.name + ".policy"), atomically: true, encoding: .utf8)
            }
        }
        for asset in PageAssets.all {
            let file = folder.appending(path: String(asset.path.dropFirst()))
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(asset.bytes).write(to: file)
        }
    }
}
