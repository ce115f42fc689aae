package dev.tollgate.node.scripts;

import dev.tollgate.core.command.Limits;
import java.time.Duration;

/**
 * What scripts may take of a node. A request takes one of the 32 threads of the admin address, of
 * which streams take 16: health and metrics have the rest. docs/http.md lists what a script sees.
 *
 * @param requests requests that are served at a time
 * @param requestsPerUser requests of one user that are served at a time, if the cluster has users
 * @param waits of these requests, those that wait for a lock
 * @param waitsPerUser of the waits, those of one user, if the cluster has users
 */
public record ScriptLimits(int requests, int requestsPerUser, int waits, int waitsPerUser) {
  /** The limits that nodes have. */
  public static final ScriptLimits STANDARD = new ScriptLimits(12, 8, 6, 4);

  /** The longest wait for a lock. */
  static final Duration WAIT = Duration.ofSeconds(30);

  /** The time for a statement if the request does not say. */
  static final Duration STATEMENT = Duration.ofSeconds(10);

  /** The longest time for a statement. */
  static final Duration STATEMENT_MOST = Duration.ofSeconds(30);

  /** How long a request waits for what the cluster does at once, as long as it has a leader. */
  static final Duration ANSWER = Duration.ofSeconds(10);

  /** How long a canceled statement has to end. */
  static final Duration CANCELED = Duration.ofSeconds(5);

  /** How long a session outlives its opening, which is never renewed: longer than it is used. */
  static final Duration SESSION = Duration.ofMinutes(2);

  /** For how long a session is used again, by requests for locks and leases. */
  static final Duration SESSION_USE = Duration.ofSeconds(45);

  /** Rows of a result if the request does not say. */
  static final int ROWS = 1_000;

  /** Most rows of a result. */
  static final int ROWS_MOST = 10_000;

  /** Characters of the rows of a result; further rows are left out. */
  static final int RESULT_CHARS = 2 << 20;

  /** Bytes of a row of a result, or of a page of small rows. */
  static final int ROW_BYTES = 1 << 20;

  /** Parameters of a statement. */
  static final int PARAMETERS = 10_000;

  /** Replies that a connection may have unread; there is one for each request. */
  static final int REPLIES = 64;

  /** Objects and arrays within each other in the body of a request. */
  static final int JSON_DEPTH = 8;

  /** Characters of a number in the body of a request. */
  static final int NUMBER_CHARS = 400;

  /** Leases and holders that one answer lists. */
  static final int LISTED = 1_000;

  /**
   * Characters of the name of a lock with its escapes, each of which has twelve for a character.
   */
  static final int NAME_CHARS = 12 * Limits.LOCK_NAME_CHARS;

  public ScriptLimits {
    if (requestsPerUser < 1
        || requests < requestsPerUser
        || waitsPerUser < 1
        || waits < waitsPerUser
        || waits > requests) {
      throw new IllegalArgumentException(
          requests
              + " requests, "
              + requestsPerUser
              + " of a user, "
              + waits
              + " waits, "
              + waitsPerUser
              + " of a user");
    }
  }
}
