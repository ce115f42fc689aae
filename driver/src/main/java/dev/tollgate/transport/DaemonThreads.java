package dev.tollgate.transport;

/** All threads of the driver. None keeps a process from ending. */
public final class DaemonThreads {
  private DaemonThreads() {}

  /**
   * A thread that serves whoever needs it: it keeps nothing of the application that happens to need
   * it first, neither its class loader nor its inheritable thread locals.
   */
  public static Thread serving(Runnable work, String name) {
    Thread thread = new Thread(null, work, name, 0, /* inheritThreadLocals= */ false);
    thread.setDaemon(true);
    thread.setContextClassLoader(null);
    return thread;
  }

  /** A thread for code of the application that starts it, and which ends with that code. */
  public static Thread of(Runnable code, String name) {
    Thread thread = new Thread(code, name);
    thread.setDaemon(true);
    return thread;
  }
}
