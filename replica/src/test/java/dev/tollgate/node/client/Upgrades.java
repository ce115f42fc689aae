package dev.tollgate.node.client;

import dev.tollgate.core.command.SessionId;
import dev.tollgate.sql.Procedure;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Raises the feature level as an administrator does. */
public final class Upgrades {
  private Upgrades() {}

  /** CALL upgrade_cluster() at a node. */
  public static CompletableFuture<Void> call(Administration administration) {
    try {
      return administration.run(Procedure.UPGRADE_CLUSTER, List.of(), new SessionId(1));
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
