package dev.tollgate.node.replica;

import dev.tollgate.core.CoreCopy;
import dev.tollgate.core.StateRecord;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.StateChecksum;
import dev.tollgate.snapshot.Checksums;
import dev.tollgate.snapshot.StateCodec;
import dev.tollgate.store.transfer.DatabaseCopy;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * A replica's state at one moment, for a checksum that is computed while the replica goes on.
 * Transactions may be open; what they have done so far is left out. The wording of SQL errors may
 * rightly differ, so it is left out too, see {@link Outcome.SqlFailed}.
 */
final class ReplicaDigest implements AutoCloseable {
  private static final String FURTHER_PARTS = "further tables";
  private static final PartNames NAMES = new PartNames();

  private static final int BLOCK_BYTES = 64 << 10;

  private final CoreCopy core;
  private final DatabaseCopy database;

  ReplicaDigest(CoreCopy core, DatabaseCopy database) {
    this.core = core;
    this.database = database;
  }

  /** The records of a part; only the checksum and the last few records are kept. */
  private static final class Records {
    private final MessageDigest digest = Checksums.sha256();
    private final WireWriter last = new WireWriter();

    void add(StateRecord piece) {
      StateCodec.write(last, piece);
      if (last.size() >= BLOCK_BYTES) {
        sumUp();
      }
    }

    byte[] checksum() {
      sumUp();
      return digest.digest();
    }

    private void sumUp() {
      digest.update(last.array(), 0, last.size());
      last.clear();
    }
  }

  private static StateRecord withoutWording(StateRecord piece) {
    if (piece instanceof StateRecord.SessionState session) {
      Outcome last = session.lastOutcome();
      return last == null ? session : session.withLastOutcome(withoutWording(last));
    }
    return piece;
  }

  private static Outcome withoutWording(Outcome outcome) {
    if (outcome instanceof Outcome.SqlFailed failed) {
      return new Outcome.SqlFailed(failed.sqlState(), failed.vendorCode(), "");
    }
    return outcome instanceof Outcome.Batch batch
        ? new Outcome.Batch(batch.outcomes().stream().map(ReplicaDigest::withoutWording).toList())
        : outcome;
  }

  /**
   * Computes the checksum; can be called once, by any one thread.
   *
   * @throws InterruptedIOException if a definition came first
   */
  StateChecksum compute() throws InterruptedIOException {
    Map<String, Records> records = new TreeMap<>();
    for (StateRecord piece : core) {
      records
          .computeIfAbsent(piece.handledBy(NAMES), name -> new Records())
          .add(withoutWording(piece));
    }
    NavigableMap<String, byte[]> parts = new TreeMap<>();
    records.forEach((name, ofPart) -> parts.put(name, ofPart.checksum()));
    MessageDigest digest = Checksums.sha256();
    database.checksums(parts::put);
    NavigableMap<String, Long> shown = new TreeMap<>();
    MessageDigest further = Checksums.sha256();
    for (Map.Entry<String, byte[]> part : parts.entrySet()) {
      digest.update(part.getKey().getBytes(StandardCharsets.UTF_8));
      digest.update(part.getValue());
      if (shown.size() < Limits.CHECKSUM_PARTS - 1) {
        shown.put(part.getKey(), first(part.getValue()));
      } else {
        further.update(part.getValue());
        shown.put(FURTHER_PARTS, 0L);
      }
    }
    shown.computeIfPresent(FURTHER_PARTS, (name, none) -> first(further.digest()));
    return new StateChecksum(HexFormat.of().formatHex(digest.digest()), shown);
  }

  private static long first(byte[] checksum) {
    return new WireReader(checksum).i64();
  }

  @Override
  public void close() {
    database.close();
  }

  /** The names of parts, as operators are told where a difference is. */
  private static final class PartNames implements StateRecord.Handler<String> {
    @Override
    public String counters(StateRecord.Counters state) {
      return "counters";
    }

    @Override
    public String node(StateRecord.NodeAddress state) {
      return "nodes";
    }

    @Override
    public String lease(StateRecord.LeaseState state) {
      return "leases";
    }

    @Override
    public String session(StateRecord.SessionState state) {
      return "sessions";
    }

    @Override
    public String sessionFence(StateRecord.SessionFence state) {
      return "sessions";
    }

    @Override
    public String waitingStatement(StateRecord.WaitingStatement state) {
      return "sessions";
    }

    @Override
    public String definedLock(StateRecord.DefinedLock state) {
      return "locks";
    }

    @Override
    public String lock(StateRecord.LockState state) {
      return "locks";
    }

    @Override
    public String fence(StateRecord.FenceState state) {
      return "fences";
    }

    @Override
    public String identity(StateRecord.Identity state) {
      return "nodes";
    }

    @Override
    public String randomness(StateRecord.Randomness state) {
      return "counters";
    }

    @Override
    public String silence(StateRecord.LeaseSilence state) {
      return "leases";
    }

    @Override
    public String computing(StateRecord.ComputingState state) {
      return "environment";
    }

    @Override
    public String featureLevel(StateRecord.FeatureLevelState state) {
      return "feature level";
    }

    @Override
    public String limits(StateRecord.LimitsState state) {
      return "limits";
    }

    @Override
    public String skipped(StateRecord.SkippedCommand state) {
      return "skips";
    }

    @Override
    public String digest(StateRecord.Digest state) {
      return "digest";
    }

    @Override
    public String user(StateRecord.UserState state) {
      return "users";
    }

    @Override
    public String loginSecret(StateRecord.LoginSecret state) {
      return "users";
    }

    @Override
    public String right(StateRecord.RightState state) {
      return "rights";
    }

    @Override
    public String check(StateRecord.CheckState state) {
      return "checks";
    }
  }
}
