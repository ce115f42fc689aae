package dev.tollgate.log.trace;

import static java.util.Objects.requireNonNull;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Reads the lines of one node in their order, and checks what they show by themselves. */
final class PromisesOfNode {
  private static final long NONE = -1;

  private final String node;
  private final PromisesOfAll all;

  /** Of the directory of the node; empty before its first line. */
  private String incarnation = "";

  /** The highest term in the synced file. */
  private long term = NONE;

  /** The vote of each term, as the file had it. */
  private final Map<Long, String> votes = new HashMap<>();

  private long synced = NONE;

  /** The last entry that this node has promised to have. */
  private long promised = NONE;

  /** What {@link #promised} was from each place of this process on. */
  private final TreeMap<Long, Long> promises = new TreeMap<>();

  private final LogTerms log = new LogTerms();

  private final Set<Long> led = new HashSet<>();

  /** The last term that this node has led; {@link #NONE} once its own entries are all known. */
  private long leads = NONE;

  private long ownFrom;
  private String members = "";

  /** The highest acknowledgement of each follower in the term that this node leads. */
  private final Map<String, Long> counted = new HashMap<>();

  private long committed = NONE;

  PromisesOfNode(String node, PromisesOfAll all) {
    this.node = requireNonNull(node, "node");
    this.all = requireNonNull(all, "all");
  }

  void read(Promise line) {
    switch (line.kind()) {
      case RESTARTED -> restarted(line);
      case KEPT -> kept(line);
      case VOTED -> voted(line);
      case STANDS -> stands(line);
      case APPENDED -> log.put(line.other(), line.index(), line.term());
      case ACKNOWLEDGED -> acknowledged(line);
      case LACKS -> lacks(line);
      case SYNCED -> synced = Math.max(synced, line.index());
      case CUT -> cut(line);
      case REPLACED -> replaced(line);
      case COUNTED -> counted(line);
      case LEADS -> leads(line);
      case COMMITTED -> committed(line);
      case FOLLOWS -> follows(line);
    }
  }

  private void promise(Promise line, long last) {
    promised = last;
    promises.put(line.sequence(), last);
    if (promises.size() > 2 * PromiseChecker.WINDOW) {
      promises.headMap(line.sequence() - PromiseChecker.WINDOW).clear();
    }
  }

  private void restarted(Promise line) {
    int of = line.detail().indexOf(Promise.OF);
    String vote = of < 0 ? line.detail() : line.detail().substring(0, of);
    String now = line.detail().substring(vote.length());
    if (!now.equals(incarnation)) {
      forget();
      incarnation = now;
    }
    if (line.term() < term) {
      all.found(PromiseRule.TERMS_RISE, line, node + " starts in this term, and had kept " + term);
    } else if (line.term() == term && votes.containsKey(term) && !vote.equals(votes.get(term))) {
      all.found(
          PromiseRule.ONE_SYNCED_VOTE,
          line,
          node + " starts with this vote, and had voted for " + votes.get(term));
    }
    term = Math.max(term, line.term());
    if (!vote.equals(Promise.NOTHING)) {
      votes.putIfAbsent(line.term(), vote);
    }
    if (line.index() < promised) {
      all.found(
          PromiseRule.NOTHING_REGRESSES,
          line,
          node + " starts with this log, and had promised to have entry " + promised);
    }
    leadershipEnds();
    synced = line.other();
    promises.clear();
    promise(line, Math.min(promised, line.index()));
    log.cut(line.index() + 1);
    leads = NONE;
  }

  /** The node has another directory, so what it has promised before is not its own. */
  private void forget() {
    term = NONE;
    votes.clear();
    synced = NONE;
    promised = NONE;
    promises.clear();
    log.cut(0);
    led.clear();
    leads = NONE;
    counted.clear();
    committed = NONE;
  }

  private void kept(Promise line) {
    if (line.term() < term) {
      all.found(PromiseRule.TERMS_RISE, line, node + " had kept term " + term);
    }
    term = Math.max(term, line.term());
    if (line.detail().equals(Promise.NOTHING)) {
      return;
    }
    String before = votes.putIfAbsent(line.term(), line.detail());
    if (before != null && !before.equals(line.detail())) {
      all.found(
          PromiseRule.ONE_SYNCED_VOTE, line, node + " had voted for " + before + " in this term");
    }
  }

  private void voted(Promise line) {
    all.voted(line);
    requireKept(line, line.detail());
  }

  private void stands(Promise line) {
    requireKept(line, node);
  }

  private void requireKept(Promise line, String candidate) {
    String vote = votes.get(line.term());
    if (!candidate.equals(vote)) {
      all.found(
          PromiseRule.ONE_SYNCED_VOTE,
          line,
          node
              + " tells of a vote for "
              + candidate
              + (vote == null ? ", which is not synced" : ", and has synced one for " + vote));
    }
  }

  private void acknowledged(Promise line) {
    all.acknowledged(line);
    if (line.term() < term) {
      all.found(
          PromiseRule.NO_ACKNOWLEDGEMENT_OF_A_FORMER_TERM, line, node + " had kept term " + term);
    }
    if (line.index() > synced) {
      all.found(
          PromiseRule.ACKNOWLEDGED_IS_SYNCED,
          line,
          node + " has synced its log up to entry " + synced);
    }
    promise(line, Math.max(promised, line.index()));
  }

  private void lacks(Promise line) {
    Long before = promises.floorKey(line.other());
    long least = promised;
    for (long one : promises.tailMap(before == null ? line.other() : before).values()) {
      least = Math.min(least, one);
    }
    if (line.index() < least) {
      all.found(
          PromiseRule.NOTHING_REGRESSES,
          line,
          node + " has a log that ends here, and had promised to have entry " + least);
    }
  }

  private void cut(Promise line) {
    for (long index = line.index(); index < log.end(); index++) {
      if (log.at(index) != LogTerms.UNKNOWN) {
        all.cut(line, index, log.at(index));
      }
    }
    log.cut(line.index());
    synced = Math.min(synced, line.index() - 1);
    promise(line, Math.min(promised, line.index() - 1));
  }

  /** The terms of the entries in a snapshot are not known, but for the last one. */
  private void replaced(Promise line) {
    log.put(0, line.index() - 1, LogTerms.UNKNOWN);
    log.put(line.index(), line.index(), line.term());
    synced = Math.max(synced, line.index());
    promise(line, Math.max(promised, line.index()));
  }

  private void leads(Promise line) {
    led.add(line.term());
    leads = line.term();
    ownFrom = line.index() + 1;
    members = line.detail();
    counted.clear();
    all.leads(line);
  }

  /** What a majority has acknowledged is committed, although this node may have told nobody. */
  private void leadershipEnds() {
    if (leads == NONE) {
      return;
    }
    long reached =
        counted.values().stream()
            .filter(index -> index >= ownFrom || log.at(index) == leads)
            .filter(index -> Members.of(members).majority(one -> has(one, index)))
            .mapToLong(Long::longValue)
            .max()
            .orElse(NONE);
    if (reached != NONE) {
      all.reached(leads, reached);
    }
  }

  private void follows(Promise line) {
    leadershipEnds();
    if (leads != NONE) {
      log.put(ownFrom, line.index(), leads);
      leads = NONE;
    }
  }

  private void counted(Promise line) {
    all.counted(line);
    if (line.term() == leads) {
      counted.merge(line.detail(), line.index(), Math::max);
    }
  }

  private void committed(Promise line) {
    if (!led.contains(line.term())) {
      all.found(PromiseRule.ONE_LEADER, line, node + " does not lead this term");
      return;
    }
    if (line.term() == leads) {
      log.put(ownFrom, line.index(), leads);
      ownFrom = Math.max(ownFrom, line.index() + 1);
      if (log.at(line.index()) == leads && !isOfMajority(line)) {
        all.found(
            PromiseRule.COMMITTED_BY_A_MAJORITY,
            line,
            node + " has synced up to " + synced + ", and was acknowledged " + counted);
      }
      promise(line, Math.max(promised, line.index()));
    }
    members = line.detail();
    all.committed(line, log.at(line.index()));
    for (long index = committed + 1; index <= line.index(); index++) {
      if (log.at(index) != LogTerms.UNKNOWN) {
        all.committed(line, index, log.at(index));
      }
    }
    committed = Math.max(committed, line.index());
  }

  /** The members may have changed between the commit and its line. */
  private boolean isOfMajority(Promise line) {
    return Members.of(line.detail()).majority(one -> has(one, line.index()))
        || Members.of(members).majority(one -> has(one, line.index()));
  }

  private boolean has(String member, long index) {
    return (member.equals(node) ? synced : counted.getOrDefault(member, NONE)) >= index;
  }
}
