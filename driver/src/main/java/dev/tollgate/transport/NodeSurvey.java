package dev.tollgate.transport;

import static java.util.Objects.requireNonNull;

import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Reply.NodeStatus;
import dev.tollgate.wire.Request;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Asks one node after the other what it knows about itself and the others. Needs no quorum. */
public final class NodeSurvey {
  private static final Duration PATIENCE = Duration.ofSeconds(3);

  private NodeSurvey() {}

  /**
   * The result of asking at one address.
   *
   * @param address host:port for clients
   * @param status the node's reply, or null
   * @param trouble why there is no status, or null
   */
  public record Answer(String address, @Nullable NodeStatus status, @Nullable String trouble) {
    public Answer {
      requireNonNull(address, "address");
      if ((status == null) == (trouble == null)) {
        throw new IllegalArgumentException("either a status or a trouble");
      }
    }
  }

  /** Asks at the addresses of the URL, and at the addresses that nodes name. */
  static List<Answer> of(NodeFinder finder) {
    List<Answer> answers = new ArrayList<>();
    Deque<String> waiting = new ArrayDeque<>(finder.map().candidates(/* leaderFirst= */ false));
    Set<String> asked = new HashSet<>(waiting);
    Set<String> nodes = new HashSet<>();
    for (String next = waiting.poll(); next != null; next = waiting.poll()) {
      Answer answer = ask(finder, next);
      NodeStatus status = answer.status();
      if (status == null) {
        answers.add(answer);
      } else if (nodes.add(status.nodeId())) {
        answers.add(answer);
        for (NodeStatus.Member member : status.members()) {
          String address = member.clientAddress();
          if (address != null && !nodes.contains(member.nodeId()) && asked.add(address)) {
            waiting.add(address);
          }
        }
      }
    }
    return answers;
  }

  private static Answer ask(NodeFinder finder, String address) {
    try {
      NodeConnection.Opened opened = finder.open(address);
      try (NodeConnection node = opened.connection()) {
        if (opened.welcome().version() < Protocol.NODE_STATUS_VERSION) {
          return new Answer(
              address,
              null,
              "node "
                  + opened.welcome().nodeId()
                  + " is of an earlier version, which does not say what it knows");
        }
        Reply reply = node.ask(new Request.AskNodeStatus(), PATIENCE);
        if (reply instanceof NodeStatus status) {
          return new Answer(address, status, null);
        }
        String trouble =
            reply instanceof Reply.Failure failure ? failure.message() : "answered " + reply;
        return new Answer(address, null, trouble);
      }
    } catch (IOException e) {
      return new Answer(address, null, String.valueOf(e.getMessage()));
    }
  }
}
