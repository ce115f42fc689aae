package dev.tollgate.node;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.Supervision;
import dev.tollgate.tls.TlsCredentials;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads certificates, rules and keys again when their files have changed. */
final class CredentialsReload implements AutoCloseable {
  private static final long EVERY_MILLIS = 1_000;

  private final ScheduledExecutorService clock;

  /**
   * @param refresh reads files that have changed
   */
  CredentialsReload(String nodeId, Runnable refresh, Supervision supervision) {
    clock =
        Executors.newSingleThreadScheduledExecutor(
            supervision.threads("tollgate-" + nodeId + "-certificates"));
    var unused =
        clock.scheduleWithFixedDelay(
            supervision.repeated("reading certificates again", refresh),
            EVERY_MILLIS,
            EVERY_MILLIS,
            TimeUnit.MILLISECONDS);
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }

  /** What becomes of changed files, in the log of a node. */
  static final class Log implements TlsCredentials.Listener {
    private static final Logger LOG = LoggerFactory.getLogger(CredentialsReload.class);

    private final String nodeId;

    Log(String nodeId) {
      this.nodeId = requireNonNull(nodeId, "nodeId");
    }

    @Override
    public void reloaded(String what) {
      LOG.info("{}: {}", nodeId, what);
    }

    @Override
    public void warned(String what) {
      LOG.warn("{}: {}", nodeId, what);
    }

    @Override
    public void failed(String why) {
      LOG.error("{}: what has changed is not used, and what was there before is: {}", nodeId, why);
    }
  }
}
