// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import ICalBridge
import KalendsCore
import KalendsFront
import NIOCore

extension Exchange {
    /// GET and HEAD: a resource's text with the tag of exactly these bytes.
    func get() async throws -> Response {
        switch address {
        case .member(_, _, let name), .feedMember(let name): return try await get(name.string)
        default:
            _ = try await subject()
            // A browser asks for this, and so does a client that checks whether a server answers.
            return Response(
                status: .ok,
                headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: Self.about)))
        }
    }

    /// The answer to GET on a collection.
    static let about = "This is an address for calendar apps, which use CalDAV.\n"

    private func get(_ name: String) async throws -> Response {
        guard let place,
            let resource = try await place.source.resources(of: place.collection, named: [name], room: room).first
                ?? nil
        else { throw DAVFault.missing }
        let member = resource.member
        let validators = Validators(
            etag: "\"\(member.etag)\"", lastModified: Instant(seconds: member.modified))
        guard ConditionalGet.isMeant(request.headers, for: validators) else { throw DAVFault.preconditionFailed }
        var headers = validators.fields
        headers[.cacheControl] = "private, no-cache"
        guard !ConditionalGet.isNotModified(request.headers, validators) else {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = member.contentType
        let text = try resource.text.get()
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: text)))
    }

    /// Answers a write with the resource as it is now, which saves a client that prefers it a GET (RFC 8144 section
    /// 2.2); nil if nothing is there.
    func representation(of name: String, status: HTTPResponse.Status) async throws -> Response? {
        guard let place,
            let resource = try await place.source.resources(of: place.collection, named: [name], room: room).first
                ?? nil
        else { return nil }
        let text = try resource.text.get()
        return Response(
            status: status,
            headers: [
                .eTag: "\"\(resource.member.etag)\"", .contentType: resource.member.contentType,
                .contentLocation: href, .cacheControl: "no-store", .preferenceApplied: "return=representation",
            ], body: ResponseBody(byteBuffer: ByteBuffer(bytes: text)))
    }
}
