package dev.tollgate.history;

import dev.tollgate.history.DependencyGraph.Reason;
import dev.tollgate.history.ListTransaction.Append;
import dev.tollgate.history.ListTransaction.End;
import dev.tollgate.history.ListTransaction.Read;
import dev.tollgate.history.ListTransaction.Step;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds out whether what clients saw of lists can be explained by the isolation levels that they
 * asked for. A list at the end of all says in which order its values were appended; what the
 * transactions depend on each other for follows (Kingsbury and Alvaro, "Elle", VLDB 2020).
 *
 * <p>All transactions: nothing that was acknowledged is lost, nothing that was rolled back is seen
 * (G1a), nor half of a transaction (G1b), nor a cycle of writes (G0) or of writes and reads (G1c);
 * who has read a list FOR UPDATE and appends to it finds it as it was (no lost update).
 * Serializable transactions: no cycle at all, neither with the order of real time.
 */
final class HistoryChecker {
  private final List<ListTransaction> history;
  private final Map<Integer, List<Integer>> lists;
  private final Map<Integer, ListTransaction> writers = new HashMap<>();
  private final Set<ListTransaction> happened = new LinkedHashSet<>();
  private final List<String> anomalies = new ArrayList<>();

  private HistoryChecker(List<ListTransaction> history, Map<Integer, List<Integer>> lists) {
    this.history = history;
    this.lists = lists;
  }

  /**
   * Checks a history.
   *
   * @param lists all lists as they are in the end
   * @return what cannot be explained, empty if all can
   */
  static List<String> anomalies(List<ListTransaction> history, Map<Integer, List<Integer>> lists) {
    HistoryChecker checker = new HistoryChecker(history, lists);
    checker.findWriters();
    checker.findWhatHappened();
    checker.checkLists();
    history.forEach(checker::checkReads);
    if (checker.anomalies.isEmpty()) {
      // the order of versions can be trusted
      checker.happened.forEach(checker::checkUpdates);
      checker.graph().anomaly().ifPresent(checker.anomalies::add);
    }
    return List.copyOf(checker.anomalies);
  }

  private void findWriters() {
    for (ListTransaction transaction : history) {
      transaction
          .appended()
          .forEach(
              (key, values) ->
                  values.forEach(
                      value -> {
                        if (writers.put(value, transaction) != null) {
                          throw new IllegalArgumentException("value " + value + " is not unique");
                        }
                      }));
    }
  }

  /** A commit without an answer has happened if somebody else saw something of it. */
  private void findWhatHappened() {
    Set<ListTransaction> seen = new HashSet<>();
    lists.values().forEach(values -> values.forEach(value -> seen.add(writers.get(value))));
    for (ListTransaction reader : history) {
      for (Step step : reader.steps()) {
        if (step instanceof Read read) {
          read.values().stream()
              .map(writers::get)
              .filter(writer -> !reader.equals(writer))
              .forEach(seen::add);
        }
      }
    }
    for (ListTransaction transaction : history) {
      if (transaction.end() == End.COMMITTED
          || (transaction.end() == End.UNKNOWN && seen.contains(transaction))) {
        happened.add(transaction);
      }
    }
  }

  private List<Integer> list(int key) {
    return lists.getOrDefault(key, List.of());
  }

  /** The lists at the end hold what was committed, once, and nothing else. */
  private void checkLists() {
    lists.forEach(
        (key, values) -> {
          Set<Integer> once = new HashSet<>();
          for (Integer value : values) {
            ListTransaction writer = writers.get(value);
            if (!once.add(value)) {
              report("duplicate", "value " + value + " is in list " + key + " twice");
            } else if (writer == null
                || !writer.appended().getOrDefault(key, List.of()).contains(value)) {
              report("invention", "nobody appended " + value + " to list " + key);
            } else if (!happened.contains(writer)) {
              report("rolled back", value + " of " + writer + " is in list " + key);
            }
          }
        });
    for (ListTransaction transaction : happened) {
      transaction
          .appended()
          .forEach(
              (key, values) -> {
                if (!list(key).stream().filter(values::contains).toList().equals(values)) {
                  report(
                      transaction.end() == End.COMMITTED ? "lost write" : "torn transaction",
                      transaction + " appended " + values + " to list " + key + ": " + list(key));
                }
              });
    }
  }

  private void checkReads(ListTransaction transaction) {
    Map<Integer, List<Integer>> own = new HashMap<>();
    for (Step step : transaction.steps()) {
      List<Integer> mine = own.computeIfAbsent(step.key(), key -> new ArrayList<>());
      if (step instanceof Append append) {
        mine.add(append.value());
      } else if (step instanceof Read read) {
        checkRead(transaction, read, mine);
      }
    }
  }

  private void checkRead(ListTransaction reader, Read read, List<Integer> own) {
    String what = reader + " read " + read.values() + " in list " + read.key();
    List<Integer> others = othersPart(read, own);
    if (!read.values().subList(others.size(), read.values().size()).equals(own)) {
      report("own writes", what + " after it had appended " + own);
      return;
    }
    for (Integer value : others) {
      ListTransaction writer = writers.get(value);
      if (writer == null) {
        report("invention", what + ", and nobody appended " + value);
        return;
      }
      if (writer.end() == End.ROLLED_BACK) {
        report("G1a (aborted read)", what + ", and " + writer + " was rolled back");
        return;
      }
    }
    if (!others.isEmpty() && isIntermediate(read.key(), others)) {
      report("G1b (intermediate read)", what + ", not all of " + last(others));
    } else if (!isPrefix(others, list(read.key()))) {
      report("incompatible order", what + ", which became " + list(read.key()));
    }
  }

  /** What a read list holds before the reader's own values. */
  private static List<Integer> othersPart(Read read, List<Integer> own) {
    return read.values().subList(0, Math.max(0, read.values().size() - own.size()));
  }

  private ListTransaction last(List<Integer> values) {
    return writers.get(values.get(values.size() - 1));
  }

  private boolean isIntermediate(int key, List<Integer> values) {
    List<Integer> all = last(values).appended().getOrDefault(key, List.of());
    return !values.containsAll(all);
  }

  private static boolean isPrefix(List<Integer> start, List<Integer> whole) {
    return start.size() <= whole.size() && whole.subList(0, start.size()).equals(start);
  }

  /** Between reading a list FOR UPDATE and appending to it nobody else appends to it. */
  private void checkUpdates(ListTransaction transaction) {
    Map<Integer, Integer> locked = new LinkedHashMap<>();
    for (Step step : transaction.steps()) {
      if (step instanceof Read read && read.locking()) {
        locked.putIfAbsent(read.key(), read.values().size());
      } else if (step instanceof Append append && locked.containsKey(append.key())) {
        int size = locked.merge(append.key(), 1, Integer::sum) - 1;
        int place = list(append.key()).indexOf(append.value());
        if (place != size) {
          report(
              "lost update",
              transaction
                  + " read "
                  + list(append.key()).subList(0, size)
                  + " in list "
                  + append.key()
                  + " FOR UPDATE, and its value came to place "
                  + place);
        }
      }
    }
  }

  private DependencyGraph graph() {
    DependencyGraph graph = new DependencyGraph();
    happened.forEach(graph::add);
    lists.forEach(
        (key, values) -> {
          for (int i = 1; i < values.size(); i++) {
            graph.depends(writers.get(values.get(i - 1)), writers.get(values.get(i)), Reason.WW);
          }
        });
    for (ListTransaction transaction : happened) {
      addReads(graph, transaction);
    }
    graph.addRealTime();
    return graph;
  }

  private void addReads(DependencyGraph graph, ListTransaction reader) {
    Map<Integer, List<Integer>> own = reader.appended();
    for (Step step : reader.steps()) {
      if (step instanceof Read read) {
        List<Integer> others = new ArrayList<>(read.values());
        others.removeAll(own.getOrDefault(read.key(), List.of()));
        if (!others.isEmpty()) {
          graph.depends(last(others), reader, Reason.WR);
        }
        List<Integer> all = list(read.key());
        if (reader.serializable() && others.size() < all.size()) {
          // READ COMMITTED may read what is replaced before it ends
          graph.depends(reader, writers.get(all.get(others.size())), Reason.RW);
        }
      }
    }
  }

  private void report(String kind, String what) {
    anomalies.add(kind + ": " + what);
  }
}
