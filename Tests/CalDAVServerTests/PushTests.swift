// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import HTTPTypes
import ICalBridge
import Logging
import Storage
import TestSupport
import Testing

@testable import CalDAVServer
@testable import KalendsCore
@testable import ServerTestSupport
@testable import WebhookSending

/// The folder `xml` of the draft's repository, with its schema.
private let schemaFolder = ProcessInfo.processInfo.environment["KALENDS_WEBDAV_PUSH_SCHEMA"]

/// The keys of an app, with which it reads its messages.
struct PushedApp {
    let key = P256.KeyAgreement.PrivateKey()
    let auth: [UInt8] = (0..<16).map { UInt8($0) }

    func body(
        _ url: String, triggers: String = "<content-update><D:depth>1</D:depth></content-update>", expires: String = ""
    ) -> String {
        let point = Base64URL.encode(Array(key.publicKey.x963Representation))
        return """
            <push-register xmlns="https://bitfire.at/webdav-push" xmlns:D="DAV:"><subscription><web-push-subscription>
            <push-resource>\(url)</push-resource><content-encoding>aes128gcm</content-encoding>
            <subscription-public-key type="p256dh">\(point)</subscription-public-key>
            <auth-secret>\(Base64URL.encode(auth))</auth-secret></web-push-subscription></subscription>
            <trigger>\(triggers)</trigger>\(expires)</push-register>
            """
    }

    /// Decrypts a message, as its receiver does (RFC 8291 section 3).
    func open(_ message: [UInt8]) throws -> XMLElement {
        try #require(message.count > 86)
        let (salt, sender, sealed) = (Array(message[..<16]), Array(message[21..<86]), Array(message[86...]))
        #expect(Array(message[16..<21]) == [0, 0, 16, 0, 65])
        let shared = try key.sharedSecretFromKeyAgreement(
            with: P256.KeyAgreement.PublicKey(x963Representation: sender))
        let material = shared.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: auth,
            sharedInfo: Array("WebPush: info\0".utf8) + Array(key.publicKey.x963Representation) + sender,
            outputByteCount: 32)
        func derived(_ info: String, _ count: Int) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: material, salt: salt, info: Array("Content-Encoding: \(info)\0".utf8),
                outputByteCount: count)
        }
        let nonce = unsafe derived("nonce", 12).withUnsafeBytes { unsafe Array($0) }
        let box = try AES.GCM.SealedBox(
            nonce: AES.GCM.Nonce(data: nonce), ciphertext: sealed.dropLast(16), tag: sealed.suffix(16))
        var text = Array(try AES.GCM.open(box, using: derived("aes128gcm", 16)))
        #expect(text.popLast() == 2)
        return try XMLReader.read(text)
    }
}

@Suite struct PushTests {
    private static func bytes(_ text: String) throws -> [UInt8] {
        try #require(Base64URL.decode(Array(text.utf8)))
    }

    private func withPush(
        _ body: @escaping @Sendable (_ server: TestServer, _ receiver: HookReceiver) async throws -> Void
    ) async throws {
        try await HookReceiver.run { receiver in
            var settings = ServerSettings()
            settings.connections.privatePushHosts = ["127.0.0.1"]
            try await TestServer.run(settings: settings) { server in
                try await server.makeCircle()
                try await body(server, receiver)
            }
        }
    }

    private func sent(_ server: TestServer) async throws -> Int {
        let log = server.log
        return try await PushDispatch(services: server.services, logger: Logger(label: "push") { _ in log }).once()
    }

    /// Registers an app, and returns the address of its registration.
    private func register(
        _ app: DAVClient, _ path: String, _ body: String, status: Int = 201
    ) async throws -> String {
        let answer = try await app.send("POST", path, body).expect(status)
        #expect(answer.headers[.expires]?.hasSuffix(" GMT") == true)
        return try #require(answer.headers[.location])
    }

    private func path(_ location: String) -> String { String(location.dropFirst("http://calendar.example".count)) }

    @Test("The example of RFC 8291 is encrypted byte by byte as in its appendix A")
    func example() throws {
        let target = try #require(
            PushTarget(
                url: "https://push.example",
                publicKey: try Self.bytes(
                    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
                authSecret: try Self.bytes("BTBZMqHH6r4Tts7J_aSIgg")))
        let fresh = PushTarget.Fresh(
            key: try P256.KeyAgreement.PrivateKey(
                rawRepresentation: try Self.bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")),
            salt: try Self.bytes("DGv6ra1nlYgDCS1FRnbzlw"))
        let encrypted = try target.encrypted(
            try Self.bytes("V2hlbiBJIGdyb3cgdXAsIEkgd2FudCB0byBiZSBhIHdhdGVybWVsb24"), fresh)
        #expect(
            Base64URL.encode(encrypted)
                == "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6Tlz"
                + "AC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
    }

    @Test(
        "The properties and the messages are valid by the schema of the draft",
        .enabled(if: schemaFolder != nil && Programs.python != nil, "KALENDS_WEBDAV_PUSH_SCHEMA names no folder"))
    func schema() async throws {
        let collection = CalendarCollection(
            kind: .own("1"), userID: "ann", segment: "x", displayName: "x", components: [.event], mayWrite: true,
            number: 1)
        let propertyContext = PropertyContext(
            paths: DAVPaths(base: ""), user: "ann", mayMake: true,
            tokens: SyncTokens(databaseID: "m"), pushKey: PushKey().publicText)
        var properties = Array("<D:multistatus\(PropertyName.declarations)><D:response><D:href>/x</D:href>".utf8)
        properties += "<D:prop>".utf8
        for property in LiveProperty.push {
            properties += property.name.tags.start
            #expect(property.write(.collection(collection), propertyContext, &properties))
            properties += property.name.tags.end
        }
        properties += "</D:prop></D:response></D:multistatus>".utf8
        var documents = [properties]
        for (token, changesProperties) in [("http://k/<&", true), ("t", false), (nil, true)] {
            documents.append(
                PushMessage(topic: collection.pushTopic, syncToken: token, changesProperties: changesProperties).body)
        }
        let script = """
            import base64, sys
            from lxml import etree
            schema = etree.RelaxNG(etree.parse(sys.argv[1] + "/validate-samples.rng"))
            for line in sys.stdin:
                schema.assertValid(etree.fromstring(base64.b64decode(line)))
                print("valid")
            """
        let input = documents.map { Data($0).base64EncodedString() + "\n" }.joined()
        let result = try await runProgram(
            try #require(Programs.python), ["-c", script, try #require(schemaFolder)], input: input)
        #expect(result.output.split(separator: "\n").count == documents.count, "\(result.error)")
    }

    @Test("A calendar names its transport, its topic and what is told; a message is for the app alone, and signed")
    func message() async throws {
        try await withPush { server, receiver in
            let (app, phone) = (try await DAVClient(server, "ann"), PushedApp())
            let calendar = try await app.makeCalendar("own~x")
            let names = ["transports", "topic", "supported-triggers"].map {
                "<P:\($0) xmlns:P=\"https://bitfire.at/webdav-push\"/>"
            }
            let answer = try await app.send(
                "PROPFIND", calendar, XML.root("D:propfind", "<D:prop>\(names.joined())</D:prop>"), depth: "0")
            let shown = try Multistatus(try answer.expect(207)).first
            let topic = try #require(shown[.push, "topic"]?.text)
            let key = try #require(
                shown[.push, "transports"]?.child(.push, "web-push")?.child(.push, "vapid-public-key"))
            #expect(key.attribute("type") == "p256ecdsa")
            #expect(
                shown[.push, "supported-triggers"]?.child(.push, "content-update")?.child(.dav, "depth")?.text == "1")
            _ = try await register(app, calendar, phone.body(receiver.url))
            #expect(try await sent(server) == 0)
            try await app.put(calendar + "a.ics", XML.event("a")).expect(201)
            try await app.put(calendar + "b.ics", XML.event("b")).expect(201)
            #expect(try await sent(server) == 1)
            #expect(try await sent(server) == 0)
            let got = try #require(receiver.messages.first)
            let element = try phone.open(got.body)
            #expect(element.is(.push, "push-message") && element.child(.push, "topic")?.text == topic)
            let token = try await app.properties(calendar, ["D:sync-token"]).first[.dav, "sync-token"]?.text
            #expect(element.child(.push, "content-update")?.child(.dav, "sync-token")?.text == token)
            #expect(element.child(.push, "property-update") == nil)
            #expect(got.headers["content-encoding"] == "aes128gcm" && got.headers["ttl"] == "86400")
            #expect(got.headers["topic"]?.utf8.count == 24)
            // RFC 8292 section 2.
            let proof = try #require(got.headers["authorization"])
            #expect(proof.hasPrefix("vapid t=") && proof.hasSuffix(", k=\(key.text)"))
            let parts = try #require(proof.dropFirst(8).split(separator: ",").first).split(separator: ".")
            try #require(parts.count == 3)
            let signer = try P256.Signing.PublicKey(x963Representation: try Self.bytes(key.text))
            let signature = try P256.Signing.ECDSASignature(rawRepresentation: try Self.bytes(String(parts[2])))
            #expect(signer.isValidSignature(signature, for: Array("\(parts[0]).\(parts[1])".utf8)))
            let claims = try JSONValue(parsing: try Self.bytes(String(parts[1])))
            #expect(claims["aud"]?.string == WebOrigin(ofAddress: receiver.url)?.text)
            #expect(claims["exp"]?.integer == server.clock.now / 1000 + 12 * 3600)
        }
    }

    @Test("A registration is renewed under its address, lives seven days at most, and is its person's alone")
    func life() async throws {
        try await withPush { server, receiver in
            let (app, phone) = (try await DAVClient(server, "ann"), PushedApp())
            let first = try await register(app, "\(app.home)c/", phone.body(receiver.url))
            let again = try await register(
                app, "\(app.home)c/",
                phone.body(receiver.url, expires: "<expires>Sun, 03 Mar 2030 00:00:00 GMT</expires>"), status: 204)
            #expect(first == again)
            let other = try await DAVClient(server, "ben")
            try await other.send("DELETE", path(first)).expect(404)
            server.clock.advance(seconds: 7 * 86_400)
            try await server.put("tasks", "t", ["title": "x", "dueAt": "2026-03-03T09:00:00Z"])
            #expect(try await sent(server) == 0)
            try await app.send("DELETE", path(first)).expect(404)
            let last = try await register(app, "\(app.home)c/", phone.body(receiver.url), status: 204)
            try await app.send("DELETE", path(last)).expect(204)
            try await app.send("DELETE", path(last)).expect(404)
        }
    }

    @Test("What cannot be used is refused with its condition")
    func refused() async throws {
        try await withPush { server, receiver in
            let (app, phone) = (try await DAVClient(server, "ann"), PushedApp())
            let calendar = "\(app.home)c/"
            for url in ["http://push.example/x", "https://10.0.0.7/x", "https://[::1]/x", "nothing", ""] {
                let answer = try await app.send("POST", calendar, phone.body(url)).expect(403)
                #expect(answer.condition == "invalid-subscription", "\(url)")
            }
            let answer = try await app.send("POST", calendar, phone.body(receiver.url, triggers: "")).expect(403)
            #expect(answer.condition == "no-supported-trigger")
            try await app.send("POST", calendar, XML.root("D:propfind", "<D:allprop/>")).expect(400)
        }
    }

    @Test("Whoever is named in Push-Dont-Notify is not told of the change, and of the next one is")
    func quiet() async throws {
        try await withPush { server, receiver in
            let (app, phone, tablet) = (try await DAVClient(server, "ann"), PushedApp(), PushedApp())
            let calendar = try await app.makeCalendar("own~x")
            let quiet = try #require(HTTPField.Name("Push-Dont-Notify"))
            let own = try await register(app, calendar, phone.body(receiver.url + "/phone"))
            _ = try await register(app, calendar, tablet.body(receiver.url + "/tablet"))
            try await app.put(calendar + "a.ics", XML.event("a"), headers: [quiet: "\"\(own)\""]).expect(201)
            #expect(try await sent(server) == 1)
            #expect(receiver.messages.map(\.path) == ["/hook-path/tablet"])
            try await app.send("DELETE", calendar + "a.ics", headers: [quiet: "*"]).expect(204)
            #expect(try await sent(server) == 0)
            try await app.put(calendar + "b.ics", XML.event("b"), headers: [quiet: "nobody, \"x\""]).expect(201)
            #expect(try await sent(server) == 2)
        }
    }

    @Test("No message comes after the password was revoked, or the person has left the circle")
    func ended() async throws {
        try await withPush { server, receiver in
            let (ann, ben, phone) = (
                try await DAVClient(server, "ann"), try await DAVClient(server, "ben"), PushedApp()
            )
            _ = try await register(ann, "\(ann.home)c~tasks/", phone.body(receiver.url + "/ann"))
            _ = try await register(ben, "\(ben.home)c~tasks/", phone.body(receiver.url + "/ben"))
            // It is not a task, so nobody who follows the tasks gets a message.
            try await server.put(
                "appointments", "a",
                ["patientId": "mom", "provider": "Dr. Lee", "startAt": "2026-03-04T09:00:00-08:00"])
            #expect(try await sent(server) == 0)
            try await server.put("tasks", "t", ["title": "x", "dueAt": "2026-03-03T09:00:00Z"])
            #expect(try await sent(server) == 2)
            let list = try await server.call(.get, "/v1/app-passwords", as: "ann").expect(200).json
            let id = try #require(list["items"]?.array?.first?["id"]?.string)
            try await server.call(.delete, "/v1/app-passwords/\(id)", as: "ann").expect(204)
            try await server.call(.delete, "/v1/circles/c/members/ben").expect(204)
            try await server.put("tasks", "t", ["title": "y", "dueAt": "2026-03-03T09:00:00Z"])
            #expect(try await sent(server) == 0)
            #expect(receiver.messages.count == 2)
        }
    }

    @Test("An own alarm in a circle's calendar is told to its person's apps alone")
    func alarm() async throws {
        try await withPush { server, receiver in
            let (ann, ben, phone) = (
                try await DAVClient(server, "ann"), try await DAVClient(server, "ben"), PushedApp()
            )
            try await server.put(
                "appointments", "a",
                ["patientId": "mom", "provider": "Dr. Lee", "startAt": "2026-03-04T09:00:00-08:00"])
            _ = try await register(ann, "\(ann.home)c/", phone.body(receiver.url + "/ann"))
            _ = try await register(ben, "\(ben.home)c/", phone.body(receiver.url + "/ben"))
            let found = try await ann.properties("\(ann.home)c/", ["D:getetag"], depth: "1")
            let href = try #require(found.responses.map(\.href).first { $0.hasSuffix(".ics") })
            let text = try await ann.send("GET", href).expect(200).text
            let alarm = "BEGIN:VALARM\r\nACTION:DISPLAY\r\nDESCRIPTION:x\r\nTRIGGER:-PT17M\r\nEND:VALARM\r\n"
            try await ann.put(href, text.replacing("END:VEVENT", with: alarm + "END:VEVENT")).expect(204)
            #expect(try await sent(server) == 1)
            #expect(receiver.messages.map(\.path) == ["/hook-path/ann"])
        }
    }

    @Test("A push service that does not answer has eight of one person's messages, and keeps none of another's")
    func lanes() async throws {
        try await withPush { server, receiver in
            let (ann, ben, phone) = (
                try await DAVClient(server, "ann"), try await DAVClient(server, "ben"), PushedApp()
            )
            let (mine, other) = (try await ann.makeCalendar("mine"), try await ben.makeCalendar("other"))
            receiver.answer { $0.path.contains("silent") ? .silence : .status(201) }
            for number in 0..<30 {
                _ = try await register(ann, mine, phone.body("\(receiver.url)/silent\(number)"))
            }
            _ = try await register(ben, other, phone.body("\(receiver.url)/good"))
            try await ann.put("\(mine)a.ics", XML.event("a")).expect(201)
            try await ben.put("\(other)b.ics", XML.event("b")).expect(201)
            let log = server.log
            let dispatch = PushDispatch(services: server.services, logger: Logger(label: "push") { _ in log })
            let run = Task { try await dispatch.run() }
            for _ in 0..<500 where !receiver.messages.contains(where: { $0.path.hasSuffix("good") }) {
                try await Task.sleep(for: .milliseconds(20))
            }
            try await Task.sleep(for: .seconds(2))
            #expect(receiver.messages.count { $0.path.hasSuffix("good") } == 1)
            #expect(receiver.messages.count { $0.path.contains("silent") } == 8)
            receiver.answer { _ in .status(201) }
            run.cancel()
            try? await run.value
        }
    }

    @Test("A push service that is busy is asked later, and a resource that is gone is forgotten")
    func failing() async throws {
        try await withPush { server, receiver in
            let (app, phone) = (try await DAVClient(server, "ann"), PushedApp())
            let calendar = try await app.makeCalendar("own~x")
            let own = try await register(app, calendar, phone.body(receiver.url))
            receiver.answer { _ in .status(503) }
            try await app.put(calendar + "a.ics", XML.event("a")).expect(201)
            #expect(try await sent(server) == 0)
            #expect(try await sent(server) == 0)
            #expect(receiver.messages.count == 1)
            receiver.answer { _ in .status(201) }
            server.clock.advance(seconds: 7)
            #expect(try await sent(server) == 1)
            receiver.answer { _ in .status(410) }
            try await app.put(calendar + "b.ics", XML.event("b")).expect(201)
            #expect(try await sent(server) == 0)
            try await app.send("DELETE", path(own)).expect(404)
        }
    }
}
