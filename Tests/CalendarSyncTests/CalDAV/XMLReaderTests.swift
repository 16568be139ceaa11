// SPDX-License-Identifier: Apache-2.0

import Foundation
import ICalBridge
import Testing

@testable import CalendarSync

@Suite struct XMLReaderTests {
    private func read(_ text: String) throws -> XMLElement { try XMLReader.read(Array(text.utf8)) }

    @Test("Names are matched by namespace, whatever prefix a server chose")
    func namespaces() throws {
        for text in [
            "<multistatus xmlns=\"DAV:\"><href>/a</href></multistatus>",
            "<ns0:multistatus xmlns:ns0='DAV:'><ns0:href>/a</ns0:href></ns0:multistatus>",
            "<?xml version=\"1.0\" encoding='UTF-8'?>\r\n<!-- c --><D:multistatus xmlns:D=\"DAV:\">"
                + "<x:href xmlns:x=\"DAV:\">/a</x:href></D:multistatus>\n",
            "\u{FEFF}<a:multistatus xmlns:a=\"DAV:\" xmlns=\"other:\"><href/><href xmlns=\"DAV:\">/a</href></a:multistatus>",
        ] {
            let root = try read(text)
            #expect(root.is(.dav, "multistatus"))
            #expect(root.hrefs == ["/a"])
        }
        let shadowed = try read("<a:x xmlns:a=\"DAV:\"><a:x xmlns:a=\"other:\"/><a:x/></a:x>")
        #expect(shadowed.children.map(\.namespace) == [.other("other:"), .dav])
    }

    @Test("Entities, sections and line ends are character data")
    func text() throws {
        let root = try read("<x>a&lt;b&amp;&#xE9;&#10;<![CDATA[<&]]>]]&gt;\r\n\r&#13;</x>")
        #expect(root.text == "a<b&é\n<&]]>\n\n\r")
        #expect(try read("<x a='&quot;1&#9;' b=\"'\n2'\"/>").attributes.map(\.value) == ["\"1\t", "' 2'"])
    }

    @Test(
        "What is not well-formed is refused",
        arguments: [
            "", " ", "x", "<x>", "</x>", "<x></y>", "<x/><y/>", "<x/>z", "z<x/>", "<x", "<x a", "<x a=1/>", "<x a='1'",
            "<x a='1'b='2'/>", "<x a='1' a='2'/>", "<p:x/>", "<x p:a=''/>", "<x xmlns:p=''/>",
            "<a:b:c xmlns:a='DAV:'/>",
            "<x>&nbsp;</x>", "<x>&#0;</x>", "<x>&#xD800;</x>", "<x>&#x110000;</x>", "<x>&#-5;</x>", "<x>&amp</x>",
            "<x>\u{1}</x>", "<x a='<'/>", "<x>]]></x>", "<1/>", "<x><![CDATA[</x>", "<!-- <x/>",
            "<x/><?xml version='1.0'?>",
            "<?xml version='1.0' encoding='utf-16'?><x/>", "<x xmlns='DAV:'></ x>", "< x/>",
        ])
    func malformed(_ text: String) {
        #expect(throws: XMLFailure.self) { try read(text) }
    }

    @Test("A document type is refused: nothing is expanded, nothing is loaded")
    func documentType() {
        let laughs =
            "<!DOCTYPE x [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]><x>&b;</x>"
        let file = "<!DOCTYPE x [<!ENTITY f SYSTEM \"file:///etc/passwd\">]><x>&f;</x>"
        for text in [laughs, file, "<!DOCTYPE x><x/>", "<x><!ELEMENT x ANY></x>"] {
            #expect(throws: XMLFailure.self) { try read(text) }
        }
    }

    @Test("Depth, elements, attributes and names are limited")
    func limits() {
        func nested(_ depth: Int) -> String {
            String(repeating: "<x>", count: depth) + String(repeating: "</x>", count: depth)
        }
        #expect(throws: Never.self) { try read(nested(32)) }
        #expect(throws: XMLFailure.self) { try read(nested(33)) }
        #expect(throws: XMLFailure.self) { try read(nested(100_000)) }
        var limits = XMLReader.Limits()
        limits.elements = 10
        let wide = "<x>" + String(repeating: "<y/>", count: 10) + "</x>"
        #expect(throws: XMLFailure.self) { try XMLReader.read(Array(wide.utf8), limits: limits) }
        let attributes = (0..<33).map { " a\($0)=''" }.joined()
        #expect(throws: XMLFailure.self) { try read("<x\(attributes)/>") }
        #expect(throws: XMLFailure.self) { try read("<\(String(repeating: "n", count: 129))/>") }
    }

    @Test("What an answer takes in memory is limited by its length: one that is all small elements is refused")
    func smallElements() throws {
        func answer(_ count: Int, _ inner: String) -> [UInt8] {
            let response = "<response><href>/a</href>\(inner)</response>"
            return Array(
                "<multistatus xmlns='DAV:'>\(String(repeating: response, count: count))</multistatus>".utf8)
        }
        func elements(_ count: Int) -> String { String(repeating: "<a/>", count: count) }
        let usual =
            "<propstat><prop><getetag>\"1\"</getetag></prop><status>HTTP/1.1 200 OK</status></propstat>"
        #expect(try Multistatus(answer(5_000, usual)).responses.count == 5_000)
        // As many in one response, and in many.
        for (count, inner) in [(1, 30_000), (1_000, 20)] {
            #expect(throws: XMLFailure.self) {
                try Multistatus(answer(count, usual.replacing("<prop>", with: "<prop>" + elements(inner))))
            }
        }
    }

    @Test("Time grows with the length only", .timeLimit(.minutes(1)))
    func linear() throws {
        for piece in ["<y>", "&lt;", "<y xmlns='DAV:'/>", "<!---->", "]]", "<![CDATA[]]>"] {
            let text = "<x>" + String(repeating: piece, count: 20_000)
            #expect(throws: XMLFailure.self) { try read(text) }
        }
    }

    @Test("Cut anywhere, and with any byte changed, an answer is read or refused, and nothing else")
    func fuzz() throws {
        let answer = Array(
            ("<?xml version='1.0'?><d:multistatus xmlns:d=\"DAV:\"><d:response><d:href>/a%20b</d:href><d:propstat><d:prop>"
                + "<d:getetag>\"1\"</d:getetag></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
                + "<d:sync-token>t&amp;1</d:sync-token></d:multistatus>").utf8)
        #expect(try Multistatus(answer).syncToken == "t&1")
        for end in 0..<answer.count { #expect(throws: XMLFailure.self) { try Multistatus(Array(answer[..<end])) } }
        for index in answer.indices {
            for byte: UInt8 in [0, 32, 34, 38, 47, 58, 60, 62, 120, 195] {
                var changed = answer
                changed[index] = byte
                _ = try? Multistatus(changed)
                _ = DAVCondition(changed)
            }
        }
    }
}
