// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import Outbound
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("A fetch connects only to the public Internet")
struct FetchGuardTests {
    private static let good = "93.184.215.14"
    private static let hosts = NamedHosts(["cal.example": [[good]], "good.example": [[good, "2606:2800:21f:cb07::1"]]])

    @Test("No spelling of an address, no scheme and no trick with a host's name leads to a connection")
    func spellings() async throws {
        var cases = ForbiddenAddresses.urls
        for host in ForbiddenAddresses.hosts {
            for start in ["https://", "webcal://", "HTTPS://"] { cases.append("\(start)\(host)/cal.ics?token=t") }
            cases.append("https://\(host):8443")
        }
        #expect(Set(cases).count > 2000)
        for text in cases {
            let connects = ConnectRecorder()
            let kind = await GuardedFetcher(Self.hosts, connects).failure(text)
            #expect(kind == .address, "\(text)")
            #expect(connects.connected.isEmpty, "\(text)")
        }
        // With plain HTTP allowed as well.
        for host in ForbiddenAddresses.hosts {
            let connects = ConnectRecorder()
            #expect(
                await GuardedFetcher(Self.hosts, connects, allowsHTTP: true).failure("http://\(host)/") == .address)
            #expect(connects.connected.isEmpty, "\(host)")
        }
    }

    @Test("A name is refused when one of its addresses is not public, wherever in the list it is")
    func mixedAnswers() async throws {
        for bad in ForbiddenAddresses.version4 + ForbiddenAddresses.version6 where IPAddress(bad) != nil {
            for answer in [
                [bad], [Self.good, bad], [bad, Self.good], [Self.good, "2606:2800:21f::1", bad, "8.8.8.8"],
            ] {
                let connects = ConnectRecorder()
                let resolver = NamedHosts(["cal.example": [answer]])
                #expect(await GuardedFetcher(resolver, connects).failure("https://cal.example/a") == .address)
                #expect(connects.connected.isEmpty, "\(answer)")
            }
        }
        let connects = ConnectRecorder()
        let nothing = NamedHosts([:], otherwise: [])
        #expect(await GuardedFetcher(nothing, connects).failure("https://cal.example/a") == .address)
        #expect(connects.connected.isEmpty)
    }

    @Test("A redirect is judged as the first address is, at every hop")
    func redirects() async throws {
        let targets =
            ForbiddenAddresses.hosts.filter { !$0.isEmpty }.map { "https://\($0)/x" }
            + ForbiddenAddresses.hosts.filter { !$0.isEmpty && !$0.contains("%") }.map { "//\($0)/x" }
            + ForbiddenAddresses.urls.filter { $0.contains("://") && $0 != "https://" }
        for (index, target) in targets.enumerated() {
            // After one hop, two, three, four or five.
            let depth = index % 5
            let connects = ConnectRecorder { request in
                let path = request.url.reveal()
                let step = path.last.flatMap { Int(String($0)) } ?? 0
                return step == depth
                    ? .redirect(target, status: [301, 302, 303, 307, 308][index % 5])
                    : .redirect("/hop/\(step + 1)")
            }
            let kind = await GuardedFetcher(Self.hosts, connects).failure("https://good.example/hop/0")
            #expect(kind == .address, "\(target)")
            #expect(connects.connected == [IPAddress](repeating: try #require(IPAddress(Self.good)), count: depth + 1))
        }
    }

    @Test("A redirect is followed at most five times, and never from https to http")
    func redirectLimits() async throws {
        let endless = ConnectRecorder { request in .redirect(request.url.reveal() + "a") }
        #expect(await GuardedFetcher(Self.hosts, endless).failure("https://cal.example/") == .redirects)
        // Six as Kalends, and six as a browser.
        #expect(endless.connected.count == 12)
        let five = ConnectRecorder { request in
            request.url.reveal().hasSuffix("aaaaa") ? .calendar : .redirect(request.url.reveal() + "a")
        }
        #expect(await GuardedFetcher(Self.hosts, five).failure("https://cal.example/") == nil)
        #expect(five.connected.count == 6)
        let down = ConnectRecorder { _ in .redirect("http://good.example/") }
        #expect(
            await GuardedFetcher(Self.hosts, down, allowsHTTP: true).failure("https://cal.example/") == .address)
        #expect(down.connected.count == 1)
        let up = ConnectRecorder { request in request.url.isSecure ? .calendar : .redirect("https://good.example/") }
        #expect(await GuardedFetcher(Self.hosts, up, allowsHTTP: true).failure("http://cal.example/") == nil)
        let nowhere = ConnectRecorder { _ in OutboundAnswer(status: 302, headers: []) }
        #expect(await GuardedFetcher(Self.hosts, nowhere).failure("https://cal.example/") == .garbled)
    }

    @Test("Of a name that changes its address between two look-ups, only the judged one is connected to")
    func rebinding() async throws {
        for bad in ForbiddenAddresses.version4 {
            let resolver = NamedHosts(["turn.example": [[Self.good], [bad]]])
            let connects = ConnectRecorder()
            let fetcher = GuardedFetcher(resolver, connects)
            #expect(await fetcher.failure("https://turn.example/a") == nil)
            #expect(connects.connected.map(\.text) == [Self.good])
            #expect(resolver.questions == ["turn.example"])
            #expect(await fetcher.failure("https://turn.example/a") == .address)
            #expect(connects.connected.count == 1)
        }
        // A redirect to itself asks again, and is refused then.
        let resolver = NamedHosts(["turn.example": [[Self.good], ["10.0.0.1"]]])
        let connects = ConnectRecorder { _ in .redirect("/b") }
        #expect(await GuardedFetcher(resolver, connects).failure("https://turn.example/a") == .address)
        #expect(connects.connected.map(\.text) == [Self.good])
    }

    @Test("Addresses in other spellings are connected to as what they are")
    func plainAddresses() async throws {
        for (host, address) in [
            ("8.8.8.8", "8.8.8.8"), ("134744072", "8.8.8.8"), ("0x08.8.010.8", "8.8.8.8"),
            ("[::ffff:8.8.8.8]", "8.8.8.8"),
            ("[2001:4860:4860::8888]", "2001:4860:4860::8888"), ("[64:ff9b::8.8.8.8]", "64:ff9b::808:808"),
        ] {
            let connects = ConnectRecorder()
            let resolver = NamedHosts([:])
            #expect(await GuardedFetcher(resolver, connects).failure("https://\(host)/") == nil, "\(host)")
            #expect(connects.connected == [try #require(IPAddress(address))])
            #expect(resolver.questions.isEmpty)
        }
    }

    @Test("The next address of a host is tried when one cannot be reached, three at most")
    func severalAddresses() async throws {
        let resolver = NamedHosts(["many.example": [["8.8.8.1", "8.8.8.2", "8.8.8.3", "8.8.8.4"]]])
        let second = ConnectRecorder { request in
            if request.address.text != "8.8.8.2" { throw OutboundFailure.unreachable }
            return .calendar
        }
        #expect(await GuardedFetcher(resolver, second).failure("https://many.example/") == nil)
        #expect(second.connected.map(\.text) == ["8.8.8.1", "8.8.8.2"])
        let none = ConnectRecorder { _ in throw OutboundFailure.unreachable }
        #expect(await GuardedFetcher(resolver, none).failure("https://many.example/") == .unreachable)
        #expect(none.connected.count == 3)
    }

    @Test("What is asked for is what the user gave, written as RFC 3986 has it")
    func addresses() async throws {
        for (given, asked) in [
            ("https://Cal.Example", "https://cal.example/"),
            ("webcal://cal.example/a.ics", "https://cal.example/a.ics"),
            ("WEBCALS://cal.example:443/a", "https://cal.example/a"),
            ("https://cal.example./a", "https://cal.example/a"),
            ("https://cal.example:8443/a?b=c&d=%20#frag", "https://cal.example:8443/a?b=c&d=%20"),
            ("  https://cal.example?x=[1]|ü \n", "https://cal.example/?x=%5B1%5D%7C%C3%BC"),
            ("https://cal.example/100%", "https://cal.example/100%25"),
            ("https://bücher.example/", "https://xn--bcher-kva.example/"),
            ("https://BÜCHER.example/", "https://xn--bcher-kva.example/"),
            ("https://例え.テスト/", "https://xn--r8jz45g.xn--zckzah/"),
        ] {
            #expect(try PublicURL(given, allowsHTTP: false).reveal() == asked)
        }
        let base = try PublicURL("https://cal.example/a/b?c", allowsHTTP: false)
        for (location, next) in [
            ("https://good.example/x#y", "https://good.example/x"), ("//good.example/x", "https://good.example/x"),
            ("/x", "https://cal.example/x"), ("x?y=a:b", "https://cal.example/a/x?y=a:b"),
            ("?z", "https://cal.example/a/b?z"),
            ("", "https://cal.example/a/b?c"), ("webcal://good.example/x", "https://good.example/x"),
        ] {
            #expect(try base.following(location, allowsHTTP: false).reveal() == next)
        }
        #expect("\(base)" == "[redacted]" && String(reflecting: base) == "[redacted]")
        #expect(!base.hint.contains("/a/b"))
    }

    @Test("International labels are those of RFC 3492")
    func punycode() {
        for (label, ascii) in [
            ("3年b組金八先生", "xn--3b-ww4c5e180e575a65lsy2b"),
            ("почемужеонинеговорятпорусски", "xn--b1abfaaepdrnnbgefbadotcwatmq2g4l"),
            ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"), ("münchen", "xn--mnchen-3ya"), ("plain", "plain"),
        ] {
            #expect(Punycode.label(label) == ascii)
        }
    }

    @Test("A refusal reveals nothing of the path, the query or the address behind a name")
    func sentences() async throws {
        let resolver = NamedHosts(["inner.example": [["10.1.2.3"]], "cal.example": [[Self.good]]])
        let connects = ConnectRecorder { _ in .redirect("https://inner.example/metadata-s3cret") }
        let fetcher = GuardedFetcher(resolver, connects)
        var sentences: Set<String> = []
        for text in [
            "https://cal.example/s3cret?k=s3cret", "https://inner.example/s3cret", "https://none.example/s3cret",
        ] {
            let error = await #expect(throws: Refusal.self) {
                try await fetcher.fetch(url: try fetcher.url(text), for: nil)
            }
            let refusal = try #require(error)
            #expect(refusal.faults.map(\.pointer) == ["/url"])
            sentences.insert(refusal.faults.map(\.message).joined() + refusal.detail)
        }
        // The same for what is not there and for what must not be seen.
        #expect(sentences.count == 1)
        #expect(!sentences.joined().contains("s3cret") && !sentences.joined().contains("10.1"))
    }
}
