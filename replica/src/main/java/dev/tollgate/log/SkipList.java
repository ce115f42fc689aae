package dev.tollgate.log;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The commands of the log that a node does not carry out, because an operator said so. The
 * directory of the node keeps them as lines of text. The lines are never removed: a node that
 * begins with an older snapshot meets the commands again.
 *
 * @param skips in the order in which they were recorded
 */
public record SkipList(List<Skip> skips) {
  public static final SkipList NONE = new SkipList(List.of());

  /** Where a directory has the list. */
  public static final String FILE = "skips";

  private static final String COPY =
      "Copy it from another node, or remove it and skip each command again, with `tollgate skip`";

  private static final String FIRST_LINE = "tollgate skips 1";
  private static final Pattern LINE = Pattern.compile("entry (\\d{1,18})(?: command (\\d{1,9}))?");

  public SkipList {
    skips = List.copyOf(skips);
  }

  /**
   * One command of an entry, or all its commands.
   *
   * @param ordinal the place of the command in its entry, from 0; null for all of them
   */
  public record Skip(long logIndex, @Nullable Integer ordinal) {
    @Override
    public String toString() {
      return "entry " + logIndex + (ordinal == null ? "" : " command " + ordinal);
    }

    private boolean covers(long index, int place) {
      return logIndex == index && (ordinal == null || ordinal == place);
    }
  }

  /** True if a node skips this command. */
  public boolean contains(long logIndex, int ordinal) {
    for (Skip skip : skips) {
      if (skip.covers(logIndex, ordinal)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Reads the list of a node.
   *
   * @param data the directory of the node; it may not exist yet
   * @throws IOException if the list cannot be understood: skipping nothing would be wrong
   */
  public static SkipList read(Path data) throws IOException {
    Path file = data.resolve(FILE);
    if (!Files.exists(file)) {
      return NONE;
    }
    List<String> lines = lines(file);
    if (lines.isEmpty() || !lines.get(0).equals(FIRST_LINE)) {
      throw unreadable(file, lines.isEmpty() ? "" : lines.get(0));
    }
    List<Skip> skips = new ArrayList<>();
    for (String line : lines.subList(1, lines.size())) {
      Matcher parts = LINE.matcher(line);
      if (!parts.matches()) {
        throw unreadable(file, line);
      }
      String ordinal = parts.group(2);
      skips.add(
          new Skip(
              Long.parseLong(parts.group(1)), ordinal == null ? null : Integer.valueOf(ordinal)));
    }
    return new SkipList(skips);
  }

  private static List<String> lines(Path file) throws IOException {
    try {
      return WholeFile.read(file).lines().toList();
    } catch (DamagedFileException e) {
      throw new IOException(e.getMessage() + ". " + COPY, e);
    }
  }

  private static IOException unreadable(Path file, String line) {
    return new IOException(file + " cannot be understood at \"" + line + "\". " + COPY);
  }

  /** Returns this list and one more skip, on disk once this returns. */
  public SkipList with(Skip skip, Path data) throws IOException {
    if (skips.contains(skip)) {
      return this;
    }
    if (skips.size() >= Limits.SKIPPED_COMMANDS) {
      throw new IOException(
          "there are " + skips.size() + " commands to be skipped already, and no more can be");
    }
    List<Skip> all = new ArrayList<>(skips);
    all.add(requireNonNull(skip, "skip"));
    StringBuilder text = new StringBuilder(FIRST_LINE).append('\n');
    all.forEach(one -> text.append(one).append('\n'));
    WholeFile.write(data.resolve(FILE), text.toString());
    return new SkipList(all);
  }
}
