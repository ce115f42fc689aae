package dev.tollgate.wire;

/**
 * The SQLStates that Tollgate itself raises, each with the statement that causes it. Errors of the
 * database keep H2's states and codes, because Spring, Hibernate and Liquibase depend on them.
 *
 * <p>HikariCP discards a connection after class 08 and 0A000. Tollgate therefore uses class 08 only
 * if the connection really is dead, and never uses 0A000.
 */
public enum SqlState {
  /**
   * {@code UPDATE t ... FENCED BY LOCK 'job' TOKEN 41} when 'job' is held under token 42, or not
   * held; any write after {@code SET FENCED BY LOCK 'job' TOKEN 41}.
   */
  STALE_TOKEN("23T01", 90_901),
  /**
   * {@code UPDATE t ...} on a table that is FENCED BY LOCK 'job', by a writer that presents no
   * token.
   */
  TOKEN_MISSING("23T02", 90_902),
  /** {@code SELECT acquire_lock('job', 17)} after lease 17 expired. */
  LEASE_GONE("55T01", 90_903),
  /** {@code SELECT acquire_lock('job')} by a lease that holds 'job' in shared mode. */
  LOCK_UPGRADE("55T02", 90_904),
  /** {@code ALTER TABLE t NOT FENCED} where t is not fenced. */
  FENCE_STATE("55T03", 90_905),
  /** {@code ALTER LOCK 'pool' PERMITS 2} where four leases hold 'pool'. */
  LOCK_STATE("55T06", 90_912),
  /** {@code CALL remove_node('n2')} where the remaining members would have no quorum. */
  ADMINISTRATION("55T04", 90_910),
  /**
   * {@code Connection.endRequest()} while a transaction is open; {@code UPDATE t ... LOCKED BY
   * 'job'} in a transaction.
   */
  ACTIVE_TRANSACTION("25001", 90_920),
  /** {@code SELECT acquire_transaction_lock('job')} under autocommit. */
  NO_TRANSACTION("25P01", 90_921),
  /** {@code Connection.commit()} after a statement of a pipelined transaction has failed. */
  FAILED_TRANSACTION("25P02", 90_922),
  /** {@code INSERT INTO t ...} between begin_runtime_change() and end_runtime_change(). */
  ENVIRONMENT_CHANGES("55T05", 90_911),
  /** A statement in conflict with another transaction: run the transaction again. */
  CONFLICT("40001", 40_001),
  /** {@code CREATE ALIAS f AS ...}: rejected by the front-end, with line and column. */
  REFUSED_STATEMENT("42T01", 42_000),
  /** {@code CREATE SYNONYM s FOR t}: known, and not there yet. */
  NOT_SUPPORTED("HYC00", 50_100),
  /** {@code SELECT acquire_lock(NULL)}, a ttl of 48 hours, an empty lock name. */
  INVALID_ARGUMENT("22023", 90_008),
  /** {@code SELECT acquire_lock(SUBSTRING('😀', 1, 1))}: half a character in a name. */
  NOT_TEXT("22021", 22_021),
  /** A statement of more than 1 MiB, or a result of more than one frame where it must be one. */
  TOO_LARGE("54000", 90_906),
  /**
   * {@code INSERT INTO t SELECT ... FROM a, b, c}: more rows examined than the rows of its tables
   * allow, or nested too deeply.
   */
  TOO_MUCH_WORK("54001", 90_914),
  /** Any write to a node whose memory the database has nearly filled. */
  NO_MEMORY("53200", 90_915),
  /** A maximum of the node or the cluster is reached; the message names it. */
  TOO_MANY("53300", 90_907),
  /**
   * Any request to a node that has as many waiting requests as it may, or a write that has waited
   * too long until the leader could try what it reads: the node did nothing for it. The driver
   * sends the request again if it had sent it before.
   */
  BUSY("53T01", 90_913),
  /** {@code Statement.cancel()}, also while the statement waits for a lock. */
  CANCELLED("57014", 57_014),
  /** A connection to a port where no node answers, or no quorum within failoverTimeout. */
  NO_QUORUM("08001", 90_067),
  /**
   * The node rejected the connection: another protocol, another version, a wrong session secret.
   */
  CONNECTION_REFUSED("08004", 90_908),
  /** A request with a number under which the session has sent another request. */
  PROTOCOL_VIOLATION("08P01", 90_931),
  /** A connection whose session expired, because the cluster got no heartbeat for its ttl. */
  SESSION_GONE("08006", 90_121),
  /**
   * A write whose reply was lost and whose session is gone too: it may have taken effect or not.
   */
  OUTCOME_UNKNOWN("08007", 90_909),
  /** {@code CALL take_snapshot()} on a node whose disk is full. */
  DISK("58030", 90_028),
  /**
   * {@code SELECT acquire_lock('payments')} by a user without the right LOCK on it; {@code CREATE
   * USER u} by a user who is no administrator.
   */
  RIGHT_MISSING("42501", 90_932),
  /** {@code DROP USER u} where u is the last administrator. */
  USER_STATE("55T07", 90_933),
  /** A command that stopped nodes, and that an operator has had them skip. */
  SKIPPED("58T01", 90_930),
  /**
   * {@code DriverManager.getConnection(url, "jo", "wrong")}; a driver that cannot authenticate, at
   * a node that demands it.
   */
  LOGIN_REFUSED("28000", 28_000),
  /** A bug in Tollgate: the node has logged it. */
  INTERNAL("XX000", 50_000);

  private final String state;
  private final int vendorCode;

  SqlState(String state, int vendorCode) {
    this.state = state;
    this.vendorCode = vendorCode;
  }

  /** The five characters of {@link java.sql.SQLException#getSQLState}. */
  public String state() {
    return state;
  }

  /**
   * The number of {@link java.sql.SQLException#getErrorCode}; H2's own if H2 has the same error.
   */
  public int vendorCode() {
    return vendorCode;
  }
}
