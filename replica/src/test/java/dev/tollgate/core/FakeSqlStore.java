package dev.tollgate.core;

import dev.tollgate.core.command.FenceId;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.Payload;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.RowKey;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.core.command.UserName;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A database of tables that only remember what was written: "WRITE t" adds the parameter set's text
 * to table t, whose rows, if it has a lock for each, have the lock of that text; "EMPTY t" is a
 * definition that takes them all away; "FAIL t" writes and then fails, "LOCK n" takes lock n from
 * within SQL, "ANSWER n" returns n bytes, "TAKE r" takes role r from all users.
 */
final class FakeSqlStore implements SqlStore {
  final Map<String, List<String>> written = new TreeMap<>();
  final Map<String, FenceId> fenced = new TreeMap<>();

  /** Sessions with an open transaction, each with the row that it holds, or "". */
  final Map<SessionId, String> transactions = new LinkedHashMap<>();

  /** Rows that statements have asked for: their place is their key. */
  private final List<String> rows = new ArrayList<>();

  /** How many executions of statements were tried. */
  int executions;

  /** The times that executions saw, in order, microseconds since 1970. */
  final List<Long> times = new ArrayList<>();

  /** Of how many executions the changes were taken. */
  private int taken;

  /** What became of transactions, in order. */
  final List<String> ended = new ArrayList<>();

  @Override
  public long takeChanges() {
    long changes = (long) executions - taken;
    taken = executions;
    return changes;
  }

  @Override
  public void begin(SessionId session) {
    transactions.put(session, "");
  }

  @Override
  public void commit(SessionId session) {
    transactions.remove(session);
    ended.add("commit " + session);
  }

  @Override
  public void rollback(SessionId session) {
    transactions.remove(session);
    ended.add("rollback " + session);
  }

  @Override
  public Outcome savepoint(SessionId session, Operation.MarkSavepoint savepoint) {
    return new Outcome.Done();
  }

  /** "ROW r" needs row r, which a transaction then holds until it ends. */
  private Outcome.@Nullable Conflict takeRow(String row, SqlContext context) {
    SessionId own = context.transaction();
    SessionId holder = holderOf(row);
    if (holder != null && !holder.equals(own)) {
      if (!rows.contains(row)) {
        rows.add(row);
      }
      return new Outcome.Conflict(holder, new RowKey(0, rows.indexOf(row)), null);
    }
    if (own != null) {
      transactions.merge(own, row, (held, added) -> held + " " + added);
    }
    return null;
  }

  private @Nullable SessionId holderOf(String row) {
    for (Map.Entry<SessionId, String> transaction : transactions.entrySet()) {
      if (List.of(transaction.getValue().split(" ")).contains(row)) {
        return transaction.getKey();
      }
    }
    return null;
  }

  @Override
  public @Nullable SessionId holderOf(RowKey row) {
    return holderOf(rows.get((int) row.row()));
  }

  @Override
  public Outcome execute(Operation.ExecuteSql statement, int number, SqlContext context) {
    executions++;
    times.add(context.timeMicros());
    Operation.ParameterSet set = statement.parameterSets().get(number);
    String[] words = statement.sql().split(" ", 2);
    if (words[0].equals("ROW")) {
      Outcome conflict = takeRow(words[1], context);
      if (conflict != null) {
        return conflict;
      }
    }
    FenceId fence = fenced.get(words[1]);
    Outcome.Refused refused =
        context.admit(set.fence(), fence == null ? List.of() : List.of(fence));
    if (refused != null) {
      return refused;
    }
    if (fence != null && context.termsOf(fence) instanceof Operation.RowFence) {
      refused = judgeRows(words, set, fence, context);
      if (refused != null) {
        return refused;
      }
    }
    if (words[0].equals("LOCK")) {
      return context.perform(
          new Operation.AcquireLock(new LockName(words[1]), null, LockMode.EXCLUSIVE, 0));
    }
    if (words[0].equals("TAKE")) {
      grantees.values().forEach(roles -> roles.remove(words[1]));
      return new Outcome.Executed(Payload.empty());
    }
    if (words[0].equals("FAIL")) {
      return new Outcome.SqlFailed("23505", 23505, "duplicate");
    }
    context.completed();
    if (words[0].equals("ANSWER")) {
      return new Outcome.Executed(Payload.of(new byte[Integer.parseInt(words[1])]));
    }
    if (words[0].equals("EMPTY")) {
      written.remove(words[1]);
      return new Outcome.Executed(Payload.empty());
    }
    written.computeIfAbsent(words[1], table -> new ArrayList<>()).add(text(set));
    return new Outcome.Executed(Payload.empty());
  }

  private Outcome.@Nullable Refused judgeRows(
      String[] words, Operation.ParameterSet set, FenceId fence, SqlContext context) {
    if (!words[0].equals("EMPTY")) {
      return context.admitRow(fence, new LockName(text(set)));
    }
    for (String row : written.getOrDefault(words[1], List.of())) {
      Outcome.Refused refused = context.admitAllRows(fence, new LockName(row));
      if (refused != null) {
        return refused;
      }
    }
    return null;
  }

  private static String text(Operation.ParameterSet set) {
    return new String(set.values().bytes(), StandardCharsets.UTF_8);
  }

  @Override
  public Outcome fenceTable(Operation.FenceTable operation, SqlContext context) {
    fenced.put(operation.table().name(), context.createFence(operation.table(), operation.fence()));
    return new Outcome.Done();
  }

  @Override
  public Outcome unfenceTable(Operation.UnfenceTable operation, SqlContext context) {
    FenceId fence = fenced.remove(operation.table().name());
    if (fence == null) {
      return new Outcome.Refused(RefusalCode.FENCE_STATE, "not fenced");
    }
    context.dropFence(fence);
    return new Outcome.Done();
  }

  /** Users and roles; roles of a user stand in its value. */
  final Map<String, SortedSet<String>> grantees = new TreeMap<>();

  @Override
  public Outcome.@Nullable SqlFailed createUser(UserName user) {
    return grantees.putIfAbsent(user.value(), new TreeSet<>()) == null
        ? null
        : new Outcome.SqlFailed("90033", 90033, "User exists");
  }

  @Override
  public void setAdministrator(UserName user, boolean administers) {}

  @Override
  public Outcome.@Nullable SqlFailed dropUser(UserName user) {
    grantees.remove(user.value());
    return null;
  }

  @Override
  public boolean mayWrite(UserName user) {
    return true;
  }

  @Override
  public SortedSet<String> rolesOf(String grantee) {
    SortedSet<String> roles = new TreeSet<>(grantees.getOrDefault(grantee, new TreeSet<>()));
    roles.add("PUBLIC");
    return roles;
  }

  @Override
  public boolean hasGrantee(String name) {
    return name.equals("PUBLIC") || grantees.containsKey(name);
  }

  @Override
  public boolean hasSequence(TableName sequence) {
    return sequence.name().equals("S");
  }

  @Override
  public boolean hasSchema(String name) {
    return name.equals("PUBLIC") || name.equals("APP");
  }

  /** A write with the value, in the way of a prepared statement. */
  static Operation.ExecuteSql write(
      String sql, String value, Operation.@Nullable StatementFence fence, boolean ownLeaseTrusted) {
    return statement(
        sql, false, ownLeaseTrusted, List.of(set(value, fence)), TransactionScope.AUTOCOMMIT);
  }

  /** A definition. */
  static Operation.ExecuteSql definition(String sql) {
    return new Operation.ExecuteSql(
        sql,
        /* definition= */ true,
        List.of(),
        List.of(set("", null)),
        /* batch= */ false,
        /* returnsRows= */ false,
        new Operation.WantedKeys.None(),
        /* maxRows= */ 0,
        null,
        /* ownLeaseTrusted= */ true,
        TransactionScope.AUTOCOMMIT);
  }

  static Operation.ExecuteSql batch(String sql, List<Operation.ParameterSet> sets) {
    return statement(sql, true, true, sets, TransactionScope.AUTOCOMMIT);
  }

  static Operation.ParameterSet set(String value, Operation.@Nullable StatementFence fence) {
    return new Operation.ParameterSet(Payload.of(value.getBytes(StandardCharsets.UTF_8)), fence);
  }

  /** A parameter set whose execution takes a lock for itself. */
  static Operation.ParameterSet locked(String value, String lock) {
    return new Operation.ParameterSet(
        Payload.of(value.getBytes(StandardCharsets.UTF_8)), null, new LockName(lock));
  }

  static Operation.ExecuteSql statement(
      String sql, List<Operation.ParameterSet> sets, TransactionScope mode) {
    return statement(sql, false, true, sets, mode);
  }

  private static Operation.ExecuteSql statement(
      String sql,
      boolean batch,
      boolean ownLeaseTrusted,
      List<Operation.ParameterSet> sets,
      TransactionScope mode) {
    return new Operation.ExecuteSql(
        sql,
        /* definition= */ false,
        List.of(),
        sets,
        batch,
        /* returnsRows= */ false,
        new Operation.WantedKeys.None(),
        /* maxRows= */ 0,
        null,
        ownLeaseTrusted,
        mode);
  }
}
