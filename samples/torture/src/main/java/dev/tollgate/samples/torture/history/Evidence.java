package dev.tollgate.samples.torture.history;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All that is known about a run when it is over.
 *
 * @param leaseNanos how long a client may be silent before it loses its locks
 * @param endNanos when the last client was told to end
 * @param operations of all clients and of the probe
 * @param ledger as a linearizable query gives it at the end, by position
 * @param copies the ledger of each node alone, by the node's name
 * @param checks what {@code CALL verify_replicas()} said of each node
 * @param audit how the audit files of the nodes compare, or null if nodes have none
 * @param traces what the nodes have promised each other
 * @param incidents what a node did that nothing in the run accounts for
 */
public record Evidence(
    long leaseNanos,
    long endNanos,
    List<Operation> operations,
    List<Interruption> interruptions,
    List<Disturbance> disturbances,
    List<LedgerRow> ledger,
    Map<String, List<LedgerRow>> copies,
    Map<String, String> checks,
    @Nullable AuditComparison audit,
    TraceCheck traces,
    List<String> incidents) {

  public Evidence {
    operations = List.copyOf(operations);
    interruptions = List.copyOf(interruptions);
    disturbances = List.copyOf(disturbances);
    ledger = List.copyOf(ledger);
    copies = Map.copyOf(copies);
    checks = Map.copyOf(checks);
    incidents = List.copyOf(incidents);
  }

  /** When the cluster answered and when it did not. */
  public Availability availability() {
    return Availability.of(operations, endNanos);
  }
}
