package dev.tollgate.history;

/**
 * One request as its client saw it.
 *
 * @param cell that it was for; requests that are for a lease alone say {@link #ALL}
 * @param sentNanos before it was sent
 * @param answeredNanos after its answer; without one, any time
 */
record CellCall(
    String client,
    int cell,
    CellRequest request,
    Answer answer,
    long sentNanos,
    long answeredNanos) {
  static final int ALL = -1;

  boolean isUnanswered() {
    return answer instanceof Answer.Unknown;
  }

  Operation<Cell> operation() {
    return new Operation<>(
        toString(),
        sentNanos,
        isUnanswered() ? Operation.NEVER : answeredNanos,
        state -> request.explain(state, answer));
  }

  @Override
  public String toString() {
    return client + ": " + request + " = " + answer;
  }
}
