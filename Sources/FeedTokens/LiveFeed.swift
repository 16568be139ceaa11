// SPDX-License-Identifier: Apache-2.0

public import Storage

/// A feed that may be read, with what its validators depend on; it is made without reading events or configuration.
public struct LiveFeed: Hashable, Sendable {
    /// The number under which its accesses are counted; no other feed ever has it.
    public var number: Int
    public var version: FeedVersion
    /// The last change of the circle, of the feed's configuration or of its notice, in milliseconds since 1970.
    public var changedAt: Int
    /// What this version last showed as iCalendar; nil when that is not remembered.
    public var shown: ShownFeed?

    public init(_ feed: Feed, _ circle: Circle, notice: GraceNotice? = nil, shown: ShownFeed? = nil) {
        number = feed.number
        version = FeedVersion(feed, circle, notice: notice)
        changedAt = max(
            circle.changedAt, feed.configChangedAt, feed.ownChangedAt, notice?.changedAt ?? .min)
        self.shown = shown
    }

    init(number: Int, version: FeedVersion, changedAt: Int, shown: ShownFeed?) {
        self.number = number
        self.version = version
        self.changedAt = changedAt
        self.shown = shown
    }
}

/// The stored state that, together with the day, determines a feed's bytes.
///
/// A feed has another version under a replaced token than under its current token, because it announces the token's
/// end.
public struct FeedVersion: Hashable, Sendable {
    /// The version of the circle that the feed shows.
    public var circleVersion: Int
    var configChangedAt: Int
    var sequenceOffset: Int
    /// The version of the owner's entries that only this feed shows.
    var ownVersion = 0
    /// The notice that is shown because the token was replaced; each token has its own.
    public let notice: GraceNotice?
}

extension FeedVersion {
    public init(_ feed: Feed, _ circle: Circle, notice: GraceNotice? = nil) {
        self.init(
            circleVersion: circle.version, configChangedAt: feed.configChangedAt, sequenceOffset: feed.sequenceOffset,
            ownVersion: feed.ownVersion, notice: notice)
    }
}

/// The hash and size of a feed's bytes on one day of its circle.
public struct ShownFeed: Hashable, Sendable {
    public var hash: ContentHash
    /// The first millisecond of the day at which the feed's window is placed, and the first of the day after.
    public var from: Int
    public var until: Int
    /// The size in bytes.
    public var size: Int

    public init(hash: ContentHash, from: Int, until: Int, size: Int) {
        self.hash = hash
        self.from = from
        self.until = until
        self.size = size
    }

    public func holds(at now: Int) -> Bool { from <= now && now < until }
}
