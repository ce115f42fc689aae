package dev.tollgate.log;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.FeatureLevels;
import dev.tollgate.core.command.Text;
import dev.tollgate.log.entry.EntryCodec;
import dev.tollgate.snapshot.SnapshotWriter;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;

/**
 * What the program of a node knows, as nodes tell each other when they connect.
 *
 * @param featureLevel the highest level of {@link FeatureLevels} that it knows
 * @param protocol the newest version of the protocol with clients; 0 if the node does not say
 * @param logFormat the version of the log entries that it writes; 0 if the node does not say
 * @param snapshotFormat the version of the snapshots that it writes; 0 if the node does not say
 * @param program the version of Tollgate; empty if the node does not say, or is not packaged
 */
public record NodeVersion(
    int featureLevel, int protocol, int logFormat, int snapshotFormat, String program) {
  /** The longest text for the version of a program that another node may send. */
  private static final int PROGRAM_CHARS = 100;

  /** What is known of a node that says nothing of its version, as nodes before this one. */
  public static final NodeVersion NOT_SAID = new NodeVersion(FeatureLevels.FIRST, 0, 0, 0, "");

  public NodeVersion {
    requireNonNull(program, "program");
  }

  /** The version of this program, if it knows these levels. */
  public static NodeVersion of(FeatureLevels levels) {
    return new NodeVersion(
        levels.known(),
        Protocol.VERSION,
        EntryCodec.VERSION,
        SnapshotWriter.VERSION,
        program(NodeVersion.class.getPackage()));
  }

  private static String program(Package packaged) {
    String version = packaged.getImplementationVersion();
    return version == null ? "" : version;
  }

  /** Writes the version as {@link #read} reads it. */
  public WireWriter write(WireWriter out) {
    return out.i32(featureLevel).i32(protocol).i32(logFormat).i32(snapshotFormat).string(program);
  }

  /**
   * Reads what a node of any version has written: one from before writes nothing, and a later one
   * may append fields.
   */
  public static NodeVersion read(WireReader in) {
    if (in.remaining() == 0) {
      return NOT_SAID;
    }
    int level = in.i32();
    NodeVersion version =
        new NodeVersion(level, in.i32(), in.i32(), in.i32(), printable(in.string()));
    return level < FeatureLevels.FIRST ? NOT_SAID : version;
  }

  private static String printable(String text) {
    return Text.first(text, PROGRAM_CHARS).replaceAll("[^\\x20-\\x7e]", "?");
  }

  /** The version of the program, for messages. */
  public String describe() {
    return program.isEmpty() ? "a version that does not say which" : "Tollgate " + program;
  }
}
