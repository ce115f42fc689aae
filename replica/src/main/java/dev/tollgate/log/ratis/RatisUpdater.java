package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.RatisInternals.field;
import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.log.ApplyThread;
import java.io.IOException;
import java.lang.reflect.Field;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.RaftLog;
import org.jspecify.annotations.Nullable;

/**
 * The part of Ratis that applies the log (StateMachineUpdater), whose thread needs a large stack
 * and an end, and which can load one snapshot at a time.
 *
 * <p>The stack is the one of {@link ApplyThread}, so that no entry has to change threads (ADR
 * 0032). The end is needed once an entry could not be applied (ADR 0056): Ratis then closes its
 * server, which ends the thread; but where another thread closes the server already, that thread
 * waits until all committed entries are applied, and the updater runs in a circle for ever.
 *
 * <p>Ratis 3.3.0 offers no way to either, so this class reaches into it. Safe for use by several
 * threads.
 */
final class RatisUpdater {
  /** The name of Ratis' state between a snapshot that was taken over and its loading. */
  private static final String LOADING = "RELOAD";

  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** Where Ratis reads the index behind which it applies nothing; null until it has an updater. */
  private volatile @Nullable AtomicReference<Long> stopIndex;

  /** Returns true while a snapshot that was taken over is to be loaded. */
  private volatile BooleanSupplier loading = () -> false;

  /**
   * Makes a server that has not opened its log yet apply the log with a large stack.
   *
   * @throws IllegalStateException now, or when the server opens its log, if this Ratis is not the
   *     version that this class was written for
   */
  void install(RaftServer server, RaftGroupId group) throws IOException {
    Object division = server.getDivision(group);
    try {
      Object state = field(division.getClass(), "state").get(division);
      RatisInternals.whenMade(state, "stateMachineUpdater", this::adapted);
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw foreign(e);
    }
  }

  @SuppressWarnings("unchecked") // a field of Ratis
  private Object adapted(Object updater) {
    try {
      stopIndex = (AtomicReference<Long>) field(updater.getClass(), "stopIndex").get(updater);
      Field state = field(updater.getClass(), "state");
      loading = () -> LOADING.equals(String.valueOf(valueOf(state, updater)));
      Field field = field(updater.getClass(), "updater");
      Thread shallow = (Thread) field.get(updater);
      field.set(
          updater,
          ApplyThread.deep(shallow.getThreadGroup(), (Runnable) updater, shallow.getName()));
      return updater;
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw foreign(e);
    }
  }

  private static Object valueOf(Field field, Object owner) {
    try {
      return field.get(owner);
    } catch (IllegalAccessException e) {
      throw foreign(e);
    }
  }

  /**
   * Waits until the updater has loaded the snapshot that was taken over last. If another one were
   * taken over meanwhile, the updater would forget it when it has loaded the first, and would then
   * wait for ever for entries that the second has made obsolete. Such a node could even be elected.
   *
   * @param end on the clock of {@link System#nanoTime}
   * @throws IOException if that takes longer
   */
  void awaitLoaded(long end) throws IOException {
    while (loading.getAsBoolean()) {
      if (System.nanoTime() - end > 0) {
        throw new IOException("the snapshot that was taken over before is still being loaded");
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }

  /** Makes the updater end when it has met the exception of the entry that it applies now. */
  void end() {
    requireNonNull(stopIndex, "an entry is applied by an updater").set(RaftLog.INVALID_LOG_INDEX);
  }

  private static IllegalStateException foreign(Exception cause) {
    return new IllegalStateException(
        "this Ratis applies its log otherwise than the one that Tollgate was written for, and"
            + " statements need a stack of "
            + (Limits.APPLY_STACK_BYTES >> 20)
            + " MiB",
        cause);
  }
}
