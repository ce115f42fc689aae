package dev.tollgate.simulation;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.Lease;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.Notice;
import dev.tollgate.log.CommandPipeline;
import dev.tollgate.log.entry.Proposal;
import dev.tollgate.node.replica.Replica;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/** {@link Breakage#NEW_LEADER_GIVES_NO_TIME}. */
final class ImpatientLeader implements Replica.Listener {
  private final CommandPipeline pipeline;
  private final LongSupplier wallMicros;

  ImpatientLeader(CommandPipeline pipeline, LongSupplier wallMicros) {
    this.pipeline = pipeline;
    this.wallMicros = wallMicros;
  }

  @Override
  public void startedLeading(ClusterState state) {
    List<LeaseId> old = new ArrayList<>();
    for (Lease lease : state.leases()) {
      if (lease.createdMicros() + lease.ttlMillis() * 1_000 < wallMicros.getAsLong()) {
        old.add(lease.id());
      }
    }
    if (!old.isEmpty()) {
      pipeline.submit(new Command.Expire(List.of(), old), Proposal.Listener.NOBODY);
    }
  }

  @Override
  public void stoppedLeading() {}

  @Override
  public void noticed(Notice notice) {}

  @Override
  public void failed(Throwable cause) {}
}
