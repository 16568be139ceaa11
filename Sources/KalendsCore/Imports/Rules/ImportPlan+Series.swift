// SPDX-License-Identifier: Apache-2.0

import Storage

/// How large an event may become with all of its components, which feeds, exports and calendar apps read together.
extension ImportPlan {
    /// Counts a changed occurrence; returns false if its series would have too many, or too many bytes of them.
    mutating func takesOccurrence(
        _ new: ImportedEventRecord, insteadOf old: ImportedEventRecord?
    ) -> Bool {
        var usage = occurrences[new.key.uid] ?? Usage()
        let (count, bytes) = (old == nil ? 1 : 0, new.content.utf8.count - (old?.content.utf8.count ?? 0))
        (usage.count, usage.bytes) = (usage.count + count, usage.bytes + bytes)
        let most = limits.occurrences
        guard count == 0 && bytes <= 0 || usage.count <= most.count && usage.bytes <= most.bytes else { return false }
        occurrences[new.key.uid] = usage
        return true
    }
}
