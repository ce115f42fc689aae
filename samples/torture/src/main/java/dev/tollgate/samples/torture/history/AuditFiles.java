package dev.tollgate.samples.torture.history;

import dev.tollgate.node.audit.AuditCheck;
import dev.tollgate.seal.DataKeys;
import dev.tollgate.seal.KeyFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The audit files of all nodes, compared. Lines of the log have to be the same on every node, and
 * may be missing only where the file says so. docs/security.md describes the files.
 */
public final class AuditFiles {
  /** Differences beyond these are only counted. */
  private static final int TOLD = 5;

  private static final Pattern HEAD =
      Pattern.compile("\\{\"time\":\"[^\"]*\",\"event\":\"([a-z_]+)\"(.*)", Pattern.DOTALL);

  private static final Pattern PLACE =
      Pattern.compile(",\"index\":(\\d+),\"ordinal\":(\\d+),\"number\":(\\d+),.*", Pattern.DOTALL);

  /** What differs by node: its name, and the hash of all its lines. */
  private static final Pattern OF_NODE = Pattern.compile(",\"(?:node|before|chain)\":\"[^\"]*\"");

  /** The clock of a node stands in for the time of the log, which has none yet. */
  private static final Pattern NODE_TIME =
      Pattern.compile("\"time\":\"[^\"]*\"(?=.*,\"time_of\":\"node\")");

  private AuditFiles() {}

  /** An event of the log by its place. */
  private record Place(long index, long ordinal, long number) implements Comparable<Place> {
    @Override
    public int compareTo(Place other) {
      int byIndex = Long.compare(index, other.index);
      int byOrdinal = Long.compare(ordinal, other.ordinal);
      return byIndex != 0
          ? byIndex
          : byOrdinal != 0 ? byOrdinal : Long.compare(number, other.number);
    }
  }

  private record Gap(long first, long last) {}

  /** The file of one node. */
  private static final class Audit {
    final Map<Place, String> lines = new HashMap<>();
    final List<Gap> gaps = new ArrayList<>();
    final List<String> faults = new ArrayList<>();
    long last;

    /** Lines of these entries may come again: the node went on before them when it started. */
    Gap repeats = new Gap(1, 0);

    /** Reads as {@code tollgate audit print} does. */
    void readEncrypted(List<Path> parts, DataKeys keys) throws IOException {
      for (AuditCheck.Found found : new AuditCheck(null, keys, this::read).check(parts)) {
        AuditCheck.Fault fault = found.fault();
        if (fault != null) {
          faults.add("line " + fault.line() + " of " + fault.file() + ": " + fault.meaning());
        }
      }
    }

    void read(String line) {
      Matcher head = HEAD.matcher(line);
      if (!head.matches() || !line.endsWith("}")) {
        faults.add("a line is no event: " + line);
        return;
      }
      switch (head.group(1)) {
        case "audit_started" -> repeats = new Gap(number(line, "index"), last);
        case "audit_continued" -> {
          // the place of the line before
        }
        case "audit_gap" -> gap(number(line, "after_index"), number(line, "index"));
        case "audit_lost" -> gap(number(line, "first_index"), number(line, "last_index"));
        case "snapshot_begun" -> last = Math.max(last, number(line, "index"));
        default -> event(head.group(2), line);
      }
    }

    private void gap(long first, long end) {
      gaps.add(new Gap(first, end));
      last = Math.max(last, end);
    }

    private void event(String rest, String line) {
      Matcher place = PLACE.matcher(rest);
      if (!place.matches()) {
        return; // of this node alone
      }
      Place at =
          new Place(
              Long.parseLong(place.group(1)),
              Long.parseLong(place.group(2)),
              Long.parseLong(place.group(3)));
      last = Math.max(last, at.index());
      String same =
          OF_NODE.matcher(NODE_TIME.matcher(line).replaceFirst("\"time\":\"\"")).replaceAll("");
      String before = lines.put(at, same);
      boolean again =
          repeats.first() <= at.index() && at.index() <= repeats.last() && same.equals(before);
      if (before != null && !again) {
        faults.add("the event at " + at + " has two lines");
      }
    }

    boolean mayLack(Place at) {
      return gaps.stream().anyMatch(gap -> gap.first() <= at.index() && at.index() <= gap.last());
    }

    private static long number(String line, String member) {
      Matcher found = Pattern.compile(",\"" + member + "\":(\\d+)").matcher(line);
      return found.find() ? Long.parseLong(found.group(1)) : 0;
    }
  }

  /**
   * Compares files that none of the nodes has begun anew, and their files about activity.
   *
   * @param files about security, by the name of the node
   * @param keyFiles with the data keys of nodes that encrypt, by the name of the node
   */
  public static AuditComparison compareAll(Map<String, Path> files, Map<String, Path> keyFiles)
      throws IOException {
    Map<String, Path> activity = new TreeMap<>();
    files.forEach(
        (node, file) -> activity.put(node, file.resolveSibling(file.getFileName() + ".activity")));
    return compare(files, keyFiles).and(compare(activity, keyFiles));
  }

  static AuditComparison compare(Map<String, Path> files, Map<String, Path> keyFiles)
      throws IOException {
    Map<String, Audit> audits = new TreeMap<>();
    for (Map.Entry<String, Path> file : files.entrySet()) {
      Audit audit = new Audit();
      Path keys = keyFiles.get(file.getKey());
      if (keys == null) {
        for (Path part : partsOf(file.getValue())) {
          String text = Files.readString(part);
          // a node may be writing its last line
          text.substring(0, text.lastIndexOf('\n') + 1).lines().forEach(audit::read);
        }
      } else {
        audit.readEncrypted(partsOf(file.getValue()), DataKeys.read(new KeyFile(keys)));
      }
      audits.put(file.getKey(), audit);
    }
    // a line is written a moment after its entry was applied
    long common = audits.values().stream().mapToLong(audit -> audit.last).min().orElse(0);
    TreeMap<Place, String> all = new TreeMap<>();
    audits.values().forEach(audit -> audit.lines.forEach(all::putIfAbsent));
    List<String> differences = new ArrayList<>();
    audits.forEach(
        (node, audit) -> audit.faults.forEach(fault -> differences.add(node + ": " + fault)));
    Map<String, Long> kinds = new TreeMap<>();
    long compared = 0;
    long excused = 0;
    for (Map.Entry<Place, String> event : all.entrySet()) {
      Matcher head = HEAD.matcher(event.getValue());
      if (head.matches()) {
        kinds.merge(head.group(1), 1L, Long::sum);
      }
      int found = 0;
      for (Map.Entry<String, Audit> audit : audits.entrySet()) {
        String line = audit.getValue().lines.get(event.getKey());
        if (line != null) {
          found++;
          if (!line.equals(event.getValue())) {
            differences.add(
                audit.getKey() + " says " + line + " and another node " + event.getValue());
          }
        } else if (event.getKey().index() < common && !audit.getValue().mayLack(event.getKey())) {
          differences.add(audit.getKey() + " lacks " + event.getValue());
        } else if (event.getKey().index() < common) {
          excused++;
        }
      }
      compared += found > 1 ? found : 0;
    }
    return new AuditComparison(all.size(), compared, excused, kinds, told(differences));
  }

  /** The files, from the oldest on: a node that does not believe a line begins another file. */
  private static List<Path> partsOf(Path file) {
    List<Path> parts = new ArrayList<>(List.of(file));
    for (int number = 1; ; number++) {
      Path part = file.resolveSibling(file.getFileName() + "." + number);
      if (!Files.exists(part)) {
        return parts;
      }
      parts.add(0, part);
    }
  }

  private static List<String> told(List<String> differences) {
    if (differences.size() <= TOLD) {
      return differences;
    }
    List<String> told = new ArrayList<>(differences.subList(0, TOLD));
    told.add("and " + (differences.size() - TOLD) + " more differences");
    return told;
  }
}
