package dev.tollgate.store;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs where the database failed in statements of the log, at most once a second. Messages of
 * exceptions are left out, because they may hold values of rows.
 */
final class FaultLog {
  private static final Logger LOG = LoggerFactory.getLogger(FaultLog.class);
  private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final int FRAMES = 12;

  private long loggedNanos = System.nanoTime() - INTERVAL_NANOS;

  void add(RuntimeException fault) {
    long now = System.nanoTime();
    if (now - loggedNanos >= INTERVAL_NANOS) {
      loggedNanos = now;
      Throwable first = fault;
      while (first.getCause() != null) {
        first = first.getCause();
      }
      LOG.warn(
          "a statement failed by a fault of the database: {} at {}",
          first.getClass().getName(),
          Arrays.stream(first.getStackTrace())
              .limit(FRAMES)
              .map(StackTraceElement::toString)
              .collect(Collectors.joining(" < ")));
    }
  }
}
