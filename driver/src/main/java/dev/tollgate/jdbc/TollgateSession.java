package dev.tollgate.jdbc;

import dev.tollgate.transport.ClusterSession;
import dev.tollgate.value.Parameter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.h2.api.ErrorCode;
import org.h2.api.JavaObjectSerializer;
import org.h2.command.CommandInterface;
import org.h2.engine.IsolationLevel;
import org.h2.engine.Mode;
import org.h2.engine.SessionBridge;
import org.h2.jdbc.meta.DatabaseMeta;
import org.h2.message.DbException;
import org.h2.message.Trace;
import org.h2.message.TraceSystem;
import org.h2.result.ResultInterface;
import org.h2.result.SimpleResult;
import org.h2.store.DataHandler;
import org.h2.util.DateTimeUtils;
import org.h2.util.NetworkConnectionInfo;
import org.h2.util.StringUtils;
import org.h2.util.TimeZoneProvider;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.h2.value.ValueInteger;
import org.h2.value.ValueLob;
import org.h2.value.ValueTimestampTimeZone;
import org.h2.value.ValueToObjectConverter;
import org.h2.value.ValueVarchar;
import org.jspecify.annotations.Nullable;

/**
 * The session that H2's JDBC classes use as their database. Turns commands into requests, and knows
 * the facts of the session that need no round trip.
 *
 * <p>The SQL constants are the texts that H2's JdbcConnection sends.
 */
@SuppressWarnings("NonApiType") // H2's class says ArrayList
final class TollgateSession extends SessionBridge implements SessionText.Session {
  private static final String COMMIT = "COMMIT";
  private static final String ROLLBACK = "ROLLBACK";
  private static final String SET_QUERY_TIMEOUT = "SET QUERY_TIMEOUT ?";
  private static final String GET_SETTING =
      "SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME=?";

  private final ClusterSession cluster;
  private final TransactionState transaction = new TransactionState();
  private final StatementRunner runner;
  private final int fetchSize;
  private final InlineLargeObjects largeObjects = new InlineLargeObjects();
  private final StaticSettings staticSettings = new StaticSettings(true, false, false);
  private final Trace trace;
  private volatile Duration queryTimeout = Duration.ZERO;

  /** What the session has at the cluster, too: both change with the reply to SET TIME ZONE. */
  private volatile DynamicSettings dynamicSettings;

  /** The current schema; null after a statement that may have changed it. */
  private volatile @Nullable String schema = "PUBLIC";

  private volatile @Nullable String userName;

  /**
   * @param fetchSize rows per page if the statement sets none, 0 to fetch all at once
   * @param timeZone with which the session was opened
   */
  TollgateSession(ClusterSession cluster, int fetchSize, String timeZone) {
    this.cluster = cluster;
    this.dynamicSettings = inZone(timeZone);
    this.runner =
        new StatementRunner(
            cluster,
            this,
            new StatementRunner.Listener() {
              @Override
              public void schemaInDoubt() {
                schema = null;
              }

              @Override
              public void timeZoneSet(String name) {
                dynamicSettings = inZone(name);
              }
            },
            transaction,
            this::queryTimeout);
    this.fetchSize = fetchSize == 0 ? TollgateCommand.ALL_ROWS : fetchSize;
    TraceSystem silent = new TraceSystem(null);
    silent.setLevelFile(TraceSystem.OFF);
    this.trace = silent.getTrace(Trace.JDBC);
  }

  private static DynamicSettings inZone(String name) {
    return new DynamicSettings(Mode.getRegular(), TimeZoneProvider.ofId(name));
  }

  ClusterSession cluster() {
    return cluster;
  }

  /** Rows per page, or {@link TollgateCommand#ALL_ROWS}, if the statement sets none. */
  int fetchSize() {
    return fetchSize;
  }

  /** The time limit of statements; zero for no limit. */
  Duration queryTimeout() {
    return queryTimeout;
  }

  /** Runs the statements of this session. */
  StatementRunner runner() {
    return runner;
  }

  /** Gathers the changes of the transaction from now on; returns false under autocommit. */
  boolean pipeline() {
    if (transaction.isAutoCommit()) {
      return false;
    }
    runner.pipeline().begin();
    return true;
  }

  /** Ends pipelining where no transaction is open. */
  void endPipeline() {
    runner.pipeline().end();
  }

  /** Keeps a change of rows to be sent with a definition. */
  void mark(String definition, String change, @Nullable Object... values) {
    List<Value> converted = new ArrayList<>();
    for (Object value : values) {
      converted.add(ValueToObjectConverter.objectToValue(this, value, Value.UNKNOWN));
    }
    runner.series().keepMark(definition, change, Parameter.encodeValues(converted));
  }

  /** Forgets the change that waits for a definition; returns false if none does. */
  boolean dropMark() {
    return runner.series().dropMark();
  }

  private TollgateCommand command(String sql) {
    return new TollgateCommand(runner, sql, this::queryTimeout);
  }

  @Override
  public CommandInterface prepareCommand(String sql) {
    return switch (sql) {
      case COMMIT, ROLLBACK -> SessionFact.action(() -> end(sql.equals(COMMIT)));
      case SET_QUERY_TIMEOUT ->
          SessionFact.setting(
              millis -> {
                queryTimeout = Duration.ofMillis(millis.getInt());
                return 0;
              });
      case GET_SETTING -> SessionFact.reading(name -> setting(name.getString()));
      default -> {
        CommandInterface own = SessionText.of(sql, this);
        yield own == null ? command(sql) : own;
      }
    };
  }

  /** Turns autocommit off until the transaction ends, as BEGIN does in H2. */
  @Override
  public void begin() {
    transaction.begin();
  }

  /** Ends the transaction, if there is one. */
  @Override
  public void end(boolean commit) {
    Pipeline pipeline = runner.pipeline();
    if (!commit) {
      pipeline.end();
    }
    try {
      if (!pipeline.isEmpty() || pipeline.hasFailed()) {
        pipeline.commit();
      } else if (transaction.mayBeOpen()) {
        command(commit ? COMMIT : ROLLBACK).executeUpdate(null);
      }
    } finally {
      if (!pipeline.hasFailed()) {
        transaction.ended();
        pipeline.end();
      }
    }
  }

  @Override
  public void setQueryTimeoutMillis(int millis) {
    queryTimeout = Duration.ofMillis(millis);
  }

  private ResultInterface setting(String name) {
    if (!name.equals("QUERY_TIMEOUT")) {
      TollgateCommand command = command(GET_SETTING);
      command.getParameters().get(0).setValue(ValueVarchar.get(name), false);
      return command.executeQuery(0, 0, false);
    }
    SimpleResult result = new SimpleResult();
    result.addColumn("SETTING_VALUE", TypeInfo.TYPE_INTEGER);
    result.addRow(ValueInteger.get((int) queryTimeout.toMillis()));
    return result;
  }

  @Override
  public String getCurrentSchemaName() {
    String known = schema;
    if (known == null) {
      known = runner.answer("CALL SCHEMA()", queryTimeout);
      schema = known;
    }
    return known;
  }

  /** The user of the session at the node, which the URL need not name; the node is asked once. */
  String userName() {
    String known = userName;
    if (known == null) {
      known = runner.answer("CALL CURRENT_USER", queryTimeout);
      userName = known;
    }
    return known;
  }

  @Override
  public void setCurrentSchemaName(@Nullable String name) {
    if (name == null || name.isEmpty()) {
      throw DbException.get(ErrorCode.SCHEMA_NOT_FOUND_1, String.valueOf(name));
    }
    String sql = StringUtils.quoteIdentifier(new StringBuilder("SET SCHEMA "), name).toString();
    command(sql).executeUpdate(null);
    schema = name;
  }

  @Override
  public boolean getAutoCommit() {
    return transaction.isAutoCommit();
  }

  /** Switching autocommit on commits an open transaction, as JDBC requires. */
  @Override
  public void setAutoCommit(boolean autoCommit) {
    if (autoCommit) {
      end(/* commit= */ true);
    }
    transaction.setAutoCommit(autoCommit);
  }

  @Override
  public boolean hasPendingTransaction() {
    return transaction.mayBeOpen() || !runner.pipeline().isEmpty();
  }

  boolean isFenced() {
    return runner.isFenced();
  }

  @Override
  public IsolationLevel getIsolationLevel() {
    return transaction.isolation();
  }

  @Override
  public void setIsolationLevel(IsolationLevel level) {
    transaction.setIsolation(level);
  }

  @Override
  public void cancel() {
    cluster.cancel();
  }

  @Override
  public boolean isClosed() {
    return !cluster.isOpen();
  }

  @Override
  public void close() {
    cluster.close();
  }

  @Override
  public DatabaseMeta getDatabaseMeta() {
    return new TollgateDatabaseMeta(runner);
  }

  @Override
  public DataHandler getDataHandler() {
    return largeObjects;
  }

  @Override
  public ValueLob addTemporaryLob(ValueLob value) {
    return value;
  }

  @Override
  public Trace getTrace() {
    return trace;
  }

  @Override
  public boolean isRemote() {
    return true;
  }

  @Override
  public ArrayList<String> getClusterServers() {
    return new ArrayList<>();
  }

  @Override
  public void setNetworkConnectionInfo(NetworkConnectionInfo info) {}

  @Override
  public StaticSettings getStaticSettings() {
    return staticSettings;
  }

  @Override
  public DynamicSettings getDynamicSettings() {
    return dynamicSettings;
  }

  @Override
  public boolean isOldInformationSchema() {
    return false;
  }

  @Override
  public ValueTimestampTimeZone currentTimestamp() {
    return DateTimeUtils.currentTimestamp(currentTimeZone());
  }

  @Override
  public TimeZoneProvider currentTimeZone() {
    return dynamicSettings.timeZone;
  }

  @Override
  public Mode getMode() {
    return dynamicSettings.mode;
  }

  /** Returns null, which selects H2's serialization of Java objects; the driver never sends any. */
  @Override
  public @Nullable JavaObjectSerializer getJavaObjectSerializer() {
    return null;
  }

  @Override
  public boolean zeroBasedEnums() {
    return false;
  }
}
