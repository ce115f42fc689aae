package dev.tollgate.spring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.lock.Lease;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockOptions;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.LockRegistry;

/** Spring Integration's own leader election stands on the registry, in both versions. */
@Timeout(60)
class LeaderInitiatorTest {
  /** So that a heartbeat finds the loss of a lease soon. */
  private static final Duration QUICK = Duration.ofSeconds(1);

  private final List<LockRegistryLeaderInitiator> initiators = new ArrayList<>();
  private final List<LockClient> clients = new ArrayList<>();
  private Transport.RunningNode node;

  @BeforeEach
  void open() throws Exception {
    node = Transport.MEMORY.start();
  }

  @AfterEach
  void close() throws Exception {
    initiators.forEach(LockRegistryLeaderInitiator::stop);
    clients.forEach(LockClient::close);
    node.close();
  }

  private LockRegistryLeaderInitiator candidate(String name) {
    LockClient client = LockClient.connect(node.url());
    clients.add(client);
    LockRegistryLeaderInitiator initiator =
        new LockRegistryLeaderInitiator(
            registry(client, QUICK), new DefaultCandidate(name, "election"));
    initiator.setHeartBeatMillis(20);
    initiator.setBusyWaitMillis(20);
    initiators.add(initiator);
    initiator.start();
    return initiator;
  }

  /** That of the version on the class path. */
  static LockRegistry<?> registry(LockClient client, Duration ttl) {
    LockOptions options = LockOptions.DEFAULT.ttl(ttl);
    try {
      Class.forName("org.springframework.integration.support.locks.DistributedLock");
      return new TollgateLockRegistry(client, options, "");
    } catch (ClassNotFoundException e) {
      return new Integration6LockRegistry(client, options, "");
    }
  }

  @Test
  void leadershipGoesToTheNextCandidate() throws Exception {
    LockRegistryLeaderInitiator first = candidate("first");
    await().until(() -> first.getContext().isLeader());
    LockRegistryLeaderInitiator second = candidate("second");
    assertFalse(second.getContext().isLeader());
    first.stop();
    await().until(() -> second.getContext().isLeader());
    assertFalse(first.getContext().isLeader());
  }

  @Test
  void leaderThatLosesItsLeaseIsRevoked() throws Exception {
    LockRegistryLeaderInitiator first = candidate("first");
    await().until(() -> first.getContext().isLeader());
    candidate("second");
    long term = term();
    node.execute("SELECT revoke_lease(" + leaseOfTheLeader() + ")");
    await().until(() -> !first.getContext().isLeader());
    await().until(() -> initiators.stream().anyMatch(each -> each.getContext().isLeader()));
    assertTrue(term() > term);
  }

  @Test
  void leaderWhoseLockIsTakenAwayIsRevoked() throws Exception {
    LockRegistryLeaderInitiator first = candidate("first");
    await().until(() -> first.getContext().isLeader());
    try (LockClient operator = LockClient.connect(node.url());
        Lease lease = operator.newLease(Duration.ofSeconds(60))) {
      node.execute(
          "SELECT transfer_lock('election', " + leaseOfTheLeader() + ", " + lease.id() + ")");
      await().until(() -> !first.getContext().isLeader());
    }
    await().until(() -> first.getContext().isLeader());
  }

  private long leaseOfTheLeader() throws Exception {
    try (Statement statement = node.connection().createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT LEASE_ID FROM TOLLGATE.LOCKS WHERE LOCK_NAME = 'election'")) {
      rows.next();
      return rows.getLong(1);
    }
  }

  private long term() {
    return clients.get(0).holder("election").map(leader -> leader.token()).orElse(0L);
  }
}
