package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.ClusterKey;
import dev.tollgate.core.command.FeatureLevels;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.log.NodeVersion;
import dev.tollgate.seal.DataKeys;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whose refusal ends a node. */
class PeerGuardTest {
  private static final PeerGuard.Refusal OTHER_CLUSTER =
      new PeerGuard.Refusal(PeerGuard.Reason.OTHER_CLUSTER, "it is of another cluster");

  private static final ClusterKey KEY = new ClusterKey(new byte[ClusterKey.BYTES]);

  @TempDir private Path directory;

  private final List<IOException> stops = new ArrayList<>();

  private PeerGuard guard(Set<String> members) throws IOException {
    return guard(
        NodeIdentity.open(directory, "n1", directory.resolve("log"), DataKeys.off()), members);
  }

  private PeerGuard guard(NodeIdentity identity, Set<String> members) {
    return new PeerGuard(
        identity,
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
        new PeerVersions(NodeVersion.of(FeatureLevels.STANDARD), () -> FeatureLevels.FIRST),
        stops::add);
  }

  @Test
  void nodesThatAreNoMembersHaveNoSay() throws Exception {
    guard(Set.of("n1")).refusedBy("n2", OTHER_CLUSTER, /* proven= */ false);
    assertEquals(List.of(), stops);
  }

  @Test
  void nodeGivesWayToAMajorityOfItsMembers() throws Exception {
    PeerGuard guard = guard(Set.of("n1", "n2", "n3"));
    guard.refusedBy("n2", OTHER_CLUSTER, /* proven= */ false);
    assertEquals(List.of(), stops);
    guard.refusedBy("n3", OTHER_CLUSTER, /* proven= */ false);
    assertEquals(1, stops.size());
  }

  /** Nodes can announce their directories before the first leader has named the cluster. */
  @Test
  void nodeOfAClusterWithoutIdIsRefusedAndStopsNobody() throws Exception {
    UniqueId cluster = NodeIdentity.draw();
    NodeIdentity identity =
        NodeIdentity.open(directory, "n1", directory.resolve("log"), DataKeys.off());
    UniqueId n2 = NodeIdentity.draw();
    identity.learn(identity(cluster, "n2", n2), 1);
    PeerGuard guard = guard(identity, Set.of("n1", "n2", "n3"));
    assertEquals(PeerGuard.Reason.UNNAMED_CLUSTER, reason(guard, from("n2", n2, null)));
    assertEquals(List.of(), stops);
    assertEquals(PeerGuard.Reason.RECEIVER_UNKNOWN, reason(guard, from("n2", n2, cluster), true));
    assertEquals(1, stops.size());
  }

  /** The cluster's id is no secret: each client is told. */
  @Test
  void callerWithoutTheIncarnationOfAKnownNodeStopsNobody() throws Exception {
    UniqueId cluster = NodeIdentity.draw();
    NodeIdentity identity =
        NodeIdentity.open(directory, "n1", directory.resolve("log"), DataKeys.off());
    UniqueId n1 = identity.incarnation();
    TreeMap<String, UniqueId> incarnations = new TreeMap<>();
    incarnations.put("n1", n1);
    incarnations.put("n2", NodeIdentity.draw());
    identity.learn(
        new ClusterIdentity(cluster, cluster == null ? null : KEY, incarnations, List.of()), 1);
    PeerGuard guard = guard(identity, Set.of("n1", "n2", "n3"));
    for (PeerCredentials forged :
        List.of(
            from("n2", NodeIdentity.draw(), cluster),
            from("n9", NodeIdentity.draw(), cluster),
            from("n1", n1, cluster))) {
      assertEquals(PeerGuard.Reason.UNNAMED_CLUSTER, reason(guard, forged));
    }
    assertEquals(List.of(), stops);
  }

  /** As a node whose directory was emptied: it has to stop, and knows nobody. */
  @Test
  void nodeThatKnowsNobodyBelievesWhoeverCalls() throws Exception {
    PeerGuard guard = guard(Set.of("n1"));
    PeerCredentials caller = from("n2", NodeIdentity.draw(), NodeIdentity.draw());
    assertEquals(PeerGuard.Reason.RECEIVER_UNKNOWN, reason(guard, caller));
    assertEquals(1, stops.size());
  }

  @Test
  void nodeThatDoesNotKnowItsClusterStopsNobody() throws Exception {
    NodeIdentity identity =
        NodeIdentity.open(directory, "n1", directory.resolve("log"), DataKeys.off());
    identity.learn(identity(null, "n2", NodeIdentity.draw()), 1);
    PeerCredentials stranger = new PeerCredentials("n2", null, NodeIdentity.draw(), "n1", null);
    PeerGuard guard = guard(identity, Set.of("n1", "n2"));
    assertEquals(PeerGuard.Reason.UNNAMED_CLUSTER, reason(guard, stranger));
    guard.refusedBy(
        "n2", new PeerGuard.Refusal(PeerGuard.Reason.UNNAMED_CLUSTER, "unknown"), false);
    assertEquals(List.of(), stops);
  }

  @Test
  void membersSayWhereTheirAdminAddressesAre() throws Exception {
    PeerGuard guard = guard(Set.of("n1", "n2", "n3"));
    say(guard, "n2", "http://10.0.0.2:7480");
    say(guard, "n3", null);
    assertEquals(Map.of("n2", "http://10.0.0.2:7480"), guard.adminUrls());
    say(guard, "n2", "https://10.0.0.2:7481");
    say(guard, "n3", "http://10.0.0.3:7480");
    assertEquals(
        Map.of("n2", "https://10.0.0.2:7481", "n3", "http://10.0.0.3:7480"), guard.adminUrls());
    say(guard, "n2", null);
    assertEquals(Map.of("n3", "http://10.0.0.3:7480"), guard.adminUrls());
  }

  @Test
  void addressesOfStrangersAndOtherTextsAreNotPassedOn() throws Exception {
    PeerGuard guard = guard(Set.of("n1", "n2"));
    say(guard, "n9", "http://10.0.0.9:7480");
    say(guard, "n2", "http://10.0.0.2:7480");
    say(guard, "n2", "http://evil.example/?");
    assertEquals(Map.of(), guard.adminUrls());
    // refused, because it takes n1 for another incarnation
    PeerCredentials refused =
        new PeerCredentials(
            "n2", null, NodeIdentity.draw(), "n1", NodeIdentity.draw(), "http://10.0.0.2:7480");
    reason(guard, refused);
    assertEquals(Map.of(), guard.adminUrls());
  }

  private static void say(PeerGuard guard, String nodeId, @Nullable String url) {
    assertNull(
        guard.check(
            caller(
                new PeerCredentials(nodeId, null, NodeIdentity.draw(), "n1", null, url), false)));
  }

  /** It takes n1 for another incarnation. */
  private static PeerCredentials from(
      String nodeId, UniqueId incarnation, @Nullable UniqueId cluster) {
    return new PeerCredentials(nodeId, cluster, incarnation, "n1", NodeIdentity.draw());
  }

  private static ClusterIdentity identity(
      @Nullable UniqueId cluster, String nodeId, UniqueId incarnation) {
    TreeMap<String, UniqueId> incarnations = new TreeMap<>();
    incarnations.put(nodeId, incarnation);
    return new ClusterIdentity(cluster, cluster == null ? null : KEY, incarnations, List.of());
  }

  private static PeerGuard.Caller caller(PeerCredentials credentials, boolean proves) {
    return new PeerGuard.Caller() {
      @Override
      public PeerCredentials credentials() {
        return credentials;
      }

      @Override
      public boolean proves(ClusterIdentity known) {
        return proves;
      }
    };
  }

  private static PeerGuard.Reason reason(PeerGuard guard, PeerCredentials sender) {
    return reason(guard, sender, /* proves= */ false);
  }

  private static PeerGuard.Reason reason(PeerGuard guard, PeerCredentials sender, boolean proves) {
    PeerGuard.@Nullable Refusal refusal = guard.check(caller(sender, proves));
    return requireNonNull(refusal, "accepted").reason();
  }
}
