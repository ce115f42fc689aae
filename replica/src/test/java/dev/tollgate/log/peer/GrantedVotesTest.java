package dev.tollgate.log.peer;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.stream.Stream;
import org.apache.ratis.proto.RaftProtos.RaftRpcReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.Test;

class GrantedVotesTest {
  private static final RaftPeerId SELF = RaftPeerId.valueOf("n1");
  private static final RaftConfiguration THREE = members("n1 n2 n3", "");

  private final GrantedVotes votes = new GrantedVotes();

  private static RaftConfiguration members(String current, String previous) {
    return (RaftConfiguration)
        Proxy.newProxyInstance(
            RaftConfiguration.class.getClassLoader(),
            new Class<?>[] {RaftConfiguration.class},
            (proxy, method, arguments) ->
                peers(method.getName().equals("getCurrentPeers") ? current : previous));
  }

  private static Collection<RaftPeer> peers(String ids) {
    return Stream.of(ids.split(" "))
        .filter(id -> !id.isEmpty())
        .map(id -> RaftPeer.newBuilder().setId(id).build())
        .toList();
  }

  private void answer(String node, boolean preVote, long asked, long term, boolean granted) {
    votes.note(
        RequestVoteRequestProto.newBuilder()
            .setServerRequest(
                RaftRpcRequestProto.newBuilder().setReplyId(ByteString.copyFromUtf8(node)))
            .setPreVote(preVote)
            .setCandidateTerm(asked)
            .build(),
        RequestVoteReplyProto.newBuilder()
            .setServerReply(RaftRpcReplyProto.newBuilder().setSuccess(granted))
            .setTerm(term)
            .build());
  }

  private void grant(String node, long term) {
    answer(node, false, term, term, true);
  }

  @Test
  void votesCountInTheirTermAlone() {
    grant("n2", 5);
    assertFalse(votes.isElected(6, THREE, SELF));
    assertFalse(votes.isElected(4, THREE, SELF));
    assertTrue(votes.isElected(5, THREE, SELF));
    answer("n3", false, 6, 6, false);
    assertTrue(votes.isElected(5, members("n1 n2 n3 n4 n5", ""), SELF), "it leads already");
    assertFalse(votes.isElected(6, THREE, SELF));
  }

  @Test
  void onlyGrantedVotesCount() {
    answer("n2", true, 5, 5, true);
    answer("n2", false, 5, 6, true);
    answer("n2", false, 5, 5, false);
    assertFalse(votes.isElected(5, THREE, SELF));
    grant("n2", 6);
    grant("n3", 5);
    assertFalse(votes.isElected(5, THREE, SELF), "of a term that has passed");
  }

  /** The answer of a node that was slow, to a candidate that has stood again meanwhile. */
  @Test
  void lateVoteOfAnEarlierTermDoesNotCountInALaterOne() {
    grant("n2", 6);
    grant("n3", 5);
    assertFalse(votes.isElected(6, members("n1 n2 n3 n4 n5", ""), SELF));
    grant("n3", 6);
    assertTrue(votes.isElected(6, members("n1 n2 n3 n4 n5", ""), SELF));
  }

  @Test
  void majorityOfAllMembersIsNeeded() {
    RaftConfiguration five = members("n1 n2 n3 n4 n5", "");
    grant("n2", 5);
    grant("n2", 5);
    grant("n9", 5);
    assertFalse(votes.isElected(5, five, SELF));
    grant("n3", 5);
    assertTrue(votes.isElected(5, five, SELF));
  }

  @Test
  void majorityOfFormerMembersIsNeededWhileTheyChange() {
    RaftConfiguration changing = members("n1 n2 n3", "n1 n4 n5");
    grant("n2", 5);
    grant("n3", 5);
    assertFalse(votes.isElected(5, changing, SELF));
    grant("n4", 5);
    assertTrue(votes.isElected(5, changing, SELF));
  }

  @Test
  void nodeThatIsAloneNeedsNoOther() {
    assertTrue(votes.isElected(5, members("n1", ""), SELF));
    assertTrue(votes.isElected(6, members("n1 n2", "n1"), SELF), "nobody is elected without it");
    assertFalse(votes.isElected(7, members("n1 n2", ""), SELF));
    assertFalse(votes.isElected(8, members("n1 n2 n3", "n1"), SELF));
  }
}
