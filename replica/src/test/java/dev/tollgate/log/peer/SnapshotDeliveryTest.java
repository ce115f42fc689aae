package dev.tollgate.log.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto.SnapshotChunkProto;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LogAppender;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SnapshotDeliveryTest {
  private static final TermIndex LAST = TermIndex.valueOf(2, 100);

  @TempDir private Path directory;

  /** Ratis names the latest ones, of an entry that is not committed perhaps. */
  @Test
  void eachPartNamesTheMembersAsOfTheSnapshot() throws Exception {
    List<InstallSnapshotRequestProto> parts =
        IntStream.range(0, 2)
            .mapToObj(
                part ->
                    InstallSnapshotRequestProto.newBuilder()
                        .setSnapshotChunk(
                            SnapshotChunkProto.newBuilder()
                                .setRequestIndex(part)
                                .setTermIndex(LAST.toProto()))
                        .setLastRaftConfigurationLogEntryProto(TestNode.membersEntry(105))
                        .build())
            .toList();
    SnapshotInfo snapshot = fake(SnapshotInfo.class, LAST);
    try (TestNode leader = new TestNode("n1", directory, 1_000);
        TestNode follower = new TestNode("n2", directory, 1_000);
        PeerLink link = leader.linkTo(follower)) {
      SnapshotDelivery delivery = new SnapshotDelivery(appender(parts), link, leader.settings);
      assertTrue(delivery.deliver(snapshot, link.connect()));
      assertEquals(
          parts.stream()
              .map(
                  part ->
                      part.toBuilder()
                          .setLastRaftConfigurationLogEntryProto(TestNode.membersEntry(100))
                          .build())
              .toList(),
          List.copyOf(follower.installs));
    }
  }

  private static LogAppender appender(List<InstallSnapshotRequestProto> parts) {
    FollowerInfo follower = fake(FollowerInfo.class, 0L);
    return (LogAppender)
        Proxy.newProxyInstance(
            LogAppender.class.getClassLoader(),
            new Class<?>[] {LogAppender.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "newInstallSnapshotRequests" -> parts;
                  case "getFollower" -> follower;
                  case "toString" -> "n1->n2";
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  /** Gives one answer to whatever has one. */
  private static <T> T fake(Class<T> type, Object answer) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> method.getReturnType() == void.class ? null : answer));
  }
}
