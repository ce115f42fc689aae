package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.StateRecord;
import dev.tollgate.core.command.Command;
import dev.tollgate.jdbc.TollgateDriver;
import dev.tollgate.log.ratis.NodeDirectory;
import dev.tollgate.seal.DataKeys;
import dev.tollgate.snapshot.Backup;
import dev.tollgate.snapshot.SnapshotReader;
import dev.tollgate.snapshot.SnapshotWriter;
import dev.tollgate.snapshot.StateCodec;
import dev.tollgate.transport.SnapshotDownload;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A backup has the secrets of sessions: nobody can use them in the cluster that is made of it. */
@Timeout(120)
class RestoredSessionTest {
  private static final Request.SessionOptions OPTIONS =
      new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 1_000);

  @TempDir Path directory;

  @Test
  void secretOfABackupOpensNoSessionOfTheRestoredCluster() throws Exception {
    Path file = directory.resolve("backup");
    Reply.SessionReady session;
    try (LocalCluster cluster = LocalCluster.started(directory.resolve("old"), 1);
        RawClient client = new RawClient(cluster.clientAddress(cluster.leader()))) {
      client.hello();
      session =
          assertInstanceOf(
              Reply.SessionReady.class,
              client.call(new Request.OpenSession(600_000, 15_000, OPTIONS)));
      try (SnapshotDownload download = TollgateDriver.openSnapshot(cluster.url(), true);
          OutputStream out = Files.newOutputStream(file)) {
        download.copyTo(out);
      }
    }
    Backup backup = Backup.check(file);
    assertEquals(List.of(Command.OpenSession.NO_SECRET), secrets(backup));
    LocalCluster restored = new LocalCluster(directory.resolve("new"), 1, Duration.ZERO, 1 << 20);
    NodeDirectory.restore(restored.data("n1"), backup, 1, DataKeys.off());
    restored.startAll();
    try (restored) {
      try (RawClient client = new RawClient(restored.clientAddress(restored.leader()))) {
        client.hello();
        for (long secret : new long[] {session.secret(), Command.OpenSession.NO_SECRET}) {
          Reply.Failure refused =
              assertInstanceOf(
                  Reply.Failure.class,
                  client.call(
                      new Request.AttachSession(session.sessionId(), secret, true, OPTIONS)));
          assertTrue(refused.message().contains("of a restored backup"), refused.message());
          assertFalse(
              client.call(new Request.Cancel(session.sessionId(), secret, 1)) instanceof Reply.Ok);
        }
      }
    }
  }

  private static List<Long> secrets(Backup backup) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (var state = backup.inEpoch(1)) {
      SnapshotWriter writer = new SnapshotWriter(bytes);
      state.writeTo(writer);
      writer.finish();
    }
    List<Long> secrets = new ArrayList<>();
    SnapshotReader in = new SnapshotReader(new ByteArrayInputStream(bytes.toByteArray()));
    for (SnapshotReader.Piece piece = in.next(); piece != null; piece = in.next()) {
      if (piece.kind() < StateCodec.FIRST_FREE_KIND
          && StateCodec.read(piece.kind(), piece.body())
              instanceof StateRecord.SessionState session) {
        secrets.add(session.opening().secret());
      }
    }
    return secrets;
  }
}
