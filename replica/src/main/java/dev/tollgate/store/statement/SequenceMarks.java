package dev.tollgate.store.statement;

import java.util.LinkedHashMap;
import java.util.Map;
import org.h2.engine.Database;
import org.h2.schema.Schema;
import org.h2.schema.Sequence;

/** Where all sequences stand, so that they can be put back there. */
final class SequenceMarks {
  private final Map<Sequence, Long> next = new LinkedHashMap<>();

  private SequenceMarks() {}

  static SequenceMarks of(Database database) {
    SequenceMarks marks = new SequenceMarks();
    for (Schema schema : database.getAllSchemas()) {
      for (Sequence sequence : schema.getAllSequences()) {
        marks.next.put(sequence, sequence.getBaseValue());
      }
    }
    return marks;
  }

  /** Puts back those that have moved. */
  void restore() {
    next.forEach(
        (sequence, value) -> {
          if (sequence.getBaseValue() != value) {
            sequence.modify(value, null, null, null, null, null, null);
          }
        });
  }
}
