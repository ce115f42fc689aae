package dev.tollgate.jdbc;

import static java.util.Objects.requireNonNull;

import dev.tollgate.transport.ClusterSession;
import dev.tollgate.transport.TransportException;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import java.sql.CallableStatement;
import java.sql.ClientInfoStatus;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLClientInfoException;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Executor;
import org.h2.api.ErrorCode;
import org.h2.jdbc.JdbcConnection;
import org.h2.message.DbException;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a Tollgate cluster: H2's, but for what means something else or more here.
 *
 * <p>Thread-safe as H2's is: statements of several threads run one after the other. The connection
 * survives the loss of nodes; it is closed for good by the application, or after an exception of
 * class 08.
 *
 * <p>{@code unwrap(ClusterSession.class)} gives the session behind it.
 */
public final class TollgateConnection extends JdbcConnection {
  /** What {@link #setClientInfo} knows; the JDBC specification gives these names. */
  static final List<String> CLIENT_INFO_NAMES =
      List.of("ApplicationName", "ClientUser", "ClientHostname");

  private final TollgateSession session;
  private final String productName;
  private final Map<String, String> clientInfo = Collections.synchronizedMap(new HashMap<>());
  private volatile boolean closed;
  private volatile boolean readOnly;
  private @Nullable String catalogName;

  /** Held while the end of a request is told, which the next one then waits for. */
  private final Object requestBoundary = new Object();

  private long openRequests;

  TollgateConnection(TollgateSession session, ConnectionSettings settings) {
    super(session, settings.user(), settings.url());
    this.session = session;
    this.productName = settings.productName();
    clientInfo.put("ApplicationName", settings.session().application());
  }

  /** H2 asks this before whatever it does for the application. */
  @Override
  protected void checkClosed() {
    if (closed) {
      throw DbException.get(ErrorCode.OBJECT_CLOSED);
    }
    if (session.isClosed()) {
      throw DbException.convert(
          JdbcErrors.exception(
              SqlState.SESSION_GONE,
              "This connection was closed by the driver after its session with the cluster had"
                  + " ended; open another."));
    }
  }

  private void requireOpen() throws SQLException {
    try {
      checkClosed();
    } catch (DbException e) {
      throw e.getSQLException();
    }
  }

  @Override
  public boolean isClosed() {
    return closed || session.isClosed();
  }

  /**
   * Ends the session; what its own lease holds is free. Returns within seconds, also when a
   * statement is under way in another thread, or no node answers: then the cluster ends the session
   * after its time.
   */
  @Override
  public void close() {
    closed = true;
    session.close();
  }

  /** Ends the connection without waiting; the cluster ends the session after its time. */
  @Override
  public void abort(@Nullable Executor executor) {
    if (executor == null) {
      throw sneaky(JdbcErrors.exception(SqlState.INVALID_ARGUMENT, "abort without an executor"));
    }
    if (!closed) {
      closed = true;
      executor.execute(session.cluster()::abort);
    }
  }

  /**
   * Asks a node for a sign of life, moving the session to another node if need be.
   *
   * @param seconds how long that may take, 0 for failoverTimeout
   */
  @Override
  public boolean isValid(int seconds) {
    if (seconds < 0) {
      throw sneaky(
          JdbcErrors.exception(SqlState.INVALID_ARGUMENT, "isValid(" + seconds + "): negative"));
    }
    return !closed && session.cluster().isAlive(Duration.ofSeconds(seconds));
  }

  /**
   * Bounds how long the answer to a statement may take, waits for locks and failovers included.
   *
   * @param executor not needed
   * @param millis 0 for no bound; when it is over, the connection is closed for good
   */
  @Override
  public void setNetworkTimeout(@Nullable Executor executor, int millis) {
    if (millis < 0) {
      throw sneaky(
          JdbcErrors.exception(
              SqlState.INVALID_ARGUMENT, "setNetworkTimeout(" + millis + "): negative"));
    }
    if (isClosed()) {
      throw sneaky(closedException());
    }
    session.cluster().setNetworkTimeout(Duration.ofMillis(millis));
  }

  @Override
  public int getNetworkTimeout() {
    if (isClosed()) {
      throw sneaky(closedException());
    }
    return (int) Math.min(Integer.MAX_VALUE, session.cluster().networkTimeout().toMillis());
  }

  private static SQLException closedException() {
    return DbException.get(ErrorCode.OBJECT_CLOSED).getSQLException();
  }

  /**
   * Throws what the compiler does not see: H2 declares these methods without the SQLException that
   * {@link java.sql.Connection} declares, and callers expect.
   */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <T extends Throwable> RuntimeException sneaky(SQLException e) throws T {
    throw (T) e;
  }

  /** A hint: nothing is refused because of it. */
  @Override
  public void setReadOnly(boolean readOnly) throws SQLException {
    requireOpen();
    this.readOnly = readOnly;
  }

  @Override
  public boolean isReadOnly() throws SQLException {
    requireOpen();
    return readOnly;
  }

  /** The name of the one database; asked once. */
  @Override
  public String getCatalog() throws SQLException {
    requireOpen();
    synchronized (clientInfo) {
      if (catalogName == null) {
        try (ResultSet catalogs = super.getMetaData().getCatalogs()) {
          catalogName = catalogs.next() ? catalogs.getString(1) : "";
        }
      }
      return requireNonNull(catalogName);
    }
  }

  @Override
  public PreparedStatement prepareStatement(String sql) throws SQLException {
    return checked(super.prepareStatement(sql));
  }

  @Override
  public PreparedStatement prepareStatement(String sql, int type, int concurrency)
      throws SQLException {
    return checked(super.prepareStatement(sql, type, concurrency));
  }

  @Override
  public PreparedStatement prepareStatement(String sql, int type, int concurrency, int holdability)
      throws SQLException {
    return checked(super.prepareStatement(sql, type, concurrency, holdability));
  }

  @Override
  public PreparedStatement prepareStatement(String sql, int autoGeneratedKeys) throws SQLException {
    return checked(super.prepareStatement(sql, autoGeneratedKeys));
  }

  @Override
  public PreparedStatement prepareStatement(String sql, int[] columnIndexes) throws SQLException {
    return checked(super.prepareStatement(sql, columnIndexes));
  }

  @Override
  public PreparedStatement prepareStatement(String sql, String[] columnNames) throws SQLException {
    return checked(super.prepareStatement(sql, columnNames));
  }

  @Override
  public CallableStatement prepareCall(String sql) throws SQLException {
    return checked(super.prepareCall(sql));
  }

  @Override
  public CallableStatement prepareCall(String sql, int type, int concurrency) throws SQLException {
    return checked(super.prepareCall(sql, type, concurrency));
  }

  @Override
  public CallableStatement prepareCall(String sql, int type, int concurrency, int holdability)
      throws SQLException {
    return checked(super.prepareCall(sql, type, concurrency, holdability));
  }

  /**
   * A statement that a node has taken. H2 asks for the parameters, and {@link TollgateCommand} asks
   * the node, unless this connection has prepared the same text before.
   */
  private static <T extends PreparedStatement> T checked(T statement) throws SQLException {
    statement.getParameterMetaData();
    return statement;
  }

  @Override
  public DatabaseMetaData getMetaData() throws SQLException {
    return TollgateMetaData.over(super.getMetaData(), this, productName);
  }

  @Override
  public void setClientInfo(@Nullable String name, @Nullable String value)
      throws SQLClientInfoException {
    Properties one = new Properties();
    one.setProperty(String.valueOf(name), value == null ? "" : value);
    requireClientInfo(one);
    putClientInfo(String.valueOf(name), value);
  }

  /** Sets these and clears the others; with a name that is not known it changes nothing. */
  @Override
  public void setClientInfo(@Nullable Properties properties) throws SQLClientInfoException {
    Properties wanted = properties == null ? new Properties() : properties;
    requireClientInfo(wanted);
    for (String name : CLIENT_INFO_NAMES) {
      putClientInfo(name, wanted.getProperty(name));
    }
  }

  private void putClientInfo(String name, @Nullable String value) {
    if (value == null) {
      clientInfo.remove(name);
    } else {
      clientInfo.put(name, value);
    }
  }

  private void requireClientInfo(Properties properties) throws SQLClientInfoException {
    Map<String, ClientInfoStatus> failed = new HashMap<>();
    if (isClosed()) {
      throw new SQLClientInfoException("The connection is closed.", failed);
    }
    for (String name : properties.stringPropertyNames()) {
      if (!CLIENT_INFO_NAMES.contains(name)) {
        failed.put(name, ClientInfoStatus.REASON_UNKNOWN_PROPERTY);
      }
    }
    if (!failed.isEmpty()) {
      throw new SQLClientInfoException(
          "There is no client info "
              + String.join(", ", failed.keySet())
              + "; there are "
              + String.join(", ", CLIENT_INFO_NAMES)
              + ".",
          SqlState.INVALID_ARGUMENT.state(),
          SqlState.INVALID_ARGUMENT.vendorCode(),
          failed);
    }
  }

  @Override
  public @Nullable String getClientInfo(@Nullable String name) throws SQLException {
    requireOpen();
    return clientInfo.get(name);
  }

  @Override
  public Properties getClientInfo() throws SQLException {
    requireOpen();
    Properties properties = new Properties();
    synchronized (clientInfo) {
      properties.putAll(clientInfo);
    }
    return properties;
  }

  /**
   * Begins a piece of work, as pools see it. An open transaction goes on.
   *
   * <p>Counted, because a pool may tell late that the previous piece has ended: c3p0 before 0.13
   * hands the connection to its next user before it calls {@link #endRequest} for the one before.
   */
  @Override
  public void beginRequest() throws SQLException {
    requireOpen();
    synchronized (requestBoundary) {
      openRequests++;
    }
  }

  /**
   * Ends a piece of work, as pools see it: what the connection's own lease holds is free, and the
   * query timeout is unset. A lease that was created by a call is not touched. Does nothing without
   * a {@link #beginRequest}, and nothing while another piece of work has begun.
   *
   * @throws SQLException with state 25001 if a transaction is open, which stays open, as JDBC
   *     recommends: only its user knows whether it is to be committed
   */
  @Override
  public void endRequest() throws SQLException {
    requireOpen();
    synchronized (requestBoundary) {
      if (openRequests == 0 || --openRequests > 0) {
        return;
      }
      if (session.hasPendingTransaction()) {
        throw JdbcErrors.exception(
            SqlState.ACTIVE_TRANSACTION,
            "endRequest() while a transaction is open: nothing was committed, rolled back or"
                + " released. Commit or roll back first.");
      }
      releaseWhatTheRequestHolds();
    }
  }

  private void releaseWhatTheRequestHolds() throws SQLException {
    try (Statement statement = createStatement()) {
      // H2 keeps the timeout for the connection
      statement.setQueryTimeout(0);
      if (session.cluster().releaseOwnLease() instanceof Reply.Failure failure) {
        throw JdbcErrors.exception(failure, null, null);
      }
    } catch (TransportException e) {
      throw JdbcErrors.exception(e);
    }
  }

  @Override
  public boolean isWrapperFor(@Nullable Class<?> type) throws SQLException {
    return type == ClusterSession.class || super.isWrapperFor(type);
  }

  @Override
  public <T> T unwrap(Class<T> type) throws SQLException {
    return type == ClusterSession.class ? type.cast(session.cluster()) : super.unwrap(type);
  }
}
