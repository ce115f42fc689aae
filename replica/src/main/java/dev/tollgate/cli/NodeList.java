package dev.tollgate.cli;

import dev.tollgate.jdbc.TollgateDriver;
import dev.tollgate.transport.NodeSurvey;
import dev.tollgate.wire.Reply;
import java.io.PrintStream;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The nodes of a cluster, each as it sees itself: that needs no quorum. */
final class NodeList {
  private final List<NodeSurvey.Answer> answers;

  private NodeList(List<NodeSurvey.Answer> answers) {
    this.answers = answers;
  }

  /**
   * Prints the nodes, and what is missing if no node is the leader.
   *
   * @return false if no node is the leader
   */
  static boolean print(String url, Properties properties) throws SQLException {
    return print(url, properties, System.out, System.err);
  }

  /** Prints to other streams. */
  static boolean print(String url, Properties properties, PrintStream out, PrintStream err)
      throws SQLException {
    NodeList nodes = ask(url, properties);
    nodes.print(out);
    boolean led = nodes.leader() != null;
    if (!led) {
      err.println(nodes.trouble());
    }
    return led;
  }

  /** Asks the nodes at these addresses, and those of which they know. */
  static NodeList ask(String url, Properties properties) throws SQLException {
    return new NodeList(TollgateDriver.surveyNodes(url, properties));
  }

  /** True if it can be said whether a node leads: it has answered, or a leader has. */
  boolean knows(String node) {
    return leader() != null
        || answers.stream()
            .map(NodeSurvey.Answer::status)
            .anyMatch(status -> status != null && status.nodeId().equals(node));
  }

  /** Why it cannot be said. */
  String ignorance(String node) {
    String troubles =
        answers.stream()
            .filter(answer -> answer.status() == null)
            .map(answer -> answer.address() + ": " + answer.trouble())
            .collect(Collectors.joining("; "));
    return "no node says whether " + node + " is the leader: " + troubles;
  }

  boolean leads(String node) {
    Reply.NodeStatus leader = leader();
    return leader != null && leader.nodeId().equals(node);
  }

  /** The leader; of several nodes that say they are the leader, that with the highest term. */
  private Reply.@Nullable NodeStatus leader() {
    Reply.NodeStatus leader = null;
    for (NodeSurvey.Answer answer : answers) {
      Reply.NodeStatus status = answer.status();
      if (status != null
          && status.role().equals("LEADER")
          && (leader == null || status.term() > leader.term())) {
        leader = status;
      }
    }
    return leader;
  }

  /** Why the cluster does not serve, if no node is the leader. */
  private String trouble() {
    int members = 0;
    int answering = 0;
    for (NodeSurvey.Answer answer : answers) {
      Reply.NodeStatus status = answer.status();
      if (status != null) {
        answering++;
        members = Math.max(members, status.members().size());
      }
    }
    return answering == 0
        ? "no node answers at these addresses"
        : "no node leads: "
            + answering
            + " of "
            + members
            + " nodes answer, and "
            + (members / 2 + 1)
            + " have to reach each other to elect a leader";
  }

  private void print(PrintStream out) {
    Reply.NodeStatus leader = leader();
    TextTable table =
        TextTable.withColumns(
            "NODE",
            "ROLE",
            "TERM",
            "ITS LEADER",
            "APPLIED",
            "BEHIND",
            "SILENT MS",
            "CLIENTS AT",
            "TROUBLE");
    Map<String, NodeSurvey.Answer> byNode = new TreeMap<>();
    for (NodeSurvey.Answer answer : answers) {
      Reply.NodeStatus status = answer.status();
      byNode.put(status == null ? nodeAt(answer.address()) : status.nodeId(), answer);
    }
    byNode.forEach(
        (name, answer) -> {
          Reply.NodeStatus status = answer.status();
          if (status == null) {
            table.row(name, "", "", "", "", "", "", answer.address(), answer.trouble());
          } else {
            table.row(
                status.nodeId(),
                status.role(),
                status.term(),
                status.leaderId(),
                status.appliedIndex(),
                leader == null ? null : Math.max(0, leader.commitIndex() - status.appliedIndex()),
                leader == null ? null : silence(leader, status.nodeId()),
                answer.address(),
                status.failure());
          }
        });
    silentMembers(byNode.keySet())
        .forEach(
            node ->
                table.row(
                    node, "", "", "", "", "", "", "", "no node knows its address for clients"));
    table.print(out);
  }

  /** Members that could not be asked, because no node knows their address for clients. */
  private Set<String> silentMembers(Set<String> listed) {
    Set<String> others = new TreeSet<>();
    for (NodeSurvey.Answer answer : answers) {
      Reply.NodeStatus status = answer.status();
      if (status != null) {
        status.members().forEach(member -> others.add(member.nodeId()));
      }
    }
    others.removeAll(listed);
    return others;
  }

  /** The node that others say is at an address, which may be known by another name here. */
  private String nodeAt(String address) {
    for (NodeSurvey.Answer answer : answers) {
      Reply.NodeStatus status = answer.status();
      if (status != null) {
        for (Reply.NodeStatus.Member member : status.members()) {
          if (address.equals(member.clientAddress())) {
            return member.nodeId();
          }
        }
      }
    }
    return "at " + address;
  }

  /** How long the leader has not heard from a node. */
  private static @Nullable Long silence(Reply.NodeStatus leader, String nodeId) {
    for (Reply.NodeStatus.Member member : leader.members()) {
      if (member.nodeId().equals(nodeId)) {
        return member.silentMillis();
      }
    }
    return null;
  }
}
