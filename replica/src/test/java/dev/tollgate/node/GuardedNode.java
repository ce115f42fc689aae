package dev.tollgate.node;

import dev.tollgate.core.Capacity;
import dev.tollgate.node.client.AuthenticationListener;
import dev.tollgate.node.client.ClientAccess;
import dev.tollgate.node.client.ClientLimits;
import dev.tollgate.store.SqlDatabase;
import java.io.IOException;
import java.time.Duration;

/** A node with its log in memory that serves one user, for tests of programs. */
public final class GuardedNode implements AutoCloseable {
  private final Node node;

  public GuardedNode(String user, String password) throws IOException, InterruptedException {
    node =
        new Node(
            LoopbackSettings.of("n1", null),
            new SqlDatabase(),
            ClientLimits.STANDARD,
            Capacity.STANDARD,
            TestUsers.administrator(user),
            new ClientAccess(
                new TestUsers().with(user, password),
                (name, session) -> true,
                AuthenticationListener.NOBODY,
                System::nanoTime));
    node.start();
    if (!node.awaitLeadership(Duration.ofSeconds(30))) {
      throw new IllegalStateException("no leader");
    }
  }

  public String url() {
    return "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/";
  }

  @Override
  public void close() {
    node.close();
  }
}
