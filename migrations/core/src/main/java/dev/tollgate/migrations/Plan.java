package dev.tollgate.migrations;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The scripts of a folder beside the history: what was run, what is left, and what disagrees. */
final class Plan {
  private final List<Script> scripts;
  private final List<HistoryRow> rows;

  /** The last row of each script. */
  private final Map<String, HistoryRow> latest = new LinkedHashMap<>();

  private final Map<String, Script> byKey;
  private final boolean outOfOrder;
  private final @Nullable Version last;

  /**
   * @param last the last version that is run; null for all, and repeatable scripts too
   */
  Plan(List<Script> scripts, List<HistoryRow> rows, boolean outOfOrder, @Nullable Version last) {
    this.scripts = List.copyOf(scripts);
    this.rows = List.copyOf(rows);
    this.outOfOrder = outOfOrder;
    this.last = last;
    rows.forEach(row -> latest.put(row.key(), row));
    this.byKey = scripts.stream().collect(Collectors.toMap(Script::key, script -> script));
  }

  /** A script that is left to run, with the row of the run that has begun it, if one has. */
  record Step(Script script, @Nullable HistoryRow begun) {}

  /** What is left to run, in order. Call {@link #validate} first. */
  List<Step> steps() {
    return scripts.stream()
        .filter(script -> !isDone(script) && isWanted(script))
        .map(script -> new Step(script, begun(script)))
        .toList();
  }

  private boolean isDone(Script script) {
    HistoryRow row = latest.get(script.key());
    return row != null && row.isApplied() && (!script.isRepeatable() || !isChanged(row, script));
  }

  private boolean isWanted(Script script) {
    return last == null
        || script.version().map(version -> version.compareTo(last) <= 0).orElse(false);
  }

  private @Nullable HistoryRow begun(Script script) {
    HistoryRow row = latest.get(script.key());
    return row == null || row.isApplied() ? null : row;
  }

  /** Rejects a history that the scripts do not explain. */
  void validate() throws MigrationException {
    List<String> problems = problems();
    if (!problems.isEmpty()) {
      throw new MigrationException(MigrationException.Reason.MISMATCH, String.join("\n", problems));
    }
  }

  private List<String> problems() {
    List<String> problems = new ArrayList<>();
    for (HistoryRow row : latest.values()) {
      problem(row).ifPresent(problems::add);
    }
    Optional<Version> highest =
        latest.values().stream()
            .filter(row -> !row.isUntouched())
            .map(HistoryRow::version)
            .filter(version -> version != null)
            .max(Comparator.naturalOrder());
    for (Script script : scripts) {
      Optional<Version> version = script.version();
      if (!outOfOrder
          && !latest.containsKey(script.key())
          && version.isPresent()
          && highest.isPresent()
          && version.get().compareTo(highest.get()) < 0) {
        problems.add(
            script.path()
                + " is new, but version "
                + highest.get()
                + " has been run already: give it a higher version, or allow it out of order");
      }
    }
    return problems;
  }

  private Optional<String> problem(HistoryRow row) {
    Script script = byKey.get(row.key());
    if (row.isUntouched()) {
      return Optional.empty();
    }
    if (script == null) {
      return row.isApplied()
          ? problemOfMissing(row)
          : Optional.of(
              row.script()
                  + " has been begun ("
                  + row.progress().done()
                  + " of "
                  + row.statements()
                  + " statements are done), and its file is not there: bring it back");
    }
    if (row.isApplied() && !script.isRepeatable() && isChanged(row, script)) {
      return Optional.of(
          script.path()
              + " has changed since it was run: its checksum is "
              + script.checksum()
              + ", and was "
              + row.checksum()
              + ": undo the change, or accept it with repair");
    }
    return Optional.empty();
  }

  private static boolean isChanged(HistoryRow row, Script script) {
    return !Integer.valueOf(script.checksum()).equals(row.checksum());
  }

  private static Optional<String> problemOfMissing(HistoryRow row) {
    return row.checksum() == null || row.version() == null
        ? Optional.empty()
        : Optional.of(
            row.script()
                + " was run, and its file is not there: bring it back, or accept that with repair");
  }

  /** All rows of the history, and then the scripts that have none. */
  List<ScriptState> states() {
    List<ScriptState> states = new ArrayList<>();
    for (HistoryRow row : rows) {
      states.add(ScriptState.of(row, state(row)));
    }
    for (Script script : scripts) {
      HistoryRow row = latest.get(script.key());
      if (row == null || (row.isApplied() && !isDone(script))) {
        states.add(
            ScriptState.of(
                script,
                isWanted(script) ? ScriptState.Kind.PENDING : ScriptState.Kind.BEYOND_TARGET));
      }
    }
    return states;
  }

  private ScriptState.Kind state(HistoryRow row) {
    if (row.hasUnknownStatement()) {
      return ScriptState.Kind.UNFINISHED;
    }
    if (!row.isApplied()) {
      return row.success() == null ? ScriptState.Kind.UNFINISHED : ScriptState.Kind.FAILED;
    }
    Script script = byKey.get(row.key());
    if (script == null) {
      return ScriptState.Kind.MISSING;
    }
    boolean changed = row.version() != null && isChanged(row, script);
    return changed ? ScriptState.Kind.CHANGED : ScriptState.Kind.APPLIED;
  }

  /** The rows that repair has something to do for, and their scripts. */
  List<Repair> repairs() {
    List<Repair> repairs = new ArrayList<>();
    for (HistoryRow row : latest.values()) {
      Script script = byKey.get(row.key());
      if (row.isUntouched()) {
        repairs.add(new Repair(row, Repair.Kind.REMOVE, null));
      } else if (row.isApplied() && row.version() != null) {
        if (script != null && isChanged(row, script)) {
          repairs.add(new Repair(row, Repair.Kind.ACCEPT, script.checksum()));
        } else if (script == null && row.checksum() != null) {
          repairs.add(new Repair(row, Repair.Kind.ACCEPT, null));
        }
      } else if (row.hasUnknownStatement()) {
        repairs.add(new Repair(row, Repair.Kind.SETTLE, null));
      }
    }
    return repairs;
  }

  /** A change of one row of the history. */
  record Repair(HistoryRow row, Kind kind, @Nullable Integer checksum) {
    enum Kind {
      /** The row of a script of which nothing was done. */
      REMOVE,
      /** The file is taken as it is now, or its absence. */
      ACCEPT,
      /** What became of the last statement is for the operator to say. */
      SETTLE
    }
  }
}
