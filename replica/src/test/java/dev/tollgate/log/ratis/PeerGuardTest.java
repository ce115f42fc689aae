package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whose refusal ends a node. */
class PeerGuardTest {
  private static final PeerGuard.Refusal OTHER_CLUSTER =
      new PeerGuard.Refusal(PeerGuard.Reason.OTHER_CLUSTER, "it is of another cluster");

  @TempDir private Path directory;

  private final List<IOException> stops = new ArrayList<>();

  private PeerGuard guard(Set<String> members) throws IOException {
    return new PeerGuard(
        NodeIdentity.open(directory, "n1"),
        directory,
        /* begins= */ true,
        new PeerGuard.Members() {
          @Override
          public boolean contains(String nodeId) {
            return members.contains(nodeId);
          }

          @Override
          public int count() {
            return members.size();
          }
        },
        stops::add);
  }

  @Test
  void nodesThatAreNoMembersHaveNoSay() throws Exception {
    guard(Set.of("n1")).refusedBy("n2", OTHER_CLUSTER);
    assertEquals(List.of(), stops);
  }

  @Test
  void nodeGivesWayToAMajorityOfItsMembers() throws Exception {
    PeerGuard guard = guard(Set.of("n1", "n2", "n3"));
    guard.refusedBy("n2", OTHER_CLUSTER);
    assertEquals(List.of(), stops);
    guard.refusedBy("n3", OTHER_CLUSTER);
    assertEquals(1, stops.size());
  }
}
