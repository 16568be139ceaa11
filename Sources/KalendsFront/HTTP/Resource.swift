// SPDX-License-Identifier: Apache-2.0

import Crypto
import FeedTokens
import FoundationEssentials
import HTTPTypes
import Hummingbird

extension JSONValue {
    /// A strong entity tag of the resource as it is shown.
    var etag: String {
        get throws { entityTag(try serialized()) }
    }
}

/// A strong entity tag of bytes: a hash of them, so that equal bytes have equal tags.
func entityTag(_ bytes: [UInt8]) -> String {
    "\"" + ContentHash(of: SHA256.hash(data: bytes)).text + "\""
}

extension Response {
    /// A single resource with its tag; the status is 201 when it is new.
    static func resource(_ value: JSONValue, isNew: Bool = false, etag: String? = nil) throws -> Response {
        var headers = HTTPFields()
        headers[.eTag] = try etag ?? value.etag
        headers[.cacheControl] = "private, no-cache"
        return try .json(value, status: isNew ? .created : .ok, headers: headers)
    }

    /// A single resource that is read; the answer is 304 when the reader already has it.
    static func resource(_ value: JSONValue, for request: Request, etag: String? = nil) throws -> Response {
        let validators = Validators(etag: try etag ?? value.etag, lastModified: nil)
        if ConditionalGet.isNotModified(request.headers, validators) {
            var headers = validators.fields
            headers[.cacheControl] = "private, no-cache"
            return Response(status: .notModified, headers: headers)
        }
        return try .resource(value, etag: validators.etag)
    }
}
