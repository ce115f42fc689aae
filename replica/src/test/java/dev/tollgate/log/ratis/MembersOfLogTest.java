package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.LoneFollower.NOTHING;
import static dev.tollgate.log.ratis.LoneFollower.at;
import static dev.tollgate.log.ratis.LoneFollower.entry;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.log.RaftSettings;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerProto;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MembersOfLogTest {
  private static final Set<String> TWO = Set.of("n1", "n2");
  private static final Set<String> ALL = Set.of("n1", "n2", "n3");

  @TempDir Path directory;

  private LoneFollower node;

  @BeforeEach
  void start() throws Exception {
    node = new LoneFollower(directory, RaftSettings.SNAPSHOT_LOG_BYTES);
  }

  @AfterEach
  void stop() throws Exception {
    node.close();
  }

  private void assertMembers(long index, Set<String> ids, long asOf) throws Exception {
    LogEntryProto entry = MembersOfLog.of(node.division()).asOf(asOf);
    assertEquals(index, entry.getIndex());
    Set<String> named = new TreeSet<>();
    for (RaftPeerProto peer : entry.getConfigurationEntry().getPeersList()) {
      named.add(peer.getId().toStringUtf8());
    }
    assertEquals(ids, named);
  }

  /** The last ones are cut off by a later leader. */
  @Test
  void areThoseThatTheLogNamesUpToAnEntry() throws Exception {
    node.ask(
        node.request(
            1,
            null,
            NOTHING,
            node.membersEntry(1, 0, TWO),
            entry(1, 1, "a"),
            node.membersEntry(1, 2, ALL),
            entry(1, 3, "b"),
            node.membersEntry(1, 4, TWO)));
    assertMembers(0, TWO, 0);
    assertMembers(0, TWO, 1);
    assertMembers(2, ALL, 2);
    assertMembers(2, ALL, 3);
    assertMembers(4, TWO, 4);
    assertMembers(4, TWO, 9);
    node.ask(node.request(2, at(1, 3), NOTHING, entry(2, 4, "c")));
    assertMembers(2, ALL, 4);
  }

  /** A former log named the members before that, and the node has no other list. */
  @Test
  void areTheFirstThatAreKnown() throws Exception {
    node.installSnapshot(1, at(1, 100), node.membersEntry(0, 50, TWO))
        .get(LoneFollower.DEADLINE.toSeconds(), TimeUnit.SECONDS);
    assertMembers(50, TWO, 100);
    assertMembers(40, TWO, 40);
  }

  @Test
  void areThoseOfTheBeginningBeforeAnyEntry() throws Exception {
    assertMembers(-1, ALL, 7);
  }
}
