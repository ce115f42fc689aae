package dev.tollgate.node;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.KeyUse;
import dev.tollgate.log.ReplicatedLog;
import dev.tollgate.log.Supervision;
import dev.tollgate.node.audit.AuditTrail;
import dev.tollgate.seal.DataKeys;
import dev.tollgate.seal.KeySource;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads data keys again, as often as their source says. */
final class DataKeysReload implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DataKeysReload.class);

  private final String nodeId;
  private final DataKeys keys;
  private final ReplicatedLog log;
  private final AuditTrail audit;
  private final ScheduledExecutorService clock;

  /** Why the last look failed, so that the log has it once. */
  private @Nullable String failure;

  private DataKeysReload(
      String nodeId,
      DataKeys keys,
      KeySource source,
      ReplicatedLog log,
      AuditTrail audit,
      Supervision supervision) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.keys = requireNonNull(keys, "keys");
    this.log = requireNonNull(log, "log");
    this.audit = requireNonNull(audit, "audit");
    clock =
        Executors.newSingleThreadScheduledExecutor(
            supervision.threads("tollgate-" + nodeId + "-data-keys"));
    long millis = source.reloadInterval().toMillis();
    var unused =
        clock.scheduleWithFixedDelay(
            supervision.repeated("reading data keys again", this::look),
            millis,
            millis,
            TimeUnit.MILLISECONDS);
  }

  /** Begins to look after the keys of a node; returns null for a node without keys. */
  static @Nullable DataKeysReload begin(
      String nodeId, DataKeys keys, ReplicatedLog log, AuditTrail audit, Supervision supervision) {
    KeySource source = keys.source();
    if (source == null) {
      return null;
    }
    LOG.info(
        "{}: encrypts its log, its snapshots, its audit files and its identity with data key '{}'",
        nodeId,
        keys.ids().get(0));
    return new DataKeysReload(nodeId, keys, source, log, audit, supervision);
  }

  private void look() {
    try {
      List<KeyUse> used = log.keyUse();
      if (used.isEmpty()) {
        // the log is not open, so nobody knows which keys its files need
        return;
      }
      Set<String> needed =
          used.stream()
              .filter(KeyUse::isInUse)
              .map(KeyUse::keyId)
              .collect(Collectors.toCollection(TreeSet::new));
      needed.addAll(audit.keysInUse());
      if (keys.reload(needed) == DataKeys.Reload.CHANGED) {
        LOG.info(
            "{}: the data keys were read again: {}; new entries and files are encrypted with '{}'",
            nodeId,
            keys,
            keys.ids().get(0));
      }
      log.sealAgain();
      failure = null;
    } catch (IOException e) {
      String why = String.valueOf(e.getMessage());
      if (!why.equals(failure)) {
        failure = why;
        LOG.error("{}: the former data keys are still in use: {}", nodeId, why);
      }
    }
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }
}
