package dev.tollgate.jdbc;

import static java.util.Objects.requireNonNull;

import dev.tollgate.transport.ClusterSession;
import dev.tollgate.transport.TransportException;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import java.sql.CallableStatement;
import java.sql.ClientInfoStatus;
import java.sql.Connection;
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
 * A connection to a Tollgate cluster: H2's connection, except where it means something else, or
 * more, here.
 *
 * <p>Thread-safe as H2's connection is: statements of several threads run one after the other. The
 * connection survives the loss of nodes. It is closed for good by the application, or after an
 * exception of class 08.
 *
 * <p>{@code unwrap(ClusterSession.class)} returns the session of the connection.
 */
public final class TollgateConnection extends JdbcConnection
    implements Connection, DefinitionMarks {
  /** The names that {@link #setClientInfo} accepts; the JDBC specification gives these names. */
  static final List<String> CLIENT_INFO_NAMES =
      List.of("ApplicationName", "ClientUser", "ClientHostname");

  private final TollgateSession session;
  private final String productName;
  private final Map<String, String> clientInfo = Collections.synchronizedMap(new HashMap<>());
  private volatile boolean closed;
  private volatile boolean readOnly;
  private @Nullable String catalogName;

  /** Held while the cluster is told of the end of a request; the next request waits for it. */
  private final Object requestBoundary = new Object();

  private long openRequests;

  TollgateConnection(TollgateSession session, ConnectionSettings settings) {
    super(session, settings.user(), settings.url());
    this.session = session;
    this.productName = settings.productName();
    clientInfo.put("ApplicationName", settings.session().application());
  }

  /** Throws if this connection is closed; H2 calls this before each action of the application. */
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
   * Ends the session and releases what its own lease holds. Returns within seconds, even if another
   * thread has a statement under way or no node answers. If the cluster cannot be told, also not
   * within failoverTimeout from then on, it ends the session after sessionTimeout.
   */
  @Override
  public void close() {
    closed = true;
    session.close();
  }

  /**
   * Ends the connection without waiting. Another thread then has the cluster end the session as
   * {@link #close} does. If it reaches no leader within failoverTimeout, or the process ends
   * before, the cluster ends the session after sessionTimeout.
   */
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
   * Asks a node for a sign of life, and moves the session to another node if necessary.
   *
   * @param seconds longest time for the check, 0 for failoverTimeout
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
   * Limits the time to the reply of a statement, waits for locks and failovers included.
   *
   * @param executor not used
   * @param millis 0 for no limit; when the time is over, the connection is aborted as by {@link
   *     #abort}
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
   * Throws an exception that the compiler does not see. H2 declares these methods without the
   * SQLException that {@link java.sql.Connection} declares and callers expect.
   */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <T extends Throwable> RuntimeException sneaky(SQLException e) throws T {
    throw (T) e;
  }

  /** Stores a hint: no statement is rejected because of it. */
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

  /** The user of the session, as the cluster knows it. */
  String userName() throws SQLException {
    requireOpen();
    try {
      return session.userName();
    } catch (DbException e) {
      throw e.getSQLException();
    }
  }

  /** The name of the one database; the node is asked once. */
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

  /**
   * Stops waiting for the changes of the transaction: until it ends, executeUpdate of an INSERT,
   * UPDATE, DELETE or MERGE returns {@link Statement#SUCCESS_NO_INFO} at once. The changes are sent
   * together, with the commit or before the next statement that needs a result. A failure of a
   * change comes with that call, and the transaction can then only be rolled back.
   *
   * @throws SQLException with state 25P01 under autocommit
   */
  public void pipelineTransaction() throws SQLException {
    requireOpen();
    if (!session.pipeline()) {
      throw JdbcErrors.exception(
          SqlState.NO_TRANSACTION,
          "pipelineTransaction() under autocommit: call setAutoCommit(false) first");
    }
  }

  @Override
  public void markDefinition(String definition, String change, @Nullable Object... values)
      throws SQLException {
    requireOpen();
    session.mark(
        requireNonNull(definition, "definition"), requireNonNull(change, "change"), values);
  }

  @Override
  public boolean dropMark() throws SQLException {
    requireOpen();
    return session.dropMark();
  }

  @Override
  public Statement createStatement() throws SQLException {
    return over(super.createStatement());
  }

  @Override
  public Statement createStatement(int type, int concurrency) throws SQLException {
    return over(super.createStatement(type, concurrency));
  }

  @Override
  public Statement createStatement(int type, int concurrency, int holdability) throws SQLException {
    return over(super.createStatement(type, concurrency, holdability));
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
   * Returns a statement that a node has accepted. Reading the parameters makes {@link
   * TollgateCommand} ask the node, unless this connection has prepared the same text before.
   */
  private <T extends PreparedStatement> T checked(T statement) throws SQLException {
    statement.getParameterMetaData();
    statement.setFetchSize(session.fetchSize());
    return statement;
  }

  private Statement over(Statement statement) throws SQLException {
    statement.setFetchSize(session.fetchSize());
    return TollgateStatement.over(statement, session.runner());
  }

  @Override
  public DatabaseMetaData getMetaData() throws SQLException {
    return TollgateMetaData.over(super.getMetaData(), this, productName);
  }

  /** Sets a property. Null clears it, also under a name that is unknown and so has no value. */
  @Override
  public void setClientInfo(@Nullable String name, @Nullable String value)
      throws SQLClientInfoException {
    Properties one = new Properties();
    if (value != null) {
      one.setProperty(String.valueOf(name), value);
    }
    requireClientInfo(one);
    putClientInfo(String.valueOf(name), value);
  }

  /** Sets these properties and clears the others; changes nothing if a name is unknown. */
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
   * Begins a piece of work, as pools see it. An open transaction stays open.
   *
   * <p>Pieces of work are counted, because a pool may report late that the previous one has ended.
   * c3p0 before 0.13 hands the connection to its next user before it calls {@link #endRequest} for
   * the previous user.
   */
  @Override
  public void beginRequest() throws SQLException {
    requireOpen();
    synchronized (requestBoundary) {
      openRequests++;
    }
  }

  /**
   * Ends a piece of work, as pools see it: releases what the connection's own lease holds, and
   * unsets the query timeout. A lease that was created by a call is not touched. Does nothing
   * without a {@link #beginRequest}, and nothing while another piece of work is open.
   *
   * @throws SQLException with state 25001 if a transaction is open. The transaction stays open, as
   *     JDBC recommends: only its user knows whether to commit it
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
    session.endPipeline();
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

  /** True if {@code SET FENCED} has set a fence for this session, which has not ended. */
  public boolean isFenced() {
    return session.isFenced();
  }

  /** False if there is certainly nothing to commit. */
  public boolean hasOpenTransaction() {
    return session.hasPendingTransaction();
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
