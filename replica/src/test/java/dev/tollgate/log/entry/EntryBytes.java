package dev.tollgate.log.entry;

import dev.tollgate.core.command.AppliedDigest;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Outcome;
import java.util.ArrayList;
import java.util.List;

/** Entries as bytes, for logs and drivers of tests in other packages. */
public final class EntryBytes {
  private EntryBytes() {}

  public static byte[] of(ProposedEntry entry) {
    return entry.bytes();
  }

  public static Entry read(byte[] bytes) {
    return EntryCodec.decode(bytes, List.of());
  }

  /** What a node applies that has proposed the entry itself. */
  public static Entry read(byte[] bytes, List<Proposal> proposals) {
    return EntryCodec.decode(bytes, proposals);
  }

  /** An entry of a node that need not lead. */
  public static ProposedEntry untimed(Command command) {
    return ProposedEntry.untimed(command);
  }

  /** An entry with these commands as they come out of the log, and those who wait for them. */
  public static Entry of(long stampMicros, List<Command> commands, List<Proposal> proposals) {
    List<Proposal> proposed = new ArrayList<>();
    commands.forEach(command -> proposed.add(unasked(command)));
    return EntryCodec.decode(
        EntryCodec.encode(stampMicros, AppliedDigest.NONE, proposed), proposals);
  }

  /** The command as every node reads it in the log. */
  public static Command read(Command command) {
    return of(0, List.of(command), List.of()).commands().get(0);
  }

  /** A proposal that nobody waits for. */
  public static Proposal unasked(Command command) {
    return new Proposal(EntryCodec.encode(command), Proposal.Listener.NOBODY);
  }

  /** A proposal that tells the same listener, with another command. */
  public static Proposal replaced(Command command, Proposal original) {
    return new Proposal(
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
