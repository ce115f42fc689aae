package dev.tollgate.samples.torture.history;

import static java.util.Objects.requireNonNull;

/**
 * One call of a client.
 *
 * @param client a process and its life: a client that is started again has another name
 * @param number of this call among those of its client
 * @param resource the register and the lock of the call
 * @param token the token that is presented or released; 0 if there is none
 * @param sequence the sequence number that is written; 0 if nothing is written
 * @param returnedNanos {@link Long#MAX_VALUE} if no answer came before the client ended
 * @param value what came back; 0 if nothing did
 * @param state SQLSTATE of the failure, or empty
 */
public record Operation(
    String client,
    int number,
    Action action,
    String resource,
    long token,
    long sequence,
    long invokedNanos,
    long returnedNanos,
    Outcome outcome,
    long value,
    String state) {

  public Operation {
    requireNonNull(client, "client");
    requireNonNull(resource, "resource");
    if (returnedNanos < invokedNanos) {
      throw new IllegalArgumentException(client + " " + number + " returned before it was invoked");
    }
  }

  /** An operation that has not been answered yet. */
  static Operation invoked(
      String client,
      int number,
      Action action,
      String resource,
      long token,
      long sequence,
      long nanos) {
    return new Operation(
        client,
        number,
        action,
        resource,
        token,
        sequence,
        nanos,
        Long.MAX_VALUE,
        Outcome.UNKNOWN,
        0,
        "");
  }

  Operation returned(long nanos, Outcome how, long answer, String failure) {
    return new Operation(
        client,
        number,
        action,
        resource,
        token,
        sequence,
        invokedNanos,
        nanos,
        how,
        answer,
        failure);
  }

  public boolean is(Action wanted, Outcome how) {
    return action == wanted && outcome == how;
  }

  /** Whether an answer came. */
  public boolean hasReturned() {
    return returnedNanos != Long.MAX_VALUE;
  }

  /** The name of the operation for a reader: {@code c3#17 WRITE of alpha under 42}. */
  String name() {
    return client
        + "#"
        + number
        + " "
        + action
        + (resource.isEmpty() ? "" : " of " + resource)
        + (token == 0 ? "" : " under " + token);
  }
}
