package dev.tollgate.samples.torture.history;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The {@link Journal journals} of all clients, put together. Thread-safe. */
public final class History {
  private final Map<String, Operation> operations = new LinkedHashMap<>();
  private final List<Interruption> interruptions = new ArrayList<>();
  private final List<String> lines = new ArrayList<>();

  /**
   * Takes a line of a journal.
   *
   * @return false if the line is not from a journal
   * @throws IllegalArgumentException if the line is from a journal and makes no sense
   */
  public synchronized boolean add(String line) {
    String[] words = line.split("\t", -1);
    switch (words[0]) {
      case Journal.INVOKE -> {
        requireWords(line, words, 8);
        Operation operation =
            Operation.invoked(
                words[1],
                Integer.parseInt(words[2]),
                Action.valueOf(words[3]),
                words[4],
                Long.parseLong(words[5]),
                Long.parseLong(words[6]),
                Long.parseLong(words[7]));
        if (operations.put(words[1] + "#" + words[2], operation) != null) {
          throw new IllegalArgumentException("invoked twice: " + line);
        }
      }
      case Journal.RETURN -> {
        requireWords(line, words, 7);
        String key = words[1] + "#" + words[2];
        Operation invoked = operations.get(key);
        if (invoked == null || invoked.hasReturned()) {
          throw new IllegalArgumentException("answers no call: " + line);
        }
        operations.put(
            key,
            invoked.returned(
                Long.parseLong(words[6]),
                Outcome.valueOf(words[3]),
                Long.parseLong(words[4]),
                words[5]));
      }
      case Journal.STALL -> {
        requireWords(line, words, 4);
        interrupted(
            new Interruption(
                words[1],
                Interruption.Cause.STALLED,
                Long.parseLong(words[2]),
                Long.parseLong(words[3])));
      }
      default -> {
        return false;
      }
    }
    lines.add(line);
    return true;
  }

  /** The lines of all journals in the order in which they came. */
  public synchronized List<String> lines() {
    return List.copyOf(lines);
  }

  private static void requireWords(String line, String[] words, int count) {
    if (words.length != count) {
      throw new IllegalArgumentException("not " + count + " words: " + line);
    }
  }

  /** Adds an interruption that a client cannot know of itself. */
  public synchronized void interrupted(Interruption interruption) {
    interruptions.add(interruption);
  }

  /** The operations in the order in which they were announced. */
  public synchronized List<Operation> operations() {
    return List.copyOf(operations.values());
  }

  public synchronized List<Interruption> interruptions() {
    return List.copyOf(interruptions);
  }
}
