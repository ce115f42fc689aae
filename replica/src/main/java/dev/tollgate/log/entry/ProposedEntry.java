package dev.tollgate.log.entry;

import dev.tollgate.core.command.AppliedDigest;
import dev.tollgate.core.command.Command;
import java.util.List;

/**
 * A log entry on its way into the log: the bytes that every node will read, and the listeners of
 * its commands. It has no commands, so no log can apply anything but what these bytes say.
 */
public final class ProposedEntry {
  private final byte[] bytes;
  private final List<Proposal> proposals;

  /**
   * @param stampMicros when the leader put the entry together
   * @param digest of what the leader has applied
   */
  public ProposedEntry(long stampMicros, AppliedDigest digest, List<Proposal> proposals) {
    this.bytes = EntryCodec.encode(stampMicros, digest, proposals);
    this.proposals = List.copyOf(proposals);
  }

  /** Returns an entry of a node that need not lead, and so has no say in what time it is. */
  public static ProposedEntry untimed(Command command) {
    return new ProposedEntry(
        0,
        AppliedDigest.NONE,
        List.of(new Proposal(EntryCodec.encode(command), Proposal.Listener.NOBODY)));
  }

  /** The entry as it will stand in the log; not a copy, so callers must not write to it. */
  public byte[] bytes() {
    return bytes;
  }

  /** One per command. */
  public List<Proposal> proposals() {
    return proposals;
  }
}
