package dev.tollgate.log;

import dev.tollgate.core.Command;
import dev.tollgate.core.Outcome;
import java.util.List;

/** Entries as bytes, for logs of tests in other packages. */
public final class EntryBytes {
  private EntryBytes() {}

  public static byte[] of(Entry entry) {
    return EntryCodec.encode(entry);
  }

  public static Entry read(byte[] bytes) {
    return EntryCodec.decode(bytes);
  }

  /** An entry of a node that need not lead. */
  public static Entry untimed(Command command) {
    return Entry.untimed(command);
  }

  /** An entry as its leader has it, with those who wait for its commands. */
  public static Entry of(long stampMicros, List<Command> commands, List<Proposal> proposals) {
    return proposals.isEmpty()
        ? Entry.read(stampMicros, commands)
        : Entry.proposed(stampMicros, proposals);
  }

  /** A proposal that nobody waits for. */
  public static Proposal unasked(Command command) {
    return new Proposal(command, EntryCodec.encode(command), Proposal.Listener.NOBODY);
  }

  /** A proposal that tells the same listener, with another command. */
  public static Proposal replaced(Command command, Proposal original) {
    return new Proposal(
        command,
        EntryCodec.encode(command),
        new Proposal.Listener() {
          @Override
          public void applied(Outcome outcome) {
            original.applied(outcome);
          }

          @Override
          public void unknown() {
            original.unknown();
          }
        });
  }
}
