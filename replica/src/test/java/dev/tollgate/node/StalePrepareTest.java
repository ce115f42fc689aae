package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.tollgate.value.Parameter;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.h2.value.ValueNull;
import org.h2.value.ValueVarchar;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A node that has not applied a definition yet does not say that the table is missing. */
@Timeout(120)
@SuppressWarnings("try") // what makes the replica busy is there to be closed
class StalePrepareTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final Request INSERT = new Request.Prepare("INSERT INTO LATER VALUES(1)");
  private static final Request SELECT = new Request.Prepare("SELECT * FROM LATER");

  /** DatabaseMetaData.getTables, as the driver asks for it. */
  private static final Request TABLES =
      new Request.Metadata(
          10,
          Parameter.encodeValues(
              List.of(
                  ValueNull.INSTANCE,
                  ValueNull.INSTANCE,
                  ValueVarchar.get("LATER"),
                  ValueNull.INSTANCE)));

  @TempDir Path directory;

  @Test
  void nodeThatLagsSendsOnToTheLeader() throws Exception {
    try (LocalCluster cluster = LocalCluster.started(directory, 3);
        RawClient first = new RawClient(cluster.clientAddress(cluster.leader()));
        Connection leader = cluster.connect();
        Statement statement = leader.createStatement()) {
      String lagging = cluster.follower();
      Reply.SessionReady session = open(first);
      try (RawClient any = attached(cluster, lagging, session, ReadConsistency.ANY);
          RawClient linearizable =
              attached(cluster, lagging, session, ReadConsistency.LINEARIZABLE);
          BusyApply busy = busyOnceItKnowsTheLeader(cluster.node(lagging), linearizable)) {
        statement.execute("CREATE TABLE LATER(ID INT)");
        assertInstanceOf(Reply.NotLeader.class, linearizable.call(INSERT));
        assertInstanceOf(Reply.NotLeader.class, linearizable.call(SELECT));
        assertInstanceOf(Reply.NotLeader.class, any.call(INSERT));
        assertInstanceOf(Reply.NotLeader.class, linearizable.call(TABLES));
        assertInstanceOf(Reply.Result.class, any.call(TABLES));
        Reply old = any.call(SELECT);
        assertEquals("42S", assertInstanceOf(Reply.Failure.class, old).sqlState().substring(0, 3));
        assertInstanceOf(
            Reply.Prepared.class, any.call(new Request.Prepare("SELECT acquire_lock('job')")));
        insertFrom(cluster.clientAddress(lagging));
      }
    }
  }

  /** A node learns from the log where clients reach the leader. */
  private static BusyApply busyOnceItKnowsTheLeader(Node lagging, RawClient client)
      throws Exception {
    await()
        .atMost(DEADLINE)
        .until(
            () ->
                client.call(SELECT) instanceof Reply.NotLeader redirect
                    && redirect.cluster().leaderAddress() != null);
    return new BusyApply(lagging.replica());
  }

  private static void insertFrom(InetSocketAddress node) throws Exception {
    String url = "jdbc:tollgate://127.0.0.1:" + node.getPort() + "/?readConsistency=any";
    try (Connection connection = DriverManager.getConnection(url);
        PreparedStatement insert = connection.prepareStatement("INSERT INTO LATER VALUES(1)")) {
      assertEquals(1, insert.executeUpdate());
    }
  }

  private static Reply.SessionReady open(RawClient client) throws Exception {
    client.hello();
    return assertInstanceOf(
        Reply.SessionReady.class,
        client.call(
            new Request.OpenSession(
                60_000, 60_000, new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 0))));
  }

  private static RawClient attached(
      LocalCluster cluster, String node, Reply.SessionReady session, ReadConsistency consistency)
      throws Exception {
    RawClient client = new RawClient(cluster.clientAddress(node));
    client.hello();
    Request attach =
        new Request.AttachSession(
            session.sessionId(),
            session.secret(),
            /* leaderOnly= */ false,
            new Request.SessionOptions(consistency, 0));
    await().atMost(DEADLINE).until(() -> client.call(attach) instanceof Reply.SessionReady);
    return client;
  }
}
