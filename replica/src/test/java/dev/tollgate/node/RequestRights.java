package dev.tollgate.node;

import static dev.tollgate.node.RightsMatrix.Holder.ADMIN;
import static dev.tollgate.node.RightsMatrix.Holder.INSERT;
import static dev.tollgate.node.RightsMatrix.Holder.INSERT_SCHEMA;
import static dev.tollgate.node.RightsMatrix.Holder.MERGE;
import static dev.tollgate.node.RightsMatrix.Holder.OWNER;

import dev.tollgate.node.RightsMatrix.Holder;
import dev.tollgate.value.Parameter;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SeriesEnding;
import dev.tollgate.wire.TransactionMode;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.h2.value.Value;
import org.h2.value.ValueNull;
import org.h2.value.ValueVarchar;

/** Every request of the protocol for clients, and who may send it. */
final class RequestRights {
  private static final byte[] NO_PARAMETERS = {0, 0};

  /** The number with which H2 knows DatabaseMetaData.getTablePrivileges. */
  private static final int TABLE_PRIVILEGES = 16;

  static final Request.SessionOptions OPTIONS =
      new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 10);

  /**
   * A request, sent in a session of its own.
   *
   * @param allowed who is not refused
   * @param refusals SQLStates of the refusal; empty if the reply says that something is lost
   */
  record Row(Request request, Set<Holder> allowed, Set<String> refusals) {}

  /** Requests by which a client logs in, or without a reply. */
  static final Set<Class<?>> OTHERS =
      Set.of(
          Request.Hello.class,
          Request.BeginLogin.class,
          Request.ContinueLogin.class,
          Request.CloseCursor.class);

  private final Map<Class<?>, Row> rows = new LinkedHashMap<>();

  private RequestRights() {}

  /**
   * @param schema that of the matrix
   * @param other the session of an administrator, with its secret
   * @param lease a lease of an administrator
   */
  static Map<Class<?>, Row> all(String schema, Reply.SessionReady other, long lease) {
    RequestRights table = new RequestRights();
    table.addOwn();
    table.addOfOthers(other, lease);
    table.addStatements(schema);
    return table.rows;
  }

  private void add(Request request, Set<Holder> allowed, String... refusals) {
    rows.put(request.getClass(), new Row(request, allowed, Set.of(refusals)));
  }

  private void addOwn() {
    Set<Holder> everybody = EnumSet.allOf(Holder.class);
    add(new Request.OpenSession(30_000, 30_000, OPTIONS), everybody);
    add(new Request.CloseSession(), everybody);
    add(new Request.ReleaseOwnLease(), everybody);
    add(new Request.Ping(), everybody);
    add(new Request.AskNodeStatus(), everybody);
    add(new Request.AwaitLeader(0), everybody);
    Value all = ValueVarchar.get("%");
    add(
        new Request.Metadata(
            TABLE_PRIVILEGES, Parameter.encodeValues(List.of(ValueNull.INSTANCE, all, all))),
        everybody);
  }

  private void addOfOthers(Reply.SessionReady other, long lease) {
    Set<Holder> administrator = EnumSet.of(ADMIN);
    add(
        new Request.AttachSession(other.sessionId(), other.secret(), false, OPTIONS),
        administrator,
        "28000");
    add(new Request.Cancel(other.sessionId(), other.secret(), 99), administrator, "08006");
    add(new Request.Heartbeat(List.of(other.sessionId()), List.of(lease)), administrator);
    add(new Request.WatchLocks(List.of(lease), List.of(1L)), EnumSet.allOf(Holder.class));
    add(new Request.OpenSnapshot(false), administrator, "42501");
    add(new Request.ReadSnapshot(0, 10), administrator, "42501");
    // of a result that the connection has opened, and here the client has opened none
    add(new Request.Fetch(1, 10), EnumSet.noneOf(Holder.class), "40001");
    add(new Request.AwaitHolder("app-held", -1), Holder.LOCKERS, "42501");
  }

  private void addStatements(String schema) {
    String query = "SELECT * FROM " + schema + ".T";
    add(new Request.Prepare(query), Holder.READERS, "90096");
    add(RawClient.execute(1, query), Holder.READERS, "90096");
    add(
        new Request.ExecuteSeries(
            1,
            /* ownLeaseTrusted= */ true,
            TransactionMode.AUTOCOMMIT,
            SeriesEnding.STOP_AT_FAILURE,
            List.of(
                new Request.SeriesStatement(
                    "INSERT INTO " + schema + ".T SELECT X, X FROM SYSTEM_RANGE(1, 0)",
                    NO_PARAMETERS))),
        EnumSet.of(OWNER, ADMIN, INSERT, MERGE, INSERT_SCHEMA),
        "90096");
  }
}
