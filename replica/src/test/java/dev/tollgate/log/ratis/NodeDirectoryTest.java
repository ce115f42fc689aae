package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.LoneFollower.entry;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.StateRecord;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.seal.DataKeys;
import dev.tollgate.snapshot.SnapshotWriter;
import dev.tollgate.snapshot.StateCodec;
import dev.tollgate.wire.WireWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The directory of a node that does not run. */
class NodeDirectoryTest {
  @TempDir private Path directory;

  /** What was there is gone after that, so what is new has to be there. */
  @Test
  void reseedIsOnTheDiskWhenItReturns() throws Exception {
    LogEntryProto members;
    try (LoneFollower node = new LoneFollower(directory, RaftSettings.SNAPSHOT_LOG_BYTES)) {
      node.ask(node.request(1, null, LoneFollower.NOTHING, entry(1, 0, "old")));
      members = node.membersEntry(2, 90);
    }
    Path group = LoneFollower.storage(directory);
    assertTrue(Files.exists(group.resolve("synced")));
    NodeDirectory.Reseeded reseeded;
    List<Path> forced;
    try (RecordedForces forces = new RecordedForces()) {
      reseeded =
          NodeDirectory.reseed(
              directory,
              LoneFollower.ID,
              DataKeys.off(),
              (file, keys) -> {
                Files.write(file, snapshot());
                return new NodeDirectory.Seed("n1", 2, 100, members.toByteArray());
              });
      forced = forces.in(group);
    }
    assertTrue(Files.notExists(group.resolve("synced")), "it tells of another log");
    Path aside = group.resolve("replaced-1");
    assertEquals(List.of(aside.resolve("log_inprogress_0")), reseeded.files());
    int snapshot = forced.indexOf(group.resolve("sm"));
    assertTrue(snapshot > forced.indexOf(group), "the members before the snapshot: " + forced);
    assertEquals(
        List.of(aside, group.resolve("current")),
        forced.subList(snapshot + 1, forced.size()),
        "the log after the snapshot: " + forced);
    assertEquals(
        3,
        forced.subList(0, snapshot).stream().filter(group::equals).count(),
        "the members, the index of another log and the directory for what was there: " + forced);
    try (LoneFollower node = new LoneFollower(directory, RaftSettings.SNAPSHOT_LOG_BYTES)) {
      assertEquals(1, node.consumer.restored.get());
    }
  }

  /** A snapshot with the smallest state of locks that a node takes over. */
  private static byte[] snapshot() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    SnapshotWriter writer = new SnapshotWriter(bytes);
    WireWriter counters = new WireWriter();
    int kind =
        StateCodec.write(
            counters, new StateRecord.Counters(new LogPosition(100, 0, 0), 0, 0, 0, 0, 0));
    writer.record(kind, counters);
    writer.finish();
    return bytes.toByteArray();
  }
}
