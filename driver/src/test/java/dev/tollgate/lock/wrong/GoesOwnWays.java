package dev.tollgate.lock.wrong;

/** Breaks the rules of ArchitectureTest for what runs code of the application. */
public final class GoesOwnWays {
  private GoesOwnWays() {}

  static Thread thread() {
    Thread thread = new Thread(() -> System.getLogger("dev.tollgate.lock"));
    thread.interrupt();
    return thread;
  }
}
