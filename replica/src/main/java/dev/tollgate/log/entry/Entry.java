package dev.tollgate.log.entry;

import dev.tollgate.core.command.AppliedDigest;
import dev.tollgate.core.command.Command;
import java.util.List;

/**
 * The content of one log entry: the commands of many sessions, and the time at which the leader put
 * them together. The entry is empty if it only proves who leads. It is decoded from bytes, even on
 * the node that proposed it. Otherwise a leader could apply something else than the other nodes
 * read.
 */
public final class Entry {
  private final long stampMicros;
  private final AppliedDigest digest;
  private final List<Command> commands;
  private final List<Proposal> proposals;

  /**
   * @param proposals one per command if this node proposed the entry, else empty
   */
  Entry(long stampMicros, AppliedDigest digest, List<Command> commands, List<Proposal> proposals) {
    if (!proposals.isEmpty() && proposals.size() != commands.size()) {
      throw new IllegalStateException(
          proposals.size() + " proposals became " + commands.size() + " commands");
    }
    this.stampMicros = stampMicros;
    this.digest = digest;
    this.commands = commands;
    this.proposals = proposals;
  }

  /** Microseconds since 1970-01-01T00:00:00Z on the leader's clock; may go back. */
  public long stampMicros() {
    return stampMicros;
  }

  /** What the leader had done when it put the entry together; none if another node did that. */
  public AppliedDigest digest() {
    return digest;
  }

  /** Returns the entry as one without a digest, which is compared with nothing. */
  public Entry withoutDigest() {
    return new Entry(stampMicros, AppliedDigest.NONE, commands, proposals);
  }

  public List<Command> commands() {
    return commands;
  }

  /** One per command if this node proposed the entry and still waits for it; else empty. */
  public List<Proposal> proposals() {
    return proposals;
  }
}
