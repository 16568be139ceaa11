// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage
import Testing

@testable import CalDAVServer
@testable import KalendsCore
@testable import KalendsFront

@Suite struct PropertyTests {
    private let propertyContext = PropertyContext(
        paths: DAVPaths(base: ""), user: "ann", mayMake: true, tokens: SyncTokens(databaseID: "m"))
    private var collection: CalendarCollection {
        var collection = CalendarCollection(
            kind: .own("1"), userID: "ann", segment: "own~x", displayName: "X & Y", components: [.event, .task],
            mayWrite: false, number: 7)
        collection.properties = [
            StoredProperty(
                namespace: "http://apple.com/ns/ical/", name: "calendar-color",
                xml: Array("<I:calendar-color xmlns:I=\"http://apple.com/ns/ical/\">#FF0000FF</I:calendar-color>".utf8)),
            StoredProperty(namespace: "urn:x", name: "thing", xml: Array("<thing xmlns=\"urn:x\">1</thing>".utf8)),
        ]
        return collection
    }

    private func answer(_ body: String?, _ subject: Subject, isMinimal: Bool = false) throws -> Multistatus.Response {
        let element = try body.map { try XMLReader.read(Array(XML.root("D:propfind", $0).utf8), limits: .request) }
        var out = MultistatusWriter(propertyContext)
        out.response("/x", try PropertyRequest(element, isMinimal: isMinimal), of: subject)
        out.finish()
        let root = try XMLReader.read(out.take())
        return try Multistatus.Response(try #require(root.child(.dav, "response")))
    }

    @Test("What a resource does not have is 404 in a propstat of its own, and left out where that is preferred")
    func missing() throws {
        let asked = "<D:prop><D:displayname/><x:y xmlns:x=\"urn:&quot;&lt;\"/><z xmlns=\"\"/></D:prop>"
        let full = try answer(asked, .collection(collection))
        #expect(full[.dav, "displayname"]?.text == "X & Y")
        #expect(full.names(404) == ["y", "z"])
        #expect(full.properties.first { $0.element.name == "y" }?.element.namespace.text == "urn:\"<")
        #expect(try answer(asked, .collection(collection), isMinimal: true).names(404) == [])
        let nothing = try answer("<D:prop><D:getetag/></D:prop>", .collection(collection), isMinimal: true)
        #expect(nothing.properties.isEmpty)
    }

    @Test(
        "Each status has its phrase",
        arguments: [
            (200, "200 OK"), (403, "403 Forbidden"), (404, "404 Not Found"), (409, "409 Conflict"),
            (424, "424 Failed Dependency"), (500, "500 Internal Server Error"), (507, "507 Insufficient Storage"),
        ])
    func phrase(status: Int, line: String) {
        var out = MultistatusWriter(propertyContext)
        out.response("/x", [PropertyStatus(status: status, names: [.dav("displayname")])])
        out.finish()
        #expect(String(decoding: out.take(), as: UTF8.self).contains("<D:status>HTTP/1.1 \(line)</D:status>"))
    }

    @Test("All properties are those of RFC 4918 and those that a person set; their names are those of all")
    func all() throws {
        let all = try answer(nil, .collection(collection))
        #expect(all[.dav, "resourcetype"]?.children.map(\.name) == ["collection", "calendar"])
        #expect(all[.apple, "calendar-color"]?.text == "#FF0000FF")
        #expect(all[.other("urn:x"), "thing"]?.text == "1")
        #expect(all[.dav, "supported-report-set"] == nil)
        let with = try answer("<D:allprop/><D:include><D:sync-token/></D:include>", .collection(collection))
        #expect(with[.dav, "sync-token"] != nil)
        let names = try answer("<D:propname/>", .collection(collection)).names(200)
        for name in ["displayname", "calendar-color", "thing", "sync-token", "supported-report-set", "acl"] {
            #expect(names.count { $0 == name } == 1, "\(name)")
        }
        #expect(!names.contains { $0 == "calendar-order" })
    }

    @Test("Pitfall 11: only what may be written shows a privilege to write: no app keeps edits that are refused")
    func privileges() throws {
        func names(_ mayWrite: Bool) throws -> [String] {
            var collection = collection
            collection.mayWrite = mayWrite
            let asked = "<D:prop><D:current-user-privilege-set/></D:prop>"
            return try answer(asked, .collection(collection))[.dav, "current-user-privilege-set"]?
                .children.flatMap(\.children).map(\.name) ?? []
        }
        #expect(try names(false).contains { $0 == "read" })
        #expect(try !names(false).contains { $0.hasPrefix("write") || $0 == "all" || $0 == "bind" })
        for name in ["read", "write", "write-content", "write-properties", "bind", "unbind"] {
            #expect(try names(true).contains { $0 == name }, "\(name)")
        }
    }

    @Test(
        "A request for hundreds of properties, or with names of many kilobytes, is refused: each resource repeats them")
    func limits() throws {
        for inner in [
            String(repeating: "<D:a/>", count: 300), "<x:y xmlns:x=\"\(String(repeating: "u", count: 20_000))\"/>",
        ] {
            #expect(throws: DAVFault.self) { try answer("<D:prop>\(inner)</D:prop>", .collection(collection)) }
        }
    }

    @Test("A dead property is kept with its prefixes, attributes, language and content")
    func source() throws {
        let text = """
            <D:propertyupdate xmlns:D="DAV:" xmlns:q="urn:q" xmlns="urn:default" xml:lang="de"><D:set><D:prop \
            xmlns:p="urn:p"><p:a one='>"' q:two="&amp;x">t<!-- c --><p:b>q:value</p:b><c/>u</p:a><d xml:lang="en"/>\
            <e xmlns=""/></D:prop></D:set></D:propertyupdate>
            """
        let body = try XMLReader.read(Array(text.utf8), limits: .request)
        let prop = try #require(body.child(.dav, "set")?.child(.dav, "prop"))
        func alone(_ index: Int) throws -> String {
            String(decoding: try #require(prop.children[index].source).alone, as: UTF8.self)
        }
        #expect(
            try alone(0)
                == "<p:a xmlns:p=\"urn:p\" xmlns=\"urn:default\" xmlns:q=\"urn:q\" xml:lang=\"de\""
                + " one='>\"' q:two=\"&amp;x\">t<!-- c --><p:b>q:value</p:b><c/>u</p:a>")
        #expect(try alone(1) == "<d xmlns=\"urn:default\" xml:lang=\"en\"/>")
        #expect(try alone(2) == "<e xml:lang=\"de\" xmlns=\"\"/>")
        for index in 0...2 {
            let again = try XMLReader.read(Array(try alone(index).utf8))
            #expect(PropertyName(again) == PropertyName(prop.children[index]))
        }
        #expect(body.source == nil && prop.children[0].children[0].source == nil)
    }

    @Test("What is packed while it is made is one gzip member with the same bytes")
    func gzip() throws {
        let pieces = (0..<40).map { index in Array(String(repeating: "<D:href>\(index)</D:href>", count: 900).utf8) }
        let stream = try GzipStream()
        var packed: [UInt8] = []
        for (index, piece) in pieces.enumerated() {
            let part = try stream.pack(piece, isLast: index == pieces.count - 1)
            #expect(!part.isEmpty)
            packed += part
        }
        let whole = pieces.flatMap(\.self)
        #expect(packed.count < whole.count / 5)
        #expect(try Gunzip.unpack(packed, limit: 1 << 24) == whole)
    }
}
