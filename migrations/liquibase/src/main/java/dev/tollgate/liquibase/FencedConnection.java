package dev.tollgate.liquibase;

import static java.util.Objects.requireNonNull;

import dev.tollgate.migrations.Dialect;
import dev.tollgate.migrations.FenceRow;
import dev.tollgate.migrations.MigrationException;
import dev.tollgate.migrations.MigrationLock;
import dev.tollgate.migrations.SqlStatement;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLNonTransientException;
import java.sql.Statement;
import java.util.Set;
import liquibase.Scope;
import org.jspecify.annotations.Nullable;

/**
 * A connection on which no transaction begins, and none commits, unless the lock is held. The fence
 * is at the connection and not at Liquibase's listeners, because changes in Java, and Liquibase's
 * own rows, pass by the listeners.
 *
 * <p>Liquibase commits a change set, and then its row in DATABASECHANGELOG. Here the first commit
 * waits for the second, so that both or neither are there after the death of the runner.
 *
 * <p>In autocommit, and where definitions commit, each statement is preceded by a check and no
 * more.
 */
final class FencedConnection {
  private static final String STALE = "23T01";

  private final Connection real;
  private final MigrationLock lock;
  private final FenceRow row;
  private final Connection fenced;
  private final boolean definitionsCommit;
  private final Dialect dialect;

  /** True if the open transaction has raised the row, and so keeps later holders waiting. */
  private boolean raised;

  /** True until the commit of the change set under way. */
  private boolean commitWaits;

  FencedConnection(Connection real, MigrationLock lock, FenceRow row) throws SQLException {
    this.real = requireNonNull(real, "real");
    this.lock = requireNonNull(lock, "lock");
    this.row = requireNonNull(row, "row");
    this.definitionsCommit = real.getMetaData().dataDefinitionCausesTransactionCommit();
    this.dialect = Dialect.of(real);
    this.fenced = proxy(Connection.class, (method, arguments) -> onConnection(method, arguments));
  }

  Connection connection() {
    return fenced;
  }

  /** The next commit is left to the one behind it. */
  void leaveNextCommit() {
    commitWaits = true;
  }

  /** The next commit commits. */
  void leaveNoCommit() {
    commitWaits = false;
  }

  private interface Handler {
    @Nullable Object handle(Method method, @Nullable Object @Nullable [] arguments)
        throws Throwable;
  }

  private static <T> T proxy(Class<T> type, Handler handler) {
    return type.cast(
        Proxy.newProxyInstance(
            FencedConnection.class.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> handler.handle(method, arguments)));
  }

  private @Nullable Object onConnection(Method method, @Nullable Object @Nullable [] arguments)
      throws Throwable {
    String name = method.getName();
    switch (name) {
      case "equals" -> {
        return arguments != null && (arguments[0] == fenced || real.equals(arguments[0]));
      }
      case "commit" -> {
        if (commitWaits) {
          commitWaits = false;
          return null;
        }
        confirm();
      }
      case "setAutoCommit" -> confirm();
      case "setSavepoint", "unwrap" -> raise();
      default -> {}
    }
    Object result = call(real, method, arguments);
    if (Set.of("commit", "rollback", "setAutoCommit").contains(name)) {
      raised = false;
    }
    return result instanceof Statement statement
        ? statement(statement, firstText(arguments))
        : result;
  }

  private Statement statement(Statement statement, String text) {
    Handler handler = (method, arguments) -> onStatement(statement, text, method, arguments);
    if (statement instanceof CallableStatement) {
      return proxy(CallableStatement.class, handler);
    }
    return statement instanceof PreparedStatement
        ? proxy(PreparedStatement.class, handler)
        : proxy(Statement.class, handler);
  }

  private @Nullable Object onStatement(
      Statement statement, String prepared, Method method, @Nullable Object @Nullable [] arguments)
      throws Throwable {
    String name = method.getName();
    if (name.equals("getConnection")) {
      return fenced;
    }
    if (!name.startsWith("execute")) {
      return call(statement, method, arguments);
    }
    SqlStatement sent =
        SqlStatement.of(prepared.isEmpty() ? firstText(arguments) : prepared, dialect);
    boolean control = sent.controlsTransaction();
    if (control) {
      confirm();
    } else if (!sent.concernsSessionAlone()) {
      raise();
    }
    Object result = call(statement, method, arguments);
    if (control) {
      raised = false;
    }
    return result;
  }

  private static String firstText(@Nullable Object @Nullable [] arguments) {
    return arguments != null && arguments.length > 0 && arguments[0] instanceof String text
        ? text
        : "";
  }

  /**
   * Before the first statement of a transaction, and before each one outside a transaction. A
   * definition may have ended the transaction unseen where definitions commit.
   */
  private void raise() throws SQLException {
    boolean transaction = !real.getAutoCommit();
    if (transaction && raised && !definitionsCommit) {
      return;
    }
    try {
      lock.assertHeld();
      row.raise(real);
      raised = transaction;
    } catch (MigrationException e) {
      throw refusal("the change was not made", e);
    }
  }

  /** A transaction that has done nothing commits without asking. */
  private void confirm() throws SQLException {
    if (!raised) {
      return;
    }
    try {
      if (definitionsCommit && !real.getAutoCommit()) {
        row.raise(real);
      }
      lock.assertHeld();
    } catch (MigrationException e) {
      throw refusal("the transaction was not committed", e);
    }
  }

  /** Logged here too: Liquibase may report what fails next on a connection that was closed. */
  private static SQLException refusal(String what, MigrationException why) {
    String message = what + ": " + why.getMessage();
    Scope.getCurrentScope().getLog(FencedConnection.class).severe(message);
    return new SQLNonTransientException(message, STALE, why);
  }

  private @Nullable Object call(
      Object target, Method method, @Nullable Object @Nullable [] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      Throwable cause = requireNonNull(e.getCause(), "cause");
      throw cause instanceof SQLException failure ? explained(failure) : cause;
    }
  }

  /** The database may have ended the transaction of a runner that was paused. */
  private SQLException explained(SQLException failure) {
    if (!raised) {
      return failure;
    }
    try {
      lock.assertHeld();
      return failure;
    } catch (MigrationException lost) {
      SQLException explained = refusal("the transaction has ended", lost);
      explained.addSuppressed(failure);
      return explained;
    }
  }
}
