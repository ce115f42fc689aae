package dev.tollgate.log;

import dev.tollgate.core.Command;
import java.util.ArrayList;
import java.util.List;

/**
 * The content of one log entry: the commands of many sessions, and the time at which the leader put
 * them together. Empty if it is only there to prove who leads.
 */
public final class Entry {
  private final long stampMicros;
  private final List<Command> commands;
  private final List<Proposal> proposals;

  private Entry(long stampMicros, List<Command> commands, List<Proposal> proposals) {
    this.stampMicros = stampMicros;
    this.commands = commands;
    this.proposals = proposals;
  }

  /** An entry that this node proposes. */
  static Entry proposed(long stampMicros, List<Proposal> proposals) {
    List<Command> commands = new ArrayList<>(proposals.size());
    for (Proposal proposal : proposals) {
      commands.add(proposal.command());
    }
    return new Entry(stampMicros, commands, List.copyOf(proposals));
  }

  /** An entry of a node that need not lead, and so has no say in what time it is. */
  static Entry untimed(Command command) {
    return proposed(
        0, List.of(new Proposal(command, EntryCodec.encode(command), Proposal.Listener.NOBODY)));
  }

  /** An entry that was read from the log. */
  static Entry read(long stampMicros, List<Command> commands) {
    return new Entry(stampMicros, commands, List.of());
  }

  /** Microseconds since 1970-01-01T00:00:00Z on the leader's clock; may go back. */
  public long stampMicros() {
    return stampMicros;
  }

  public List<Command> commands() {
    return commands;
  }

  /** One per command if this node proposed the entry and still waits for it; else empty. */
  public List<Proposal> proposals() {
    return proposals;
  }
}
