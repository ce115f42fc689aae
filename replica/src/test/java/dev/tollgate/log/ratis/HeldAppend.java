package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.RatisInternals.field;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.util.MemoizedSupplier;

/**
 * Holds what a leader has a node append next, between the moment at which Ratis has compared the
 * terms and the moment at which its log gets the entries. Puts another log in the place of Ratis'
 * own.
 */
final class HeldAppend implements AutoCloseable {
  private final AtomicBoolean first = new AtomicBoolean(true);
  private final CountDownLatch held = new CountDownLatch(1);
  private final CountDownLatch released = new CountDownLatch(1);
  private final Object place;
  private final Field value;
  private final RaftLog log;

  HeldAppend(RaftServer.Division division) throws ReflectiveOperationException {
    log = division.getRaftLog();
    Object state = field(division.getClass(), "state").get(division);
    place = field(state.getClass(), "log").get(state);
    value = field(MemoizedSupplier.class.getSuperclass(), "value");
    value.set(
        place,
        Proxy.newProxyInstance(
            RaftLog.class.getClassLoader(),
            new Class<?>[] {RaftLog.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("append")
                  && arguments[0] instanceof List
                  && first.getAndSet(false)) {
                held.countDown();
                released.await();
              }
              method.setAccessible(true);
              try {
                return method.invoke(log, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }

  void awaitHeld() throws InterruptedException {
    if (!held.await(LoneFollower.DEADLINE.toSeconds(), TimeUnit.SECONDS)) {
      throw new AssertionError("nothing is appended");
    }
  }

  @Override
  public void close() throws ReflectiveOperationException {
    value.set(place, log);
    released.countDown();
  }
}
