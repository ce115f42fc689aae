package dev.tollgate.node.replica;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.store.SqlDatabase;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

/** A process that cannot load its own classes any more. */
class LostClassesTest {
  private final Replica replica = new Replica("n1", new SqlDatabase());

  @Test
  void anErrorOfLinkingStopsTheReplicaHoweverItIsWrapped() {
    Throwable lost = new SQLException(new RuntimeException(new NoClassDefFoundError("a/B")));
    assertTrue(replica.stopIfClassesAreLost(lost));
    assertSame(lost, replica.failure());
  }

  @Test
  void whatAStatementDoesWrongStopsNothing() {
    IllegalStateException cause = new IllegalStateException("b");
    cause.addSuppressed(new NoClassDefFoundError("a/B"));
    SQLException strange = new SQLException("a", cause);
    assertFalse(replica.stopIfClassesAreLost(strange));
    assertNull(replica.failure());
  }
}
