package dev.tollgate.log.snapshot;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.RecordingConsumer;
import dev.tollgate.log.SnapshotFile;
import dev.tollgate.log.SnapshotUnavailableException;
import dev.tollgate.log.entry.ProposedEntry;
import dev.tollgate.log.ratis.RatisLog;
import dev.tollgate.snapshot.SnapshotWriter;
import dev.tollgate.snapshot.StateCopy;
import dev.tollgate.wire.WireWriter;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.server.protocol.TermIndex;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Snapshots that somebody asks for. */
class SnapshotsTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  @TempDir Path directory;
  private final RecordingConsumer consumer = new RecordingConsumer();
  private RatisLog log;

  /** Writes one record, or fails. */
  private record Copy(IOException failure) implements StateCopy {
    @Override
    public void writeTo(SnapshotWriter out) throws IOException {
      if (failure != null) {
        throw failure;
      }
      out.record(1, new WireWriter().string("state"));
    }

    @Override
    public void close() {}
  }

  @BeforeEach
  void start() throws Exception {
    log = new RatisLog(RaftSettings.alone("n1", directory), consumer);
    log.start();
    await().atMost(DEADLINE).until(consumer.leading::get);
    apply();
  }

  @AfterEach
  void stop() {
    log.close();
  }

  private void apply() throws Exception {
    log.append(ProposedEntry.untimed(new Command.CloseSession(new SessionId(1))))
        .get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
  }

  private static SnapshotFile get(CompletableFuture<SnapshotFile> asked) throws Exception {
    return asked.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
  }

  @Test
  void oneThatIsAskedForWaitsUntilTheStateCanBeCopied() throws Exception {
    CompletableFuture<SnapshotFile> asked = log.snapshots().take();
    apply();
    assertFalse(asked.isDone(), "there was nothing to copy yet");
    consumer.copies.add(new Copy(null));
    apply();
    SnapshotFile file = get(asked);
    assertEquals(log.status().lastAppliedIndex(), file.index());
    assertEquals(file.sizeBytes(), Files.size(file.path()));
    assertEquals(file, log.snapshots().list().get(0));
  }

  /** Clients reach a node before it has opened its log. */
  @Test
  void nodeThatStartsHasNoneAndSaysSo() throws Exception {
    try (RatisLog starting =
        new RatisLog(RaftSettings.alone("n2", directory.resolve("n2")), new RecordingConsumer())) {
      assertEquals(List.of(), starting.snapshots().list());
      CompletableFuture<SnapshotFile> asked = starting.snapshots().take();
      ExecutionException refused = assertThrows(ExecutionException.class, () -> get(asked));
      SnapshotUnavailableException cause = (SnapshotUnavailableException) refused.getCause();
      assertEquals(SnapshotUnavailableException.Reason.NOT_HERE, cause.reason());
      assertTrue(cause.getMessage().contains("node n2 starts"), cause.getMessage());
    }
  }

  @Test
  void nobodyHasToApplyAnythingForIt() throws Exception {
    consumer.copies.add(new Copy(null));
    SnapshotFile file = get(log.snapshots().take());
    assertEquals(log.status().lastAppliedIndex(), file.index());
    assertEquals(file, get(log.snapshots().take()), "nothing was applied since: the same again");
  }

  @Test
  void oneThatMadeWayForADefinitionIsTriedAgain() throws Exception {
    consumer.copies.add(new Copy(new InterruptedIOException("a definition waits")));
    consumer.copies.add(new Copy(null));
    assertEquals(log.status().lastAppliedIndex(), get(log.snapshots().take()).index());
  }

  @Test
  void oneThatCannotBeWrittenSaysWhyAndTheNextOneCan() throws Exception {
    consumer.copies.add(new Copy(new IOException("no room")));
    CompletableFuture<SnapshotFile> failed = log.snapshots().take();
    ExecutionException thrown = assertThrows(ExecutionException.class, () -> get(failed));
    assertTrue(
        thrown.getCause() instanceof SnapshotUnavailableException why
            && why.reason() == SnapshotUnavailableException.Reason.DISK
            && why.getMessage().contains("no room"),
        thrown.toString());
    consumer.copies.add(new Copy(null));
    assertEquals(log.status().lastAppliedIndex(), get(log.snapshots().take()).index());
  }

  @Test
  void oneThatCannotBeReadBackIsNone() throws Exception {
    consumer.copies.add(new Copy(null));
    SnapshotFile first = get(log.snapshots().take());
    apply();
    consumer.unreadable = new IllegalStateException("its view V cannot be made again");
    consumer.copies.add(new Copy(null));
    CompletableFuture<SnapshotFile> failed = log.snapshots().take();
    ExecutionException thrown = assertThrows(ExecutionException.class, () -> get(failed));
    assertTrue(thrown.getMessage().contains("its view V cannot be made again"), thrown.toString());
    assertEquals(List.of(first), log.snapshots().list());
    assertTrue(Files.exists(first.path().resolveSibling("snapshot.unreadable")));
    assertEquals(1, log.figures().unreadable());
    consumer.unreadable = null;
    consumer.copies.add(new Copy(null));
    get(log.snapshots().take());
    assertEquals(2, log.snapshots().list().size());
  }

  @Test
  void nodeThatCannotRestoreTheNewestTakesTheOneBeforeAndTheLog() throws Exception {
    consumer.copies.add(new Copy(null));
    SnapshotFile first = get(log.snapshots().take());
    apply();
    consumer.copies.add(new Copy(null));
    SnapshotFile second = get(log.snapshots().take());
    log.close();
    RecordingConsumer again = new RecordingConsumer();
    again.unrestorable.set(1);
    try (RatisLog restarted = new RatisLog(RaftSettings.alone("n1", directory), again)) {
      restarted.start();
      await().atMost(DEADLINE).until(again.leading::get);
      assertEquals(2, again.restored.get());
      assertTrue(
          again.indexes.stream()
              .anyMatch(index -> index > first.index() && index <= second.index()),
          () -> "entries were applied again: " + again.indexes);
      assertEquals(List.of(first), restarted.snapshots().list());
    }
  }

  @Test
  void nodeThatCanRestoreNoSnapshotNamesTheFirstCauseAndKeepsThem() throws Exception {
    consumer.copies.add(new Copy(null));
    SnapshotFile first = get(log.snapshots().take());
    log.close();
    RecordingConsumer again = new RecordingConsumer();
    again.unrestorable.set(1);
    try (RatisLog restarted = new RatisLog(RaftSettings.alone("n1", directory), again)) {
      Exception thrown = assertThrows(Exception.class, restarted::start);
      assertTrue(thrown.toString().contains("table T cannot be made again"), thrown.toString());
    }
    assertTrue(Files.exists(first.path()));
  }

  /** Two are kept, and the log before the older one is dropped. */
  @Test
  void oneWithoutItsDigestIsNone() throws Exception {
    consumer.copies.add(new Copy(null));
    Path first = get(log.snapshots().take()).path();
    apply();
    TermIndex next = TermIndex.valueOf(log.status().term(), log.status().lastAppliedIndex());
    Path digest =
        first.resolveSibling("snapshot." + next.getTerm() + "_" + next.getIndex() + ".md5");
    Path inTheWay = Files.createDirectory(digest.resolveSibling(digest.getFileName() + ".tmp"));
    consumer.copies.add(new Copy(null));
    CompletableFuture<SnapshotFile> failed = log.snapshots().take();
    assertThrows(ExecutionException.class, () -> get(failed));
    assertEquals(List.of(first), log.snapshots().list().stream().map(SnapshotFile::path).toList());
    Files.delete(inTheWay);
    consumer.copies.add(new Copy(null));
    assertEquals(next.getIndex(), get(log.snapshots().take()).index());
  }

  @Test
  void oneThatIsWholeGetsTheDigestThatAFullDiskHasEmptied() throws Exception {
    consumer.copies.add(new Copy(null));
    Path snapshot = get(log.snapshots().take()).path();
    log.close();
    Path digest = snapshot.resolveSibling(snapshot.getFileName() + ".md5");
    String whole = Files.readString(digest);
    Files.writeString(digest, "");
    SnapshotFiles files = new SnapshotFiles("n1", snapshot.getParent());
    files.setAsideDamaged();
    assertEquals(
        List.of(snapshot), files.all().stream().map(SnapshotFiles.Snapshot::file).toList());
    assertEquals(whole, Files.readString(digest));
  }

  @Test
  void whoStillWaitsWhenTheNodeStopsIsTold() {
    CompletableFuture<SnapshotFile> asked = log.snapshots().take();
    log.close();
    ExecutionException thrown = assertThrows(ExecutionException.class, () -> get(asked));
    assertTrue(thrown.getMessage().contains("the node stops"), thrown.toString());
  }
}
