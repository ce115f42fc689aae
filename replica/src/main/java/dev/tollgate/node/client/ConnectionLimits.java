package dev.tollgate.node.client;

/**
 * What a node allows connections of clients. The defaults are beyond what honest programs do;
 * {@code tollgate server} has an option for each but {@link #queriesAtOnce}.
 *
 * @param strangers connections that have not said hello; beyond that, a new one replaces one of the
 *     address that has the most, the oldest
 * @param silenceMillis how long a connection may take to say hello, and how long a request that has
 *     begun may bring nothing
 * @param perUser connections of one user; 0 for as many as the node accepts
 * @param statementsPerSecond statements of one connection in a second, and in one burst; 0 for any
 *     number
 * @param queriesAtOnce queries of one connection that may run at a time, and as many of its plans
 *     and calls; further ones of the connection wait
 */
public record ConnectionLimits(
    int strangers, long silenceMillis, int perUser, int statementsPerSecond, int queriesAtOnce) {
  /** The limits that nodes have by default. */
  public static final ConnectionLimits STANDARD = new ConnectionLimits(2_000, 10_000, 0, 0, 4);

  public ConnectionLimits {
    if (strangers < 1
        || silenceMillis < 1
        || perUser < 0
        || statementsPerSecond < 0
        || queriesAtOnce < 1) {
      throw new IllegalArgumentException(
          "strangers "
              + strangers
              + ", silence "
              + silenceMillis
              + " ms, per user "
              + perUser
              + ", statements a second "
              + statementsPerSecond
              + ", queries at once "
              + queriesAtOnce);
    }
  }
}
