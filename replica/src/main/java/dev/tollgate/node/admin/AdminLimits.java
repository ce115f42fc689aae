package dev.tollgate.node.admin;

import java.time.Duration;

/**
 * What the admin address takes of a node. Its users are few, and its port is a door all the same:
 * every bound is small, and docs/operations.md lists what happens beyond.
 *
 * @param threads requests that are served at a time; further ones wait for a thread
 * @param streams answers without an end that are sent at a time, each on one of these threads; a
 *     further one is refused with 503
 * @param requestBytes bytes of the body of a request; a longer one is refused with 413
 * @param bodyTime how long a client may take to send the body of a request
 * @param answerTime how long a client may take to read an answer
 * @param streamTime how long a client may take to read one piece of an answer without an end
 */
public record AdminLimits(
    int threads,
    int streams,
    int requestBytes,
    Duration bodyTime,
    Duration answerTime,
    Duration streamTime) {
  /** The limits that nodes have. */
  public static final AdminLimits STANDARD =
      new AdminLimits(
          32, 16, 1 << 20, Duration.ofSeconds(10), Duration.ofSeconds(30), Duration.ofSeconds(10));

  /** How long a client may take to read an error, and to send what the node does not read. */
  private static final Duration ERROR_TIME = Duration.ofSeconds(2);

  /** Connections, idle ones among them; a further one is closed. */
  static final int CONNECTIONS = 64;

  /** How long a client may take to send the head of a request, and connections may be idle. */
  static final int SILENCE_SECONDS = 10;

  /** Headers of a request, those of one name together. */
  static final int HEADERS = 50;

  /** Bytes of the head of a request. */
  static final int HEAD_BYTES = 16 << 10;

  /** Members of the cluster whose lag has a label of its own. */
  static final int LABELED_MEMBERS = 32;

  /** Frames of a thread that a dump shows. */
  static final int FRAMES = 64;

  /** Characters of a dump of all threads; beyond that it ends, and says so. */
  static final int DUMP_CHARS = 4 << 20;

  /** Characters of a user and a password together. */
  static final int LOGIN_CHARS = 1_024;

  public AdminLimits {
    if (threads < 1 || streams < 0 || streams >= threads || requestBytes < 0) {
      throw new IllegalArgumentException(
          threads + " threads, " + streams + " streams, " + requestBytes + " bytes");
    }
  }

  /** How long a client may take to read an error, which is short. */
  Duration errorTime() {
    return ERROR_TIME.compareTo(answerTime) < 0 ? ERROR_TIME : answerTime;
  }
}
