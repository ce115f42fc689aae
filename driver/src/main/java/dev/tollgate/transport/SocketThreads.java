package dev.tollgate.transport;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Keeps interrupts away from sockets. The JDK closes a socket when a virtual thread that waits in
 * it is interrupted ({@link java.net.Socket#getInputStream}, since Java 19), and with the socket
 * the session would lose its node. So virtual threads have their I/O done by platform threads,
 * which no caller can interrupt. Platform threads do their own.
 *
 * <p>There are as many of these threads as virtual threads are within a socket at a time: at most
 * one for each connection of the process. An idle one ends after ten seconds.
 */
final class SocketThreads {
  /** Something that reads or writes a socket. */
  interface Work<T> {
    T run() throws IOException;
  }

  private static final long IDLE_SECONDS = 10;

  /** {@code Thread.isVirtual}, which Java 17 does not have: then no thread is. */
  private static final @Nullable MethodHandle IS_VIRTUAL = isVirtualMethod();

  private static final ThreadPoolExecutor THREADS =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          SocketThreads::thread);

  private SocketThreads() {}

  /**
   * Does the work, and returns when it is done, whether or not the caller is interrupted meanwhile.
   * The caller's interrupt stays set.
   */
  static <T> T run(Work<T> work) throws IOException {
    if (!isVirtual(Thread.currentThread())) {
      return work.run();
    }
    FutureTask<T> task = new FutureTask<>(work::run);
    THREADS.execute(task);
    try {
      return PatientWait.forAnswer(task::get);
    } catch (ExecutionException e) {
      throw thrownBy(e.getCause());
    }
  }

  private static IOException thrownBy(@Nullable Throwable cause) {
    if (cause instanceof IOException e) {
      return e;
    }
    if (cause instanceof RuntimeException e) {
      throw e;
    }
    if (cause instanceof Error e) {
      throw e;
    }
    throw new IllegalStateException(cause);
  }

  private static Thread thread(Runnable work) {
    return DaemonThreads.serving(work, "tollgate-socket");
  }

  private static boolean isVirtual(Thread thread) {
    try {
      return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invokeExact(thread);
    } catch (Throwable e) {
      throw new IllegalStateException("Thread.isVirtual throws nothing", e);
    }
  }

  private static @Nullable MethodHandle isVirtualMethod() {
    try {
      return MethodHandles.publicLookup()
          .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
    } catch (NoSuchMethodException e) {
      return null;
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }
}
