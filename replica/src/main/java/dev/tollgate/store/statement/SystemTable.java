package dev.tollgate.store.statement;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import java.util.List;

/** The views of schema TOLLGATE and their columns. */
public enum SystemTable {
  /**
   * Locks and their holders; one row per hold. A lock that is KEPT is held by nobody, and nobody
   * gets it before its lease ends.
   */
  LOCKS(
      name("LOCK_NAME"),
      word("LOCK_MODE"),
      number("TOKEN"),
      number("LEASE_ID"),
      name("OWNER"),
      moment("HELD_SINCE"),
      number("SESSION_ID"),
      name("APPLICATION"),
      name("CLIENT_HOST"),
      name("CLIENT_PROCESS"),
      number("WAITERS"),
      answer("KEPT")),
  /** Requests that wait for locks, in the order in which they will be served. */
  LOCK_WAITERS(
      name("LOCK_NAME"),
      number("QUEUE_POSITION"),
      word("LOCK_MODE"),
      number("LEASE_ID"),
      name("OWNER"),
      moment("WAITING_SINCE"),
      number("WAIT_MS"),
      number("SESSION_ID"),
      name("APPLICATION"),
      name("CLIENT_HOST"),
      name("CLIENT_PROCESS")),
  /** How many leases may hold a lock at a time, for the locks of which that is defined. */
  LOCK_DEFINITIONS(name("LOCK_NAME"), number("PERMITS"), number("HOLDERS")),
  /**
   * Live leases. Only the leader knows the remaining time of a lease; elsewhere it is null. The
   * lease of a transaction, or of a LOCKED BY statement, has no time at all.
   */
  LEASES(
      number("LEASE_ID"),
      name("OWNER"),
      number("TTL_MS"),
      number("REMAINING_MS"),
      moment("CREATED_AT"),
      number("LOCKS_HELD"),
      answer("CONNECTION_OWN"),
      number("SESSION_ID"),
      name("USER_NAME")),
  /** The sessions of clients. */
  SESSIONS(
      number("SESSION_ID"),
      name("APPLICATION"),
      name("CLIENT_HOST"),
      name("CLIENT_PROCESS"),
      moment("OPENED_AT"),
      name("SCHEMA_NAME"),
      number("OWN_LEASE_ID"),
      number("LAST_OPERATION"),
      name("WAITS_FOR_LOCK"),
      name("USER_NAME")),
  /** Open transactions, and how many statements wait for each of them to end. */
  TRANSACTIONS(
      number("TRANSACTION_ID"),
      number("SESSION_ID"),
      word("ISOLATION"),
      moment("OPENED_AT"),
      number("STATEMENTS"),
      number("STATEMENTS_WAITING"),
      name("APPLICATION"),
      name("CLIENT_HOST")),
  /** Tables that are bound to a lock, or to a lock for each row, which ROW_LOCK names. */
  FENCES(
      name("TABLE_SCHEMA"),
      name("TABLE_NAME"),
      name("LOCK_NAME"),
      word("READING"),
      number("HIGHEST_TOKEN"),
      text("ROW_LOCK")),
  /** The nodes of the cluster, as the node that answers sees them. */
  NODES(
      name("NODE_ID"),
      word("NODE_ROLE"),
      name("CLIENT_ADDRESS"),
      name("RAFT_ADDRESS"),
      number("TERM"),
      number("COMMIT_INDEX"),
      number("APPLIED_INDEX"),
      answer("ASKED"),
      number("SILENT_MS"),
      number("ENTRIES_BEHIND"),
      number("APPLYING_MS"),
      number("CLOCK_AHEAD_MS"),
      name("INCARNATION"),
      name("CLUSTER_ID"),
      name("VERSION"),
      number("PROTOCOL_VERSION"),
      number("LOG_VERSION"),
      number("SNAPSHOT_VERSION"),
      number("KNOWN_FEATURE_LEVEL"),
      number("FEATURE_LEVEL")),
  /** The last comparison of the replicas: the checksum of each node, and the verdict on it. */
  REPLICA_CHECKS(name("NODE_ID"), number("LOG_INDEX"), name("CHECKSUM"), word("VERDICT")),
  /**
   * The environment in which statements are computed, part by part: as the replicated state has it,
   * and as the node that answers has it.
   */
  ENVIRONMENT(name("PART"), name("CLUSTER"), name("THIS_NODE")),
  /** The snapshots on the disk of the node that answers. */
  SNAPSHOTS(number("LOG_INDEX"), number("TERM"), number("BYTES"), moment("WRITTEN_AT")),
  /** How long transactions may be open in the whole cluster: one row. */
  TRANSACTION_LIMITS(number("AGE_MS"), number("IDLE_MS")),
  /** The users, how many passwords of each are valid, and whether and until when it may log in. */
  USERS(
      name("USER_NAME"),
      answer("ADMINISTRATOR"),
      number("PASSWORDS"),
      number("WORK_LIMIT"),
      answer("LOCKED"),
      moment("VALID_UNTIL")),
  /** Rights on locks and sequences. Those on tables are in INFORMATION_SCHEMA.TABLE_PRIVILEGES. */
  RIGHTS(name("GRANTEE"), word("RIGHT_NAME"), text("OBJECT_NAME")),
  /**
   * The latest statements that took long at the node that answers. FORM is the text without the
   * values in it, and FORM_ID is the same for all statements of one form.
   */
  SLOW_STATEMENTS(
      moment("ANSWERED_AT"),
      number("TOOK_MS"),
      number("WAITED_MS"),
      word("OUTCOME"),
      word("FORM_ID"),
      text("FORM"),
      number("SESSION_ID"),
      name("USER_NAME"),
      name("APPLICATION"),
      name("CLIENT_HOST"),
      name("CLIENT_PROCESS")),
  /** The latest entries of the log that the node that answers took long to apply. */
  SLOW_APPLIES(
      moment("APPLIED_AT"),
      number("LOG_INDEX"),
      number("TOOK_MS"),
      number("COMMANDS"),
      number("SLOWEST_ORDINAL"),
      name("SLOWEST_COMMAND"),
      number("SLOWEST_MS"),
      number("SESSION_ID")),
  /**
   * Holds of locks, and requests that wait for locks, that last longer than the settings of the
   * node that answers accept; the longest first. A request has no TOKEN.
   */
  STUCK_LOCKS(
      word("WHAT"),
      name("LOCK_NAME"),
      moment("SINCE"),
      number("LASTS_MS"),
      number("TOKEN"),
      number("LEASE_ID"),
      name("OWNER"),
      number("SESSION_ID"),
      name("APPLICATION"),
      name("CLIENT_HOST"),
      name("CLIENT_PROCESS"),
      number("WAITERS"));

  /** The Java type of a column's values. */
  public enum Type {
    /** {@link String} of up to 256 characters. */
    NAME,
    /** {@link String} of up to {@link Limits#ROW_LOCK_CHARS} characters. */
    TEXT,
    /** {@link String} of one short word. */
    WORD,
    /** {@link Long}. */
    NUMBER,
    /** {@link Boolean}. */
    ANSWER,
    /** {@link Long}: microseconds since 1970-01-01T00:00:00Z. */
    MOMENT
  }

  /** A column of a view. */
  public record Column(String name, Type type) {
    public Column {
      requireNonNull(name, "name");
      requireNonNull(type, "type");
    }
  }

  @SuppressWarnings("ImmutableEnumChecker") // a list of List.of
  private final List<Column> columns;

  SystemTable(Column... columns) {
    this.columns = List.of(columns);
  }

  /** The columns, in the order in which {@link LockAccess#rows} gives their values. */
  public List<Column> columns() {
    return columns;
  }

  private static Column name(String column) {
    return new Column(column, Type.NAME);
  }

  private static Column text(String column) {
    return new Column(column, Type.TEXT);
  }

  private static Column word(String column) {
    return new Column(column, Type.WORD);
  }

  private static Column number(String column) {
    return new Column(column, Type.NUMBER);
  }

  private static Column answer(String column) {
    return new Column(column, Type.ANSWER);
  }

  private static Column moment(String column) {
    return new Column(column, Type.MOMENT);
  }
}
