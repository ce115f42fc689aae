package dev.tollgate.node.audit;

import dev.tollgate.core.command.AuditEvent;
import dev.tollgate.core.command.LogPosition;
import java.util.List;

/** What waits to be written. */
interface AuditWork {
  /** How much room it takes in the queue. */
  int events();

  /** The log index that it is about, or 0. */
  long logIndex();

  /**
   * Appends its lines.
   *
   * @param written the last event of the log that has a line; later ones get one
   * @return the last event of the log that has a line now
   */
  AuditPosition appendTo(StringBuilder lines, AuditPosition written);

  /** An event of a command. */
  record Numbered(int number, AuditEvent event) {}

  /** The events of a command that belong into one stream, as a whole. */
  record OfCommand(String nodeId, LogPosition command, LineTime time, List<Numbered> all)
      implements AuditWork {
    @Override
    public int events() {
      return all.size();
    }

    @Override
    public long logIndex() {
      return command.logIndex();
    }

    @Override
    public AuditPosition appendTo(StringBuilder lines, AuditPosition written) {
      AuditPosition last = written;
      for (Numbered one : all) {
        AuditPosition position = AuditPosition.of(command, one.number());
        if (position.compareTo(last) > 0) {
          lines.append(EventLines.of(nodeId, position, time, one.event()));
          last = position;
        }
      }
      return last;
    }
  }

  /** A line about this node alone. */
  record OfNode(String line) implements AuditWork {
    @Override
    public int events() {
      return 1;
    }

    @Override
    public long logIndex() {
      return 0;
    }

    @Override
    public AuditPosition appendTo(StringBuilder lines, AuditPosition written) {
      lines.append(line);
      return written;
    }
  }

  /**
   * A snapshot that this node begins: the lines before it go up to this entry. Without this line, a
   * node that starts from the snapshot could not tell whether lines are missing.
   */
  record Copied(String nodeId, LogPosition command, LineTime time) implements AuditWork {
    @Override
    public int events() {
      return 1;
    }

    @Override
    public long logIndex() {
      return command.logIndex();
    }

    @Override
    public AuditPosition appendTo(StringBuilder lines, AuditPosition written) {
      AuditPosition end = AuditPosition.endOf(command.logIndex());
      if (end.compareTo(written) <= 0) {
        return written;
      }
      lines.append(
          time.begin("snapshot_begun").number("index", command.logIndex()).text("node", nodeId));
      return end;
    }
  }

  /** A snapshot with which this node goes on: entries that it covers are not applied here. */
  record Restored(String nodeId, LogPosition command, LineTime time) implements AuditWork {
    @Override
    public int events() {
      return 1;
    }

    @Override
    public long logIndex() {
      return command.logIndex();
    }

    @Override
    public AuditPosition appendTo(StringBuilder lines, AuditPosition written) {
      AuditPosition end = AuditPosition.endOf(command.logIndex());
      if (end.compareTo(written) <= 0) {
        return written;
      }
      lines.append(
          time.begin("audit_gap")
              .number("index", command.logIndex())
              .number("after_index", written.logIndex())
              .text("node", nodeId));
      return end;
    }
  }
}
