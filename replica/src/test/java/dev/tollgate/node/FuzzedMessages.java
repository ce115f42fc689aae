package dev.tollgate.node;

import dev.tollgate.value.Parameter;
import dev.tollgate.wire.KeyRequest;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.ScramBinding;
import dev.tollgate.wire.SeriesEnding;
import dev.tollgate.wire.TransactionMode;
import dev.tollgate.wire.WireWriter;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.h2.engine.CastDataProvider;
import org.h2.value.Value;
import org.h2.value.ValueArray;
import org.h2.value.ValueBigint;
import org.h2.value.ValueBoolean;
import org.h2.value.ValueDate;
import org.h2.value.ValueDecfloat;
import org.h2.value.ValueDouble;
import org.h2.value.ValueInteger;
import org.h2.value.ValueJson;
import org.h2.value.ValueNull;
import org.h2.value.ValueNumeric;
import org.h2.value.ValueTimestamp;
import org.h2.value.ValueUuid;
import org.h2.value.ValueVarbinary;
import org.h2.value.ValueVarchar;
import org.jspecify.annotations.Nullable;

/**
 * Messages of the client protocol as no driver sends them: valid ones with values at their bounds,
 * and valid ones of which bytes were changed. All follows from the seed.
 */
final class FuzzedMessages {
  /** With the number of parameters that each takes. */
  private static final String[] STATEMENTS = {
    "INSERT INTO F(ID, S) VALUES(?, ?)",
    "UPDATE F SET S = ?, N = N + 1 WHERE ID = ?",
    "DELETE FROM F WHERE ID = ?",
    "MERGE INTO F(ID, S) KEY(ID) VALUES(?, ?)",
    "SELECT * FROM F WHERE ID > ? ORDER BY ID",
    "SELECT COUNT(*), MAX(S) FROM F",
    "SELECT X FROM SYSTEM_RANGE(1, 3000)",
    "SELECT * FROM F FOR UPDATE",
    "SELECT * FROM FINAL TABLE(UPDATE F SET N = 1 WHERE ID = ?)",
    "INSERT INTO G(K, A, J) VALUES(?, ?, ?)",
    "SELECT * FROM G WHERE K = ?",
    "DELETE FROM G WHERE K = ?",
    "INSERT INTO P(V) VALUES(?) FENCED BY LOCK ? TOKEN ?",
    "UPDATE P SET V = ?",
    "SELECT acquire_lock(?, 0, 30)",
    "SELECT acquire_lock(?, ?, ?)",
    "SELECT try_acquire_lock(?)",
    "SELECT try_acquire_lock(?, ?)",
    "SELECT try_acquire_shared_lock(?)",
    "SELECT acquire_lock(SUBSTRING(?, 1, 1), 0, 20)",
    "SELECT acquire_lock(SUBSTRING('\uD83D\uDE00', 1, 1), 0, 20)",
    "SELECT acquire_lock(SUBSTRING('\uD83D\uDE00', 2, 1), 0, 20)",
    "INSERT INTO G(K) VALUES(SUBSTRING('\uD83D\uDE00', ?, 1))",
    "SELECT release_lock(?)",
    "SELECT release_lock(?, ?)",
    "SELECT release_lock(?, ?, ?)",
    "SELECT release_lock(?, NULL, 40)",
    "SELECT transfer_lock(?, ?, ?)",
    "SELECT acquire_locks(?, 0, 30)",
    "SELECT acquire_locks(ARRAY[?, ?], ?, 30)",
    "SELECT try_acquire_locks(ARRAY[?, ?])[1]",
    "SELECT acquire_transaction_lock(?, 30)",
    "SELECT acquire_transaction_lock(?, ?)",
    "UPDATE F SET S = ? WHERE ID = ? LOCKED BY ?",
    "CREATE LOCK IF NOT EXISTS ? PERMITS 2",
    "ALTER LOCK ? PERMITS ?",
    "DROP LOCK ?",
    "SELECT force_release_lock(?)",
    "SELECT holds_lock(?, ?)",
    "SELECT lock_token(?)",
    "SELECT create_lease(?, ?)",
    "SELECT create_lease(5000, ?)",
    "SELECT renew_lease(?)",
    "SELECT revoke_lease(?)",
    "SET FENCING TOKEN ? FOR LOCK ?",
    "SET FENCED BY LOCK ? TOKEN ?",
    "SET NOT FENCED",
    "SET SCHEMA ?",
    "SET LOCK_TIMEOUT ?",
    "SET LOCK_TIMEOUT 20",
    "SET LOCK_TIMEOUT 5",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT A",
    "ROLLBACK TO SAVEPOINT A",
    "SELECT * FROM TOLLGATE.LOCKS",
    "SELECT * FROM TOLLGATE.SESSIONS",
    "SELECT * FROM TOLLGATE.LOCK_WAITERS",
    "SELECT * FROM TOLLGATE.LOCK_DEFINITIONS",
    "SELECT * FROM TOLLGATE.LEASES",
    "CREATE TABLE IF NOT EXISTS H(ID INT)",
    "DROP TABLE IF EXISTS H",
    "CREATE TEMPORARY TABLE TT(ID INT)",
    "INSERT INTO TT VALUES(?)",
    "CREATE SCHEMA IF NOT EXISTS S2",
    "DROP SCHEMA IF EXISTS S2",
    "CREATE INDEX IF NOT EXISTS F_S ON F(S)",
    "DROP INDEX IF EXISTS F_S",
    "ALTER TABLE H FENCED BY LOCK 'a'",
    "ALTER TABLE H NOT FENCED",
    "CALL take_snapshot()",
    "SELECT ?",
    "VALUES(?, ?)",
    "SELEC",
    "",
    "SELECT 'a",
    "SELECT $$a$$ || ?",
    "{? = call acquire_lock(?)}",
    "EXPLAIN SELECT * FROM F",
  };

  private static final String[] TEXTS = {
    "a",
    "b",
    "job",
    "",
    " ",
    "\0",
    "a\0b",
    "\uD83D",
    "\uDE00",
    "\uD83D\uDE00",
    "x\uDE00\uD83Dy",
    "\uFFFF",
    "ä",
    "PUBLIC",
    "S2",
    "1",
    "-1",
    "[[[[1]]]]",
    "{\"a\": [1, null]}",
    "2024-02-30",
    "'",
    "--",
    "x".repeat(255),
    "x".repeat(256),
    "\uD83D\uDE00".repeat(128),
    "x".repeat(70_000),
  };

  private static final long[] NUMBERS = {
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    -1,
    100,
    255,
    256,
    1_000,
    5_000,
    65_535,
    65_536,
    3_600_000,
    3_600_001,
    Integer.MAX_VALUE,
    Integer.MIN_VALUE,
    Long.MAX_VALUE,
    Long.MIN_VALUE
  };

  private final Random random;

  FuzzedMessages(Random random) {
    this.random = random;
  }

  String statement() {
    return STATEMENTS[random.nextInt(STATEMENTS.length)];
  }

  /** A number at some bound, mostly a small one. */
  long number() {
    return random.nextBoolean() ? random.nextInt(8) : NUMBERS[random.nextInt(NUMBERS.length)];
  }

  private String text() {
    return random.nextBoolean() ? TEXTS[random.nextInt(4)] : TEXTS[random.nextInt(TEXTS.length)];
  }

  Request.SessionOptions options() {
    return new Request.SessionOptions(
        switch (random.nextInt(3)) {
          case 0 -> ReadConsistency.ANY;
          case 1 -> ReadConsistency.LEADER;
          default -> ReadConsistency.LINEARIZABLE;
        },
        random.nextInt(8) == 0 ? number() : random.nextInt(50));
  }

  /** An execution with as many parameters as the statement has, or nearly so. */
  Request.Execute execute(long sequence, String sql) {
    boolean batch = random.nextInt(6) == 0;
    List<byte[]> sets = new ArrayList<>();
    for (int i = batch ? random.nextInt(4) : 1; i > 0; i--) {
      sets.add(parameters(sql));
    }
    return new Request.Execute(
        sequence,
        random.nextInt(5) != 0,
        mode(),
        batch,
        sql,
        keys(),
        random.nextInt(4) == 0 ? random.nextInt(Integer.MAX_VALUE) : 0,
        random.nextInt(4) == 0 ? random.nextInt(50) : 0,
        sets);
  }

  /** A series, mostly of changes, for which the node may have other rules. */
  Request.ExecuteSeries series(long sequence) {
    List<Request.SeriesStatement> statements = new ArrayList<>();
    for (int i = random.nextInt(40) == 0 ? 600 : 1 + random.nextInt(5); i > 0; i--) {
      String sql = statement();
      statements.add(new Request.SeriesStatement(sql, parameters(sql)));
    }
    TransactionMode mode = mode();
    SeriesEnding ending =
        switch (random.nextInt(3)) {
          case 0 -> SeriesEnding.RUN_ALL;
          case 1 -> SeriesEnding.STOP_AT_FAILURE;
          default ->
              mode == TransactionMode.AUTOCOMMIT ? SeriesEnding.RUN_ALL : SeriesEnding.COMMIT;
        };
    return new Request.ExecuteSeries(sequence, random.nextInt(5) != 0, mode, ending, statements);
  }

  /** Mostly autocommit: an open transaction has others wait for its rows. */
  private TransactionMode mode() {
    return switch (random.nextInt(20)) {
      case 0 -> TransactionMode.SERIALIZABLE;
      case 1, 2, 3 -> TransactionMode.READ_COMMITTED;
      default -> TransactionMode.AUTOCOMMIT;
    };
  }

  /** A step of a login, which this node has not asked for, or at the wrong moment. */
  Request login() {
    byte[] data = mutated("n,,n=jo,r=0123456789".getBytes(StandardCharsets.UTF_8));
    return switch (random.nextInt(3)) {
      case 0 -> new Request.ContinueLogin(data);
      case 1 -> new Request.BeginLogin(text(), data);
      default -> new Request.BeginLogin(ScramBinding.PLAIN, data);
    };
  }

  private KeyRequest keys() {
    return switch (random.nextInt(12)) {
      case 0 -> new KeyRequest.Generated();
      case 1 -> new KeyRequest.Positions(List.of((int) number(), (int) number()));
      case 2 -> new KeyRequest.Names(List.of(text(), "ID"));
      default -> new KeyRequest.None();
    };
  }

  private byte[] parameters(String sql) {
    int count = (int) sql.chars().filter(character -> character == '?').count();
    if (random.nextInt(20) == 0) {
      count += random.nextInt(3) - 1;
    }
    List<Value> values = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      values.add(value());
    }
    byte[] set = Parameter.encodeValues(values);
    return random.nextInt(12) == 0 ? mutated(set) : set;
  }

  byte[] metadataArguments() {
    List<Value> values = new ArrayList<>();
    for (int i = random.nextInt(5); i > 0; i--) {
      values.add(random.nextBoolean() ? ValueNull.INSTANCE : value());
    }
    return Parameter.encodeValues(values);
  }

  private Value value() {
    return switch (random.nextInt(18)) {
      case 0, 1, 2, 3, 4 -> ValueInteger.get((int) number());
      case 5, 6, 7, 8 -> ValueVarchar.get(text(), (@Nullable CastDataProvider) null);
      case 9 -> ValueBigint.get(number());
      case 10 -> ValueNull.INSTANCE;
      case 11 -> ValueNumeric.get(new BigDecimal(number()).movePointLeft(random.nextInt(40)));
      case 12 -> random.nextBoolean() ? ValueDecfloat.NAN : ValueDouble.get(Double.NaN);
      case 13 -> ValueArray.get(new Value[] {value(), ValueNull.INSTANCE}, null);
      case 14 -> ValueTimestamp.fromDateValueAndNanos((1L + random.nextInt(9_999)) << 9 | 0x21, 1);
      case 15 -> random.nextBoolean() ? ValueUuid.get(number(), 7) : ValueDate.fromDateValue(33);
      case 16 -> ValueVarbinary.get(new byte[random.nextInt(300)]);
      default ->
          random.nextBoolean()
              ? ValueBoolean.TRUE
              : ValueJson.fromJson("[".repeat(30) + "]".repeat(30));
    };
  }

  /** The same bytes with some of them changed, doubled, left out, or cut off. */
  byte[] mutated(byte[] bytes) {
    byte[] changed = bytes.clone();
    for (int i = 1 + random.nextInt(3); i > 0 && changed.length > 0; i--) {
      int at = random.nextInt(changed.length);
      switch (random.nextInt(6)) {
        case 0 -> changed[at] = (byte) random.nextInt(256);
        case 1 -> changed[at] ^= (byte) (1 << random.nextInt(8));
        case 2 -> changed = Arrays.copyOf(changed, at);
        case 3 -> changed = Arrays.copyOf(changed, changed.length + 1 + random.nextInt(9));
        case 4 -> changed = without(changed, at);
        default -> changed = withNumber(changed, at);
      }
    }
    return changed;
  }

  private static byte[] without(byte[] bytes, int at) {
    byte[] shorter = Arrays.copyOf(bytes, bytes.length - 1);
    System.arraycopy(bytes, at + 1, shorter, at, bytes.length - at - 1);
    return shorter;
  }

  /** Four bytes become a number at some bound: a length, a count, half of an id. */
  private byte[] withNumber(byte[] bytes, int at) {
    byte[] changed = bytes.clone();
    byte[] number = new WireWriter().i32((int) number()).toByteArray();
    System.arraycopy(number, 0, changed, at, Math.min(4, changed.length - at));
    return changed;
  }
}
