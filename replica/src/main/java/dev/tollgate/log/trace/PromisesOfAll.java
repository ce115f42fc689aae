package dev.tollgate.log.trace;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** What nodes have promised each other, checked once all traces are read. */
final class PromisesOfAll {
  private final Set<String> nodes = new HashSet<>();
  private final List<BrokenPromise> broken = new ArrayList<>();

  /** The indexes that a node has acknowledged in a term. */
  private final Map<Acknowledging, BitSet> acknowledged = new HashMap<>();

  private final Map<Acknowledging, Counted> counted = new HashMap<>();

  /** By term and candidate. */
  private final Map<Long, Map<String, Set<String>>> votes = new HashMap<>();

  private final List<Promise> leaders = new ArrayList<>();

  /** The terms of the entries that were committed. */
  private final LogTerms committed = new LogTerms();

  /** The term of the first leader that has committed each entry. */
  private final LogTerms committing = new LogTerms();

  /** The last entry that the leader of a term has committed. */
  private final TreeMap<Long, Long> lastCommitted = new TreeMap<>();

  private final List<Promise> ofFormerTerms = new ArrayList<>();
  private final List<Cut> cuts = new ArrayList<>();

  private record Acknowledging(String from, long term) {}

  /**
   * @param line one of those that count
   */
  private record Counted(Promise line, BitSet indexes) {}

  private record Cut(Promise line, long index, long entryTerm) {}

  /** The trace of this node is read. */
  void add(String node) {
    nodes.add(node);
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
    acknowledged
        .computeIfAbsent(new Acknowledging(line.node(), line.term()), any -> new BitSet())
        .set(Math.toIntExact(line.index()));
  }

  void counted(Promise line) {
    counted
        .computeIfAbsent(
            new Acknowledging(line.detail(), line.term()), any -> new Counted(line, new BitSet()))
        .indexes
        .set(Math.toIntExact(line.index()));
  }

  void leads(Promise line) {
    leaders.add(line);
  }

  /** A line that says that a leader has committed an entry, and with it all before. */
  void committed(Promise line, long entryTerm) {
    lastCommitted.merge(line.term(), line.index(), Math::max);
    if (entryTerm != LogTerms.UNKNOWN && entryTerm < line.term()) {
      ofFormerTerms.add(line);
    }
  }

  /** A leader has committed this entry of its term, and may have told nobody. */
  void reached(long term, long index) {
    lastCommitted.merge(term, index, Math::max);
  }

  /** An entry that is committed by a line. */
  void committed(Promise line, long index, long entryTerm) {
    long before = committed.at(index);
    if (before == LogTerms.UNKNOWN) {
      committed.put(index, index, entryTerm);
      committing.put(index, index, line.term());
      return;
    }
    if (before != entryTerm) {
      found(
          PromiseRule.COMMITTED_STAYS,
          line,
          "entry "
              + index
              + " is of term "
              + entryTerm
              + " here, and of term "
              + before
              + " where the leader of term "
              + committing.at(index)
              + " has committed it");
    }
    committing.put(index, index, Math.min(line.term(), committing.at(index)));
  }

  void cut(Promise line, long index, long entryTerm) {
    cuts.add(new Cut(line, index, entryTerm));
  }

  /** Returns all that was found. */
  List<BrokenPromise> broken() {
    counted.forEach(this::checkCounted);
    checkLeaders();
    ofFormerTerms.forEach(this::checkFormerTerm);
    cuts.forEach(this::checkCut);
    return List.copyOf(broken);
  }

  private void checkCounted(Acknowledging by, Counted one) {
    one.indexes.andNot(acknowledged.getOrDefault(by, new BitSet()));
    if (nodes.contains(by.from) && !one.indexes.isEmpty()) {
      found(
          PromiseRule.COMMITTED_BY_A_MAJORITY,
          one.line,
          by.from + " has not acknowledged what is counted in this term: " + one.indexes);
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
          && !members.areOneAndItsFirst(line.node())
          && !members.majority(one -> one.equals(line.node()) || voters.contains(one))) {
        found(PromiseRule.ONE_LEADER, line, line.node() + " has the votes of " + voters + " alone");
      }
    }
  }

  /** An entry of a former term is committed by a former leader, or with one of the own term. */
  private void checkFormerTerm(Promise line) {
    if (Members.of(line.detail()).isWithin(nodes)
        && lastCommitted.headMap(line.term()).values().stream()
            .noneMatch(index -> index >= line.index())) {
      found(
          PromiseRule.COMMITTED_BY_A_MAJORITY,
          line,
          "the entry is of a former term, and no former leader has committed it");
    }
  }

  /** A leader of a term before the commit may cut off what a later one commits. */
  private void checkCut(Cut cut) {
    if (committed.at(cut.index) == cut.entryTerm && committing.at(cut.index) <= cut.line.term()) {
      found(
          PromiseRule.COMMITTED_STAYS,
          cut.line,
          "cuts off entry "
              + cut.index
              + " of term "
              + cut.entryTerm
              + ", which the leader of term "
              + committing.at(cut.index)
              + " has committed");
    }
  }
}
