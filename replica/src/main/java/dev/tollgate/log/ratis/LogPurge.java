package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SnapshotManagementRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes Ratis ask how far it may cut its log (StateMachine.takeSnapshot). Thread-safe. */
final class LogPurge {
  private static final Logger LOG = LoggerFactory.getLogger(LogPurge.class);
  private static final long WITHIN_MILLIS = TimeUnit.SECONDS.toMillis(10);

  private final OwnServer server;
  private final NodeEnd end;
  private final ClientId clientId = ClientId.randomId();
  private final AtomicLong callIds = new AtomicLong();

  LogPurge(OwnServer server, NodeEnd end) {
    this.server = requireNonNull(server, "server");
    this.end = requireNonNull(end, "end");
  }

  void run() {
    RaftPeerId self = server.get().getId();
    try {
      server
          .get()
          .snapshotManagementAsync(
              SnapshotManagementRequest.newCreate(
                  clientId,
                  self,
                  RatisLog.GROUP,
                  callIds.incrementAndGet(),
                  WITHIN_MILLIS,
                  /* creationGap= */ 1))
          .exceptionally(
              failure -> {
                if (!end.isClosing()) {
                  LOG.warn("{}: the log was not cut", self, failure);
                }
                return null;
              });
    } catch (RuntimeException e) {
      if (!end.isClosing()) {
        throw e;
      }
    }
  }
}
