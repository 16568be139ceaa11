// SPDX-License-Identifier: Apache-2.0

/// Returns a text as one path segment: all but the unreserved characters of RFC 3986 are percent-encoded.
package func pathComponent(_ text: String) -> String { PercentEncoding.encode(text) }
