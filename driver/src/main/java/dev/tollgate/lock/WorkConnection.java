package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.transport.PatientWait;
import dev.tollgate.wire.SqlState;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLClientInfoException;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The connection of one work. The work gets a proxy, and proxies for what it makes with it. All of
 * them are closed when the work has ended, so a thread that the work left behind reaches neither
 * the session nor the pool. Thread-safe.
 */
final class WorkConnection {
  /** How long a call that the work left behind may take. */
  static final Duration FAREWELL = Duration.ofSeconds(2);

  private final String work;
  private final Connection real;
  private final Connection lent;
  private final ReentrantLock state = new ReentrantLock();
  private final Condition calledBack = state.newCondition();
  private int underWay;
  private boolean ended;
  private boolean closedByWork;
  private boolean unwrapped;
  private @Nullable SQLException refusal;

  /**
   * @param work for messages
   */
  WorkConnection(String work, Connection real) {
    this.work = requireNonNull(work, "work");
    this.real = requireNonNull(real, "real");
    this.lent = (Connection) proxy(Connection.class, new Part(real, null));
  }

  private static Object proxy(Class<?> type, Part part) {
    return Proxy.newProxyInstance(
        WorkConnection.class.getClassLoader(), new Class<?>[] {type}, part);
  }

  /** What the work gets. */
  Connection lent() {
    return lent;
  }

  /**
   * The work has returned: from now on it makes no calls. Waits for those that are under way.
   *
   * @throws SQLException if the work has closed its connection, or if a call takes longer than
   *     {@link #FAREWELL}
   */
  void end() throws SQLException {
    if (!cut()) {
      throw new SQLException(
          work
              + " has returned, and a call that it left behind on its connection was not answered"
              + " within "
              + FAREWELL.toSeconds()
              + " s, so nothing is committed: have the work wait for its threads",
          SqlState.CANCELLED.state(),
          SqlState.CANCELLED.vendorCode());
    }
    if (isClosedByWork()) {
      throw new SQLException(
          work + " has closed its connection, so nothing is committed: leave the connection open",
          SqlState.SESSION_GONE.state(),
          SqlState.SESSION_GONE.vendorCode());
    }
  }

  /** As {@link #end}; returns false if a call is still under way. */
  boolean cut() {
    state.lock();
    try {
      ended = true;
    } finally {
      state.unlock();
    }
    return PatientWait.until(System.nanoTime() + FAREWELL.toNanos(), this::awaitCalls);
  }

  private boolean awaitCalls(long nanos) throws InterruptedException {
    state.lock();
    try {
      long left = nanos;
      while (underWay > 0) {
        if (left <= 0) {
          return false;
        }
        left = calledBack.awaitNanos(left);
      }
      return true;
    } finally {
      state.unlock();
    }
  }

  private boolean isClosedByWork() {
    state.lock();
    try {
      return closedByWork;
    } finally {
      state.unlock();
    }
  }

  /** True if the work may have what is behind the proxies, which does not end with the work. */
  boolean isUnwrapped() {
    state.lock();
    try {
      return unwrapped;
    } finally {
      state.unlock();
    }
  }

  /** The first refusal of a token that a call of the work got, whatever the work made of it. */
  @Nullable SQLException refusal() {
    state.lock();
    try {
      return refusal;
    } finally {
      state.unlock();
    }
  }

  private boolean hasEnded() {
    state.lock();
    try {
      return ended;
    } finally {
      state.unlock();
    }
  }

  private void closeByWork() {
    state.lock();
    try {
      closedByWork |= !ended;
      ended = true;
    } finally {
      state.unlock();
    }
  }

  private void beginCall(Method method) throws SQLException {
    state.lock();
    try {
      if (ended) {
        throw closed(method);
      }
      underWay++;
    } finally {
      state.unlock();
    }
  }

  private void endCall() {
    state.lock();
    try {
      underWay--;
      calledBack.signalAll();
    } finally {
      state.unlock();
    }
  }

  private void noteUnwrapped() {
    state.lock();
    try {
      unwrapped = true;
    } finally {
      state.unlock();
    }
  }

  private void noteFailure(Throwable failure) {
    SQLException refused = RefusedToken.in(failure);
    state.lock();
    try {
      if (refusal == null) {
        refusal = refused;
      }
    } finally {
      state.unlock();
    }
  }

  private SQLException closed(Method method) {
    String message =
        work + " has ended, and its connection with it: " + method.getName() + " did nothing";
    SqlState gone = SqlState.SESSION_GONE;
    return method.getName().equals("setClientInfo")
        ? new SQLClientInfoException(message, gone.state(), gone.vendorCode(), Map.of())
        : new SQLException(message, gone.state(), gone.vendorCode());
  }

  private record Made(Object real, Object proxy) {}

  /** The connection, or an object that was made with it. */
  private final class Part implements InvocationHandler {
    private final Object object;
    private final @Nullable Object maker;

    /** A statement gives the same result more than once. */
    private volatile @Nullable Made last;

    Part(Object object, @Nullable Object maker) {
      this.object = object;
      this.maker = maker;
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments)
        throws Throwable {
      Object first = arguments == null || arguments.length == 0 ? null : arguments[0];
      return switch (method.getName()) {
        case "equals" -> proxy == first;
        case "hashCode" -> System.identityHashCode(proxy);
        case "toString" -> work + ": " + object;
        case "isClosed" -> hasEnded() || (boolean) requireNonNull(pass(method, arguments));
        case "isValid" -> !hasEnded() && (boolean) requireNonNull(pass(method, arguments));
        case "close", "abort" -> close(method, arguments);
        case "isWrapperFor" ->
            isTypeOf(proxy, first) || (boolean) requireNonNull(pass(method, arguments));
        case "unwrap" -> isTypeOf(proxy, first) ? proxy : unwrap(method, arguments);
        default -> covered(proxy, pass(method, arguments));
      };
    }

    private static boolean isTypeOf(Object proxy, @Nullable Object type) {
      return type instanceof Class<?> wanted && wanted.isInstance(proxy);
    }

    private @Nullable Object close(Method method, Object @Nullable [] arguments) throws Throwable {
      if (object == real && method.getName().equals("close")) {
        closeByWork();
      } else if (!hasEnded()) {
        pass(method, arguments);
      }
      return null;
    }

    private @Nullable Object unwrap(Method method, Object @Nullable [] arguments) throws Throwable {
      noteUnwrapped();
      return pass(method, arguments);
    }

    private @Nullable Object pass(Method method, Object @Nullable [] arguments) throws Throwable {
      beginCall(method);
      try {
        return method.invoke(object, arguments);
      } catch (InvocationTargetException e) {
        Throwable failure = e.getCause() == null ? e : e.getCause();
        noteFailure(failure);
        throw failure;
      } finally {
        endCall();
      }
    }

    /** Hides what belongs to the session behind a proxy. */
    private @Nullable Object covered(Object proxy, @Nullable Object answer) {
      if (answer instanceof Connection) {
        return lent;
      }
      Class<?> type = coveredType(answer);
      if (answer == null || type == null) {
        return answer;
      }
      if (object instanceof ResultSet
          && answer instanceof Statement
          && maker instanceof Statement) {
        return maker;
      }
      Made made = last;
      if (made == null || made.real != answer) {
        made = new Made(answer, proxy(type, new Part(answer, proxy)));
        last = made;
      }
      return made.proxy;
    }

    private static @Nullable Class<?> coveredType(@Nullable Object answer) {
      if (answer instanceof CallableStatement) {
        return CallableStatement.class;
      }
      if (answer instanceof PreparedStatement) {
        return PreparedStatement.class;
      }
      if (answer instanceof Statement) {
        return Statement.class;
      }
      if (answer instanceof ResultSet) {
        return ResultSet.class;
      }
      return answer instanceof DatabaseMetaData ? DatabaseMetaData.class : null;
    }
  }
}
