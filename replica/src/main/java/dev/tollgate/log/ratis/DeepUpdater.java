package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.RatisInternals.field;

import dev.tollgate.core.command.Limits;
import dev.tollgate.log.ApplyThread;
import java.io.IOException;
import java.lang.reflect.Field;
import java.util.function.Supplier;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.util.MemoizedSupplier;

/**
 * Gives the thread with which Ratis applies the log the stack of {@link ApplyThread}, so that no
 * entry has to change threads: docs/adr/0032.
 *
 * <p>Ratis 3.3.0 creates that thread (StateMachineUpdater) with the default stack of the process,
 * and offers no way to replace the thread. So this class reaches into Ratis.
 */
final class DeepUpdater {
  private DeepUpdater() {}

  /**
   * Makes a server that has not opened its log yet apply the log with a large stack.
   *
   * @throws IllegalStateException if this Ratis is not the version that this class was written for
   */
  static void install(RaftServer server, RaftGroupId group) throws IOException {
    Object division = server.getDivision(group);
    try {
      Object state = field(division.getClass(), "state").get(division);
      Object memoized = field(state.getClass(), "stateMachineUpdater").get(state);
      Field initializer = field(MemoizedSupplier.class, "initializer");
      Supplier<?> original = (Supplier<?>) initializer.get(memoized);
      initializer.set(memoized, (Supplier<Object>) () -> deepened(original.get()));
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw foreign(e);
    }
  }

  private static Object deepened(Object updater) {
    try {
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

  private static IllegalStateException foreign(Exception cause) {
    return new IllegalStateException(
        "this Ratis applies its log otherwise than the one that Tollgate was written for, and"
            + " statements need a stack of "
            + (Limits.APPLY_STACK_BYTES >> 20)
            + " MiB",
        cause);
  }
}
