package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.ClusterKey;
import dev.tollgate.core.command.FeatureLevels;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.log.NodeVersion;
import dev.tollgate.log.RemovedException;
import dev.tollgate.seal.DataKeys;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whose refusal ends a node. */
class PeerGuardTest {
  private static final PeerGuard.Refusal OTHER_CLUSTER =
      new PeerGuard.Refusal(PeerGuard.Reason.OTHER_CLUSTER, "it is of another cluster");

  private static final PeerGuard.Refusal REMOVED =
      new PeerGuard.Refusal(PeerGuard.Reason.SENDER_REMOVED, "node n1 was removed");

  private static final UniqueId OTHER = new UniqueId(9, 9);

  private static final ClusterKey KEY = new ClusterKey(new byte[ClusterKey.BYTES]);

  @TempDir private Path directory;

  private final List<IOException> stops = new ArrayList<>();
  private final List<String> refused = new ArrayList<>();

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
          public Set<String> current() {
            return members;
          }
        },
        new PeerVersions(NodeVersion.of(FeatureLevels.STANDARD), () -> FeatureLevels.FIRST),
        (from, nodeId, reason) -> refused.add(nodeId + " " + reason),
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

  private static String[] words(String text) {
    return text.split(" ", -1);
  }

  /**
   * A verdict, the members, and who says it, each with "+" if it proves that it knows the key. The
   * node is n1 and knows the key.
   */
  @ParameterizedTest
  @CsvSource({
    "SENDER_REMOVED, n1 n2 n3, n2+, false",
    "SENDER_REMOVED, n1 n2 n3, n2+ n2+ n2+, false",
    "SENDER_REMOVED, n1 n2 n3, n2+ n3, false",
    "SENDER_REMOVED, n1 n2 n3, n2+ n9+, false",
    "SENDER_REMOVED, n1 n2 n3, n2+ n1+, false",
    "SENDER_REMOVED, n1 n2 n3, n2+ n3+, true",
    "SENDER_REMOVED, n1 n2 n3 n4, n2+ n3+, false",
    "SENDER_REMOVED, n1 n2 n3 n4 n5, n2+ n3+, false",
    "SENDER_REMOVED, n1 n2 n3 n4 n5, n2+ n3+ n5+, true",
    "SENDER_REMOVED, n1 n2, n2+, false",
    "SENDER_REMOVED, n1, n2+, false",
    "SENDER_UNKNOWN, n1 n2 n3, n2+, false",
    "SENDER_UNKNOWN, n1 n2 n3, n2+ n3, false",
    "SENDER_UNKNOWN, n1 n2 n3, n2+ n3+, true",
    "SENDER_UNKNOWN, n1 n2, n2+, false",
    "OTHER_CLUSTER, n1 n2 n3, n2+, false",
    "OTHER_CLUSTER, n1 n2 n3, n2 n3, true",
    "OTHER_CLUSTER, n1 n2, n2, false",
    "RECEIVER_UNKNOWN, n1 n2 n3, n2+ n3+, false",
    "SENDER_UNPROVEN, n1 n2 n3, n2+ n3+, false",
    "UNNAMED_CLUSTER, n1 n2 n3, n2+ n3+, false",
    "OTHER_NODE, n1 n2 n3, n2+ n3+, false",
  })
  void verdictOfAMajorityOfTheMembersCountsAndNoOther(
      PeerGuard.Reason verdict, String members, String voices, boolean ends) throws Exception {
    NodeIdentity identity = known();
    PeerGuard guard = guard(identity, Set.of(words(members)));
    for (String voice : words(voices)) {
      guard.refusedBy(
          voice.replace("+", ""), new PeerGuard.Refusal(verdict, "no"), voice.endsWith("+"));
    }
    assertEquals(ends ? 1 : 0, stops.size());
    boolean marked = ends && verdict == PeerGuard.Reason.SENDER_REMOVED;
    Path data = directory.resolve("data");
    if (marked) {
      assertThrows(
          RemovedException.class, () -> NodeIdentity.open(data, "n1", directory, DataKeys.off()));
    } else {
      NodeIdentity.open(data, "n1", directory, DataKeys.off());
    }
  }

  /**
   * Of different verdicts none has a majority, and a member that serves this node takes its back.
   */
  @Test
  void voicesOfDifferentVerdictsAndThoseTakenBackDoNotAddUp() throws Exception {
    PeerGuard guard = guard(known(), Set.of("n1", "n2", "n3"));
    guard.refusedBy("n2", REMOVED, true);
    guard.refusedBy("n3", new PeerGuard.Refusal(PeerGuard.Reason.SENDER_UNKNOWN, "no"), true);
    assertEquals(List.of(), stops);
    guard.acceptedBy("n2");
    guard.refusedBy("n3", REMOVED, true);
    assertEquals(List.of(), stops);
    guard.refusedBy("n2", REMOVED, true);
    assertEquals(1, stops.size());
  }

  /** A leader tells a candidate so that it does not know as a member. */
  @ParameterizedTest
  @CsvSource({"n1 n2 n3, false", "n1 n2, false", "n2 n3, true", "n2, true"})
  void leaderEndsANodeOnlyIfTheLogOfTheNodeSaysSoToo(String members, boolean ends)
      throws Exception {
    PeerGuard guard = guard(known(), Set.of(words(members)));
    assertEquals(ends, guard.toldToEnd("n2"));
    assertEquals(ends ? 1 : 0, stops.size());
  }

  @Test
  void leaderDoesNotEndANodeThatHasNoConfiguration() throws Exception {
    assertFalse(guard(known(), Set.of()).toldToEnd("n2"));
    assertEquals(List.of(), stops);
  }

  /** As one whose directory was emptied: one node says so, and there is nothing to lose. */
  @ParameterizedTest
  @ValueSource(strings = {"SENDER_REMOVED", "SENDER_UNKNOWN"})
  void nodeThatKnowsNoClusterBelievesOneNodeAndNotesNothing(PeerGuard.Reason verdict)
      throws Exception {
    guard(Set.of("n1", "n2", "n3"))
        .refusedBy("n2", new PeerGuard.Refusal(verdict, "no"), /* proven= */ false);
    assertEquals(1, stops.size());
    NodeIdentity.open(directory, "n1", directory.resolve("log"), DataKeys.off());
  }

  /** Each caller proves the key, and takes n1 for another incarnation, as a removed node can. */
  @ParameterizedTest
  @ValueSource(strings = {"n2", "n3", "n9", "n8"})
  void noCallerEndsANodeThatKnowsItsCluster(String caller) throws Exception {
    NodeIdentity identity = known();
    PeerGuard guard = guard(identity, Set.of("n1", "n2", "n3"));
    UniqueId incarnation = identity.known().incarnations().getOrDefault(caller, OTHER);
    UniqueId cluster = identity.clusterId();
    PeerGuard.Reason expected =
        caller.equals("n8") ? PeerGuard.Reason.SENDER_REMOVED : PeerGuard.Reason.RECEIVER_UNKNOWN;
    assertEquals(expected, reason(guard, from(caller, incarnation, cluster), true));
    assertEquals(List.of(caller + " " + expected), refused);
    assertEquals(List.of(), stops);
  }

  /** A removed node hears that first, whatever else is wrong with what it says. */
  @Test
  void removedCallerIsToldThatAndNothingElse() throws Exception {
    NodeIdentity identity = known();
    PeerGuard guard = guard(identity, Set.of("n1", "n2", "n3"));
    UniqueId cluster = identity.clusterId();
    for (PeerCredentials caller :
        List.of(
            new PeerCredentials("n8", cluster, OTHER, "n1", identity.incarnation()),
            new PeerCredentials("n8", cluster, OTHER, "n1", OTHER),
            new PeerCredentials("n8", cluster, OTHER, "n2", OTHER))) {
      assertEquals(PeerGuard.Reason.SENDER_REMOVED, reason(guard, caller, true));
    }
  }

  /** It knows its cluster, n1 to n3 by their directories, and that n8 was removed. */
  private NodeIdentity known() throws IOException {
    NodeIdentity identity =
        NodeIdentity.open(
            directory.resolve("data"), "n1", directory.resolve("log"), DataKeys.off());
    TreeMap<String, UniqueId> incarnations = new TreeMap<>();
    incarnations.put("n1", identity.incarnation());
    incarnations.put("n2", new UniqueId(2, 2));
    incarnations.put("n3", new UniqueId(3, 3));
    identity.learn(new ClusterIdentity(ClusterKeys.CLUSTER, KEY, incarnations, List.of("n8")), 1);
    return identity;
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
    assertEquals(List.of(), stops);
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
    assertEquals(
        PeerGuard.Reason.SENDER_UNKNOWN, reason(guard, from("n2", NodeIdentity.draw(), cluster)));
    for (PeerCredentials forged :
        List.of(from("n9", NodeIdentity.draw(), cluster), from("n1", n1, cluster))) {
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
      public InetAddress address() {
        return InetAddress.getLoopbackAddress();
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
