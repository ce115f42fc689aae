package dev.tollgate.node.admin;

import java.time.Duration;

/**
 * What the console takes of a node.
 *
 * @param watchers pages that are kept up to date at a time; a further one is refused with 503
 * @param every least time between two looks at the state
 * @param patience how long a page waits for the first look
 * @param streamTime how long a page is kept up to date before its user has to log in anew, which a
 *     browser does by itself
 * @param ping longest time without a piece of a stream, by which a node learns that its client is
 *     gone
 * @param changeTime how long a change may take before its outcome is called unknown
 */
record ConsoleLimits(
    int watchers,
    Duration every,
    Duration patience,
    Duration streamTime,
    Duration ping,
    Duration changeTime) {
  /** The limits that nodes have. */
  static final ConsoleLimits STANDARD =
      new ConsoleLimits(
          8,
          Duration.ofMillis(500),
          Duration.ofSeconds(3),
          Duration.ofMinutes(10),
          Duration.ofSeconds(5),
          Duration.ofSeconds(10));

  /** A look or a page of rows that took this long is followed by a pause of 20 times that. */
  static final int PAUSES = 20;

  /** The longest pause after a look that took long. */
  static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

  /** A node that this one has not heard for so long is shown as unreachable. */
  static final Duration SILENCE = Duration.ofSeconds(3);

  /** Locks that one page shows. */
  static final int LOCKS = 200;

  /** Holders and waiting requests of one lock that a page shows, of each kind. */
  static final int OF_ONE_LOCK = 32;

  /** Holders and waiting requests of all locks that a page shows. */
  static final int HOLDS_AND_WAITS = 2_000;

  /** Locks that are shown of a request for several. */
  static final int TOGETHER = 8;

  /** Leases that a page shows. */
  static final int LEASES = 200;

  /** Changes that are under way at a time; a further one is refused with 503. */
  static final int CHANGES = 4;

  /** Bytes of the body of a change. */
  static final int CHANGE_BYTES = 4_096;

  ConsoleLimits {
    if (watchers < 1) {
      throw new IllegalArgumentException(watchers + " watchers");
    }
  }

  /** Pages of one user that are kept up to date at a time, where there are users. */
  int watchersPerUser() {
    return Math.max(1, watchers * 3 / 4);
  }
}
