package dev.tollgate.log;

/**
 * Who applies what the log has committed. All calls come from one thread at a time, in log order.
 */
public interface LogConsumer {
  /**
   * Applies an entry and tells the listeners of its proposals.
   *
   * @throws RuntimeException if the state is not to be trusted any more: the replica stops
   */
  void apply(long logIndex, Entry entry);

  /** This node leads from now on, and has applied all that earlier leaders committed. */
  void startedLeading(long term);

  /** This node does not lead any more. May come more than once, and from another thread. */
  void stoppedLeading();

  /** The log cannot go on, for this reason; nothing more will be applied. */
  void failed(Throwable cause);
}
