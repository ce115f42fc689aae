package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.peer.LyingPeer;
import dev.tollgate.log.peer.NodeIdentity;
import dev.tollgate.log.peer.PeerGuard;
import dev.tollgate.log.peer.RawPeer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What one node says of another, a removed one or a member, ends none (ADR 0144). */
@Timeout(180)
class HostileMemberTest {
  private static final Duration DEADLINE = Duration.ofSeconds(40);
  private static final UniqueId WRONG = new UniqueId(1, 2);

  @TempDir Path directory;

  @Test
  void removedNodeThatKeepsTheKeyEndsNobody() throws Exception {
    Path audit = Files.createDirectory(directory.resolve("audit"));
    try (LocalCluster cluster =
        new LocalCluster(directory, 3, Duration.ZERO, RaftSettings.SNAPSHOT_LOG_BYTES)) {
      cluster.audit(audit);
      cluster.startAll();
      Connection connection = connected(cluster);
      run(connection, "CREATE TABLE T(ID INT PRIMARY KEY)");
      cluster.awaitKnown();
      String removed = cluster.follower();
      cluster.stop(removed);
      NodeIdentity its = cluster.identity(removed);
      run(connection, "CALL remove_node('" + removed + "')");
      for (String id : List.of("n1", "n2", "n3")) {
        if (id.equals(removed)) {
          continue;
        }
        String address = cluster.raftAddress(id);
        await()
            .atMost(DEADLINE)
            .until(
                () ->
                    RawPeer.answer(removed, its, its.known(), id, WRONG, address, null)
                        .equals("SENDER_REMOVED"));
        assertEquals(
            "RECEIVER_UNKNOWN",
            RawPeer.answer("never-was", its, its.known(), id, WRONG, address, null));
        assertEquals(
            "UNNAMED_CLUSTER",
            RawPeer.answer("never-was", its, ClusterIdentity.NONE, id, WRONG, address, null));
        await()
            .atMost(DEADLINE)
            .until(
                () -> {
                  String lines = Files.readString(audit.resolve(id));
                  return lines.contains(line("SENDER_REMOVED", removed))
                      && lines.contains(line("RECEIVER_UNKNOWN", "never-was"));
                });
      }
      run(connection, "INSERT INTO T VALUES(1)");
      assertGoOn(cluster, removed);
      connection.close();
    }
  }

  private static String line(String reason, String peer) {
    return "\"reason\":\"" + reason + "\",\"peer\":\"" + peer + "\"";
  }

  /** The other node of two cannot lead alone, and goes on as soon as the first is there again. */
  @Test
  void oneOfTwoIsNotEndedByTheOther() throws Exception {
    try (LocalCluster cluster = LocalCluster.started(directory, 2);
        Connection connection = connected(cluster)) {
      run(connection, "CREATE TABLE T(ID INT PRIMARY KEY)");
      cluster.awaitKnown();
      cluster.stop("n2");
      try (LyingPeer liar =
          new LyingPeer(
              cluster.identity("n2"), cluster.raftAddress("n2"), PeerGuard.Reason.SENDER_REMOVED)) {
        await().atMost(DEADLINE).until(() -> liar.told("n1") >= 3);
        assertNull(cluster.node("n1").failure());
      }
      cluster.start("n2");
      run(connection, "INSERT INTO T VALUES(1)");
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = PeerGuard.Reason.class,
      names = {"SENDER_REMOVED", "SENDER_UNKNOWN"})
  void memberThatRefusesAllOthersEndsNobody(PeerGuard.Reason lie) throws Exception {
    try (LocalCluster cluster = LocalCluster.started(directory, 3);
        Connection connection = connected(cluster)) {
      run(connection, "CREATE TABLE T(ID INT PRIMARY KEY)");
      cluster.awaitKnown();
      String hostile = cluster.follower();
      cluster.stop(hostile);
      try (LyingPeer liar =
          new LyingPeer(cluster.identity(hostile), cluster.raftAddress(hostile), lie)) {
        for (String id : List.of("n1", "n2", "n3")) {
          if (!id.equals(hostile)) {
            await().atMost(DEADLINE).until(() -> liar.told(id) >= 3);
          }
        }
        run(connection, "INSERT INTO T VALUES(1)");
        assertGoOn(cluster, hostile);
      }
      // nor has one of them noted anything
      for (String id : List.of("n1", "n2", "n3")) {
        if (!id.equals(hostile)) {
          cluster.stop(id);
          cluster.start(id);
        }
      }
      run(connection, "INSERT INTO T VALUES(2)");
    }
  }

  private static void assertGoOn(LocalCluster cluster, String except) {
    for (String id : List.of("n1", "n2", "n3")) {
      if (!id.equals(except)) {
        assertNull(cluster.node(id).failure(), id);
      }
    }
  }

  private static Connection connected(LocalCluster cluster) throws SQLException {
    cluster.leader();
    return cluster.connect();
  }

  private static void run(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
