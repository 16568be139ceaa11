// SPDX-License-Identifier: Apache-2.0

import Calendar
import HTTPTypes
import Hummingbird
import ICalBridge
import KalendsCore
import NIOCore

/// Why a request is refused, as WebDAV shows it: a status, and the condition that was not met (RFC 4918 section 16).
struct DAVFault: Error {
    var status: HTTPResponse.Status
    /// The condition, with what it contains as XML.
    var condition: (name: PropertyName, content: [UInt8])?
    /// For people.
    var sentence: String?
    var headers = HTTPFields()

    init(
        _ status: HTTPResponse.Status, _ condition: PropertyName? = nil, content: [UInt8] = [],
        _ sentence: String? = nil, headers: HTTPFields = HTTPFields()
    ) {
        (self.status, self.sentence, self.headers) = (status, sentence, headers)
        self.condition = condition.map { ($0, content) }
    }

    static func badRequest(_ sentence: String) -> DAVFault { DAVFault(.badRequest, sentence) }

    private init(_ status: HTTPResponse.Status, _ sentence: String) { self.init(status, nil, sentence) }

    static func forbidden(_ condition: PropertyName, _ sentence: String? = nil) -> DAVFault {
        DAVFault(.forbidden, condition, sentence)
    }

    static let missing = DAVFault(.notFound, "There is nothing at this address.")
    static let preconditionFailed = DAVFault(
        .preconditionFailed, "The resource is not the one that the request is meant for. Read it again.")

    static func notAllowed(_ allowed: String) -> DAVFault {
        DAVFault(.methodNotAllowed, nil, "This resource accepts \(allowed).", headers: [.allow: allowed])
    }

    /// RFC 3744 section 7.1.1.
    ///
    /// - Parameter href: what may not be written; nil where the address is a secret.
    static func needsPrivileges(_ href: String?, _ privilege: ByteString = "write") -> DAVFault {
        guard let href else { return .forbidden(.dav("need-privileges"), "This can be read here, but not changed.") }
        var content = Array("<D:resource><D:href>".utf8)
        XMLElement.write(href, to: &content)
        content += "</D:href><D:privilege><D:\(privilege)/></D:privilege></D:resource>".utf8
        return DAVFault(
            .forbidden, .dav("need-privileges"), content: content, "This can be read here, but not changed.")
    }

    var response: Response {
        var bytes = Array("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n".utf8)
        bytes += "<D:error\(PropertyName.declarations)>".utf8
        if let (name, content) = condition {
            let tags = name.tags
            bytes += content.isEmpty ? tags.empty : tags.start + content + tags.end
        }
        if let sentence {
            // Every element of the DAV namespace would be a condition; this is where other servers have their sentences.
            bytes += "<error-description xmlns=\"http://twistedmatrix.com/xml_namespace/dav/\">".utf8
            XMLElement.write(sentence, to: &bytes)
            bytes += "</error-description>".utf8
        }
        bytes += "</D:error>\n".utf8
        var headers = headers
        headers[.contentType] = "application/xml; charset=utf-8"
        headers[.cacheControl] = "no-store"
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

extension DAVFault {
    /// The reason why a collection refused a request.
    ///
    /// - Parameters:
    ///   - href: the address of the request.
    ///   - paths: how the addresses of other resources are made.
    ///   - user: whose collections they are.
    init(_ fault: CollectionFault, at href: String, _ paths: DAVPaths, user: String?) {
        switch fault {
        case .missing: self = .missing
        case .preconditionFailed: self = .preconditionFailed
        case .needsPrivileges: self = .needsPrivileges(href)
        case .uidConflict(let segment, let name):
            var content = Array("<D:href>".utf8)
            XMLElement.write(paths.href(.member(user: user ?? "", segment: segment, name: name)), to: &content)
            content += "</D:href>".utf8
            self.init(
                .forbidden, .caldav("no-uid-conflict"), content: content, "Another resource has this UID already.")
        case .invalidData(let sentence): self = .forbidden(.caldav("valid-calendar-data"), sentence.text)
        case .invalidObject(let sentence):
            self = .forbidden(.caldav("valid-calendar-object-resource"), sentence.text)
        case .unsupportedComponent:
            self = .forbidden(
                .caldav("supported-calendar-component"), "This calendar does not take components of this kind.")
        case .tooLarge(let limit): self = .tooLarge(limit)
        case .invalidSyncToken:
            self = .forbidden(
                .dav("valid-sync-token"), "The token is too old, or not of this calendar: read all of it again.")
        case .insufficientStorage(let sentence):
            self.init(.insufficientSpace, .dav("quota-not-exceeded"), sentence.text)
        case .exists:
            self.init(.methodNotAllowed, .dav("resource-must-be-null"), "There is something at this address already.")
        case .forbidden(let sentence): self.init(.forbidden, sentence.text)
        }
    }

    static func tooLarge(_ limit: Int) -> DAVFault {
        .forbidden(.caldav("max-resource-size"), "The resource may have at most \(limit) bytes.")
    }
}

extension HTTPResponse.Status {
    /// RFC 4918 sections 11.1, 11.4 and 11.5.
    static let severalStatuses = HTTPResponse.Status(code: 207, reasonPhrase: "Multi-Status")
    static let failedDependency = HTTPResponse.Status(code: 424, reasonPhrase: "Failed Dependency")
    static let insufficientSpace = HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
}
