package dev.tollgate.lock;

import org.jspecify.annotations.Nullable;

/**
 * The context class loader of the thread that makes this, for code of the application that runs
 * later on a thread of the client, which has none.
 */
final class CallerLoader {
  private final @Nullable ClassLoader loader = Thread.currentThread().getContextClassLoader();

  void run(Runnable code) {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(loader);
    try {
      code.run();
    } finally {
      thread.setContextClassLoader(before);
    }
  }
}
