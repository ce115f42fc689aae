package dev.tollgate.log.trace;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What nodes have promised each other, checked once all traces are read. */
final class PromisesOfAll {
  private final Set<String> nodes;
  private final List<BrokenPromise> broken = new ArrayList<>();
  private final Set<Acknowledgement> acknowledged = new HashSet<>();
  private final List<Promise> counted = new ArrayList<>();

  /** By term and candidate. */
  private final Map<Long, Map<String, Set<String>>> votes = new HashMap<>();

  private final List<Promise> leaders = new ArrayList<>();
  private final Map<Long, Commit> committed = new HashMap<>();
  private final List<Commit> lines = new ArrayList<>();
  private final List<Cut> cuts = new ArrayList<>();

  private record Acknowledgement(String from, long term, long index) {}

  /**
   * @param entryTerm the term of the entry
   */
  private record Commit(Promise line, long entryTerm) {}

  private record Cut(Promise line, long index, long entryTerm) {}

  /**
   * @param nodes whose traces are read
   */
  PromisesOfAll(Collection<String> nodes) {
    this.nodes = Set.copyOf(nodes);
  }

  void found(PromiseRule rule, Promise at, String text) {
    broken.add(new BrokenPromise(rule, at, text));
  }

  void voted(Promise line) {
    votes
        .computeIfAbsent(line.term(), any -> new HashMap<>())
        .computeIfAbsent(line.detail(), any -> new HashSet<>())
        .add(line.node());
  }

  void acknowledged(Promise line) {
    acknowledged.add(new Acknowledgement(line.node(), line.term(), line.index()));
  }

  void counted(Promise line) {
    counted.add(line);
  }

  void leads(Promise line) {
    leaders.add(line);
  }

  /** A line that says that a leader has committed an entry, and with it all before. */
  void committed(Promise line, long entryTerm) {
    lines.add(new Commit(line, entryTerm));
  }

  /** An entry that is committed by a line. */
  void committed(Promise line, long index, long entryTerm) {
    Commit before = committed.putIfAbsent(index, new Commit(line, entryTerm));
    if (before == null) {
      return;
    }
    if (line.term() < before.line.term()) {
      committed.put(index, new Commit(line, entryTerm));
    }
    if (before.entryTerm != entryTerm) {
      found(
          PromiseRule.COMMITTED_STAYS,
          line,
          "entry "
              + index
              + " is of term "
              + entryTerm
              + " here, and of term "
              + before.entryTerm
              + " where it was committed by "
              + before.line);
    }
  }

  void cut(Promise line, long index, long entryTerm) {
    cuts.add(new Cut(line, index, entryTerm));
  }

  /** Returns all that was found. */
  List<BrokenPromise> broken() {
    counted.forEach(this::checkCounted);
    checkLeaders();
    lines.forEach(this::checkFormerTerm);
    cuts.forEach(this::checkCut);
    return List.copyOf(broken);
  }

  private void checkCounted(Promise line) {
    if (nodes.contains(line.detail())
        && !acknowledged.contains(
            new Acknowledgement(line.detail(), line.term(), line.index()))) {
      found(
          PromiseRule.COMMITTED_BY_A_MAJORITY, line, line.detail() + " has acknowledged no such entry");
    }
  }

  private void checkLeaders() {
    Map<Long, Promise> first = new HashMap<>();
    for (Promise line : leaders) {
      Promise before = first.putIfAbsent(line.term(), line);
      if (before != null) {
        found(PromiseRule.ONE_LEADER, line, before.node() + " leads this term too: " + before);
      }
      Members members = Members.of(line.detail());
      Set<String> voters =
          votes.getOrDefault(line.term(), Map.of()).getOrDefault(line.node(), Set.of());
      if (members.isWithin(nodes)
          && !members.majority(one -> one.equals(line.node()) || voters.contains(one))) {
        found(PromiseRule.ONE_LEADER, line, line.node() + " has the votes of " + voters + " alone");
      }
    }
  }

  /** An entry of a former term is committed by a former leader, or with one of the own term. */
  private void checkFormerTerm(Commit commit) {
    Promise line = commit.line;
    if (commit.entryTerm == LogTerms.UNKNOWN
        || commit.entryTerm >= line.term()
        || !Members.of(line.detail()).isWithin(nodes)) {
      return;
    }
    for (Commit other : lines) {
      if (other.line.term() < line.term() && other.line.index() >= line.index()) {
        return;
      }
    }
    found(
        PromiseRule.COMMITTED_BY_A_MAJORITY,
        line,
        "the entry is of term " + commit.entryTerm + ", and no former leader has committed it");
  }

  /** A leader of a term before the commit may cut off what a later one commits. */
  private void checkCut(Cut cut) {
    Commit commit = committed.get(cut.index);
    if (commit != null
        && commit.entryTerm == cut.entryTerm
        && commit.line.term() <= cut.line.term()) {
      found(
          PromiseRule.COMMITTED_STAYS,
          cut.line,
          "cuts off entry "
              + cut.index
              + " of term "
              + cut.entryTerm
              + ", which was committed by "
              + commit.line);
    }
  }
}
