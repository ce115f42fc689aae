package dev.tollgate.simulation;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.SessionId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;

/**
 * I12: a transaction is ended for want of its process only in two cases. The process had no
 * connection to the leader left, and gave it no sign of life of the session in the time that it has
 * to come back. Or a node began to lead, and the process was not connected to it and gave it no
 * sign of life of the session in the time that it has to show itself.
 */
final class Departures {
  /** Less what clocks may drift apart. */
  private static final long PATIENCE = World.millis(Limits.RETURN_PATIENCE_MILLIS) * 99 / 100;

  private static final long SHOW_PATIENCE = World.millis(Limits.SHOW_PATIENCE_MILLIS) * 99 / 100;

  private final World world;

  /** How long it may take at most until a command that was proposed is applied. */
  private final long commit;

  /** Connections that nodes know of, by process and node. */
  private final Map<String, Integer> connections = new HashMap<>();

  /** Since when a process is connected to a node, by both. */
  private final Map<String, Long> connectedSince = new HashMap<>();

  /** When nodes began to lead. */
  private final Map<String, NavigableSet<Long>> begins = new HashMap<>();

  /** When leaders lost the last connection of a process. */
  private final Map<String, List<Long>> ends = new HashMap<>();

  /** When heartbeats and attachments of a session reached a leader. */
  private final Map<Long, NavigableSet<Long>> signs = new HashMap<>();

  /** The same, by session and node. */
  private final Map<String, NavigableSet<Long>> signsAt = new HashMap<>();

  private final Map<Long, String> processes = new HashMap<>();

  Departures(Simulation simulation) {
    this.world = simulation.world();
    this.commit = World.millis(20_000) + 10 * simulation.electionNanos();
  }

  void opened(long session, String process) {
    processes.put(session, process);
  }

  /** A node serves a connection of the process. */
  void connected(String process, String node) {
    connections.merge(process + "@" + node, 1, Integer::sum);
    connectedSince.putIfAbsent(process + "@" + node, world.now());
  }

  void beginsToLead(String node) {
    begins.computeIfAbsent(node, any -> new TreeSet<>()).add(world.now());
  }

  /** The connections of a node end with it. */
  void disconnectedAll(String node) {
    connections.keySet().removeIf(key -> key.endsWith("@" + node));
    connectedSince.keySet().retainAll(connections.keySet());
  }

  /** A node has ended a connection; returns true if it was the last one of its process there. */
  boolean closed(String process, String node) {
    String key = process + "@" + node;
    connections.computeIfPresent(key, (any, count) -> count == 1 ? null : (Integer) (count - 1));
    connectedSince.keySet().retainAll(connections.keySet());
    return !connections.containsKey(key);
  }

  /**
   * A client has ended a connection.
   *
   * @return true if it was the last one of its process there
   */
  boolean left(String process, SimulatedNode node) {
    boolean last = closed(process, node.id());
    if (last && node.leads()) {
      ends.computeIfAbsent(process, any -> new ArrayList<>()).add(world.now());
    }
    return last;
  }

  /** A leader hears of a session. */
  void sign(long session, String node) {
    signs.computeIfAbsent(session, any -> new TreeSet<>()).add(world.now());
    signsAt.computeIfAbsent(session + "@" + node, any -> new TreeSet<>()).add(world.now());
  }

  /** Checks what a replica is about to apply. */
  void requireGone(Command command) {
    if (command instanceof Command.AbortTransaction abort
        && abort.reason() == Command.AbortReason.CLIENT_GONE) {
      if (wasGone(abort.session())) {
        world.count("transactions of gone clients ended");
      } else if (wasSilent(abort.session())) {
        world.count("transactions of silent clients ended");
      } else {
        throw new Violation(
            "I12", "the transaction of session " + abort.session() + " ends, and its client lives");
      }
    }
  }

  /** From then on until the end of the transaction can have been proposed. */
  private boolean isSilentAfter(long end, NavigableSet<Long> heard) {
    long proposed = Math.max(end + PATIENCE, world.now() - commit);
    return heard.subSet(end, false, proposed, false).isEmpty();
  }

  private boolean wasGone(SessionId session) {
    String process = processes.get(session.value());
    NavigableSet<Long> heard = signs.getOrDefault(session.value(), new TreeSet<>());
    return process == null
        || ends.getOrDefault(process, List.of()).stream()
            .anyMatch(end -> end + PATIENCE <= world.now() && isSilentAfter(end, heard));
  }

  private boolean wasSilent(SessionId session) {
    String process = processes.get(session.value());
    return begins.entrySet().stream()
        .anyMatch(
            node ->
                node.getValue().stream()
                    .anyMatch(begin -> wasSilent(session, process, node.getKey(), begin)));
  }

  /** Neither heard by this leader, nor connected to it by the time when it had to be. */
  private boolean wasSilent(SessionId session, String process, String node, long begin) {
    long due = begin + SHOW_PATIENCE;
    long proposed = Math.max(due, world.now() - commit);
    boolean heard =
        !signsAt
            .getOrDefault(session.value() + "@" + node, new TreeSet<>())
            .subSet(begin, false, proposed, false)
            .isEmpty();
    boolean connected =
        connectedSince.getOrDefault(process + "@" + node, Long.MAX_VALUE) <= proposed;
    return due <= world.now() && !heard && !connected;
  }
}
