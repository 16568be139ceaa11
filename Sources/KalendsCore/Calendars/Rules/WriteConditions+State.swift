// SPDX-License-Identifier: Apache-2.0

extension WriteConditions {
    /// Whether a resource is as the request expects it (RFC 9110 section 13.1).
    ///
    /// - Parameter etag: nil if there is no such resource.
    func allow(_ etag: String?) -> Bool {
        guard let etag else { return ifMatch == nil && !needsExisting }
        if let ifMatch, !ifMatch.contains(where: { $0.isSameText(as: etag) }) { return false }
        return !needsAbsence && !ifNoneMatch.contains { $0.isSameText(as: etag) }
    }
}
