package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.log.trace.PromiseTrace;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SyncedIndexTest {
  @TempDir private Path directory;

  private OptionalLong read() throws IOException {
    try (SyncedIndex synced = SyncedIndex.open(directory)) {
      return synced.get();
    }
  }

  @Test
  void newFileKnowsOfNoEntry() throws IOException {
    assertEquals(OptionalLong.empty(), read());
  }

  @Test
  void lastEntryIsKept() throws IOException {
    try (SyncedIndex synced = SyncedIndex.open(directory)) {
      synced.set(-1);
      synced.set(7);
    }
    assertEquals(OptionalLong.of(7), read());
  }

  @Test
  void damagedFileKnowsOfNoEntry() throws IOException {
    try (SyncedIndex synced = SyncedIndex.open(directory)) {
      synced.set(7);
    }
    Path file = directory.resolve("synced");
    byte[] content = Files.readAllBytes(file);
    for (int place = 0; place < content.length; place++) {
      byte[] damaged = content.clone();
      damaged[place] ^= 1;
      Files.write(file, damaged);
      assertEquals(OptionalLong.empty(), read(), "at " + place);
    }
  }

  /** It rises without a sync, and sinks with one: too much must not come back after a power cut. */
  @Test
  void earlierEntryIsSynced() throws IOException {
    try (RecordedForces forces = new RecordedForces();
        SyncedIndex synced = SyncedIndex.open(directory)) {
      synced.set(5);
      synced.set(7);
      synced.set(7);
      synced.set(6);
      Path file = directory.resolve("synced");
      assertEquals(List.of(file, file), forces.in(directory), "of the first entry and of the last");
    }
  }

  @Test
  void entriesThatAreCutOffAreForgottenBefore() throws IOException {
    EntrySyncs syncs = new EntrySyncs(directory, SyncedIndex.open(directory), PromiseTrace.NONE);
    syncs.begin(9);
    syncs.beforeCut(6);
    assertEquals(OptionalLong.of(5), syncs.known());
    syncs.beforeCut(8);
    assertEquals(OptionalLong.of(5), syncs.known());
    syncs.close();
    assertEquals(OptionalLong.of(5), read());
  }

  /** The thread that writes the log gets to the cut last. */
  @Test
  void syncOfEntriesThatAreCutOffSoonIsNotRecorded() throws IOException {
    EntrySyncs syncs = new EntrySyncs(directory, SyncedIndex.open(directory), PromiseTrace.NONE);
    syncs.begin(3);
    syncs.beforeCut(8);
    syncs.beforeCut(6);
    syncs.succeeded(9);
    assertEquals(OptionalLong.of(5), syncs.known());
    syncs.cut();
    syncs.succeeded(7);
    assertEquals(OptionalLong.of(5), syncs.known(), "one cut is left");
    syncs.cut();
    syncs.succeeded(7);
    assertEquals(OptionalLong.of(7), syncs.known());
    syncs.close();
  }

  @Test
  void syncThatFailedIsNotRecorded() throws IOException {
    List<Long> recorded = new ArrayList<>();
    FileChannel file =
        FileChannel.open(
            directory.resolve("segment"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    try (SyncedChannel channel = new SyncedChannel(file, () -> 7, recorded::add)) {
      channel.force(false);
      assertEquals(List.of(7L), recorded);
      file.close();
      assertThrows(IOException.class, () -> channel.force(false));
      assertEquals(List.of(7L), recorded);
    }
  }

  @Test
  void keptRecordIsSyncedOnceForEachChange() throws IOException {
    try (RecordedForces forces = new RecordedForces();
        SyncedIndex synced = SyncedIndex.open(directory)) {
      synced.set(5);
      synced.sync();
      synced.set(7);
      synced.sync();
      synced.sync();
      Path file = directory.resolve("synced");
      assertEquals(List.of(file, file, file), forces.in(directory), "the first one twice");
    }
  }
}
