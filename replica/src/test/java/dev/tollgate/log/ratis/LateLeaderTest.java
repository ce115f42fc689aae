package dev.tollgate.log.ratis;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.Supervision;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.ratis.proto.RaftProtos.CommitInfoProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerProto;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A leader of term 3 that has not applied its log, of which entry 9 is committed. */
class LateLeaderTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final int LOOKS = 6;

  private final LateLeader late =
      new LateLeader("n1", Duration.ofMillis(20), new Supervision("n1", failure -> {}));
  private final AtomicInteger looks = new AtomicInteger();
  private final AtomicInteger steps = new AtomicInteger();
  private volatile boolean ready;
  private volatile boolean standing;
  private volatile long termOfTheEntry = 3;
  private volatile long appliedElsewhere = 9;
  private RaftServer server;

  @BeforeEach
  void lead() {
    DivisionInfo info =
        RatisFake.of(
            DivisionInfo.class,
            Map.of(
                "isLeader",
                true,
                "isLeaderReady",
                looking(() -> ready),
                "getCurrentTerm",
                3L,
                "getRoleInfoProto",
                RoleInfoProto.getDefaultInstance()));
    RaftLog log =
        RatisFake.of(
            RaftLog.class,
            Map.of(
                "getLastCommittedIndex",
                9L,
                "getTermIndex",
                (Supplier<TermIndex>) () -> TermIndex.valueOf(termOfTheEntry, 9)));
    RaftServer.Division division =
        RatisFake.of(
            RaftServer.Division.class,
            Map.of(
                "getInfo",
                info,
                "getRaftLog",
                log,
                "getId",
                RaftPeerId.valueOf("n1"),
                "getGroup",
                RaftGroup.valueOf(RatisLog.GROUP),
                "getCommitInfos",
                (Supplier<List<CommitInfoProto>>)
                    () -> List.of(applied("n1", 9), applied("n2", appliedElsewhere))));
    server =
        RatisFake.of(
            RaftServer.class,
            Map.of(
                "getDivision",
                division,
                "getId",
                RaftPeerId.valueOf("n1"),
                "transferLeadershipAsync",
                (Supplier<CompletableFuture<?>>)
                    () -> {
                      steps.incrementAndGet();
                      return CompletableFuture.failedFuture(new IOException("a test"));
                    }));
  }

  @AfterEach
  void close() {
    late.close();
  }

  private Supplier<Boolean> looking(BooleanSupplier answer) {
    return () -> {
      looks.incrementAndGet();
      return answer.getAsBoolean();
    };
  }

  private static CommitInfoProto applied(String node, long index) {
    return CommitInfoProto.newBuilder()
        .setServer(RaftPeerProto.newBuilder().setId(ByteString.copyFromUtf8(node)))
        .setCommitIndex(index)
        .build();
  }

  /** Returns whether it has stepped down after some looks. */
  private boolean stepsDown() {
    late.start(server, RatisLog.GROUP, () -> standing);
    await().atMost(DEADLINE).until(() -> looks.get() >= LOOKS || steps.get() > 0);
    return steps.get() > 0;
  }

  @Test
  void makesWayForANodeThatHasAppliedWhatIsCommitted() {
    assertTrue(stepsDown());
  }

  @Test
  void staysWhileEveryOtherLacksAnEntry() {
    appliedElsewhere = 8;
    assertFalse(stepsDown());
    appliedElsewhere = 9;
    await().atMost(DEADLINE).until(() -> steps.get() > 0);
  }

  /** Others may have been ahead before, and tell it now for the first time. */
  @Test
  void staysBeforeAnEntryOfItsOwnIsCommitted() {
    termOfTheEntry = 2;
    assertFalse(stepsDown());
  }

  @Test
  void staysOnceItHasAppliedItsLog() {
    ready = true;
    assertFalse(stepsDown());
  }

  /** It makes way by itself. */
  @Test
  void staysWhileItStandsAtACommand() {
    standing = true;
    assertFalse(stepsDown());
  }
}
