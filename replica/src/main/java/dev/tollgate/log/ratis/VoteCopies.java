package dev.tollgate.log.ratis;

import dev.tollgate.log.DamagedFileException;
import dev.tollgate.log.WholeFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.storage.RaftStorageMetadata;
import org.jspecify.annotations.Nullable;

/**
 * The content of a {@link VoteFile}. It has two copies, each within a sector of its own, and a
 * write overwrites both of them before it syncs. What was answered for has been synced, so each
 * copy has that vote or a later one, whatever a power cut leaves of the next write: the later of
 * two copies counts, and a copy that fits its checksum is enough. Thus neither a sector that was
 * torn nor a bit that was flipped brings back an earlier vote.
 */
final class VoteCopies {
  /** Each copy begins a block of the file system, and fits the smallest sector. */
  static final int BLOCK_BYTES = 4096;

  static final int SECTOR_BYTES = 512;
  static final int COPIES = 2;

  static final String TERM = "term=";
  static final String VOTE = "votedFor=";

  private static final Pattern LINES = Pattern.compile(TERM + "(\\d+)\n" + VOTE + "(.*)\n");

  private VoteCopies() {}

  /**
   * Returns the later of the copies.
   *
   * @param file for the message
   * @throws VoteFile.LostException if no copy is whole, or if they have two votes in one term
   */
  static RaftStorageMetadata lastOf(byte[] content, Path file) throws VoteFile.LostException {
    RaftStorageMetadata last = null;
    for (int copy = 0; copy < COPIES; copy++) {
      RaftStorageMetadata vote = parse(content, copy);
      if (vote == null) {
        continue;
      }
      if (last == null || isLater(last, vote)) {
        last = vote;
      } else if (isInAnotherWay(last, vote)) {
        throw new VoteFile.LostException(file, "its copies have two votes in one term", null);
      }
    }
    if (last == null) {
      throw new VoteFile.LostException(file, DamagedFileException.HOW, null);
    }
    return last;
  }

  /** True if one vote follows from another one: the vote of a term is given once. */
  static boolean isLater(RaftStorageMetadata than, RaftStorageMetadata vote) {
    return vote.getTerm() > than.getTerm()
        || (vote.getTerm() == than.getTerm() && isNone(than) && !isNone(vote));
  }

  /** True if two votes were given in one term. */
  static boolean isInAnotherWay(RaftStorageMetadata one, RaftStorageMetadata other) {
    return one.getTerm() == other.getTerm()
        && !isNone(one)
        && !isNone(other)
        && !one.getVotedFor().equals(other.getVotedFor());
  }

  private static boolean isNone(RaftStorageMetadata vote) {
    return vote.getVotedFor().equals(RaftStorageMetadata.getDefault().getVotedFor());
  }

  /** Returns what a copy says; null if it is not, to the bit, what a write of that leaves. */
  static @Nullable RaftStorageMetadata parse(byte[] content, int copy) {
    int from = copy * BLOCK_BYTES;
    if (content.length < from + SECTOR_BYTES) {
      return null;
    }
    byte[] bytes = Arrays.copyOfRange(content, from, from + SECTOR_BYTES);
    Matcher lines = LINES.matcher(new String(bytes, StandardCharsets.UTF_8));
    if (!lines.lookingAt()) {
      return null;
    }
    RaftStorageMetadata vote;
    try {
      vote =
          RaftStorageMetadata.valueOf(
              Long.parseLong(lines.group(1)), RaftPeerId.valueOf(lines.group(2)));
    } catch (NumberFormatException e) {
      return null;
    }
    return Arrays.equals(bytes, Arrays.copyOf(bytes(vote), SECTOR_BYTES)) ? vote : null;
  }

  /** Returns the content of the file. */
  static byte[] bytes(RaftStorageMetadata vote) {
    String text = WholeFile.sealed(TERM + vote.getTerm() + "\n" + VOTE + vote.getVotedFor() + "\n");
    byte[] copy = text.getBytes(StandardCharsets.UTF_8);
    if (copy.length > SECTOR_BYTES) {
      throw new IllegalArgumentException("a vote of " + copy.length + " bytes: " + vote);
    }
    byte[] content = new byte[COPIES * BLOCK_BYTES];
    Arrays.fill(content, (byte) '\n');
    for (int i = 0; i < COPIES; i++) {
      System.arraycopy(copy, 0, content, i * BLOCK_BYTES, copy.length);
    }
    return content;
  }
}
