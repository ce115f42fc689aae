package dev.tollgate.store.statement;

import java.util.LinkedHashMap;
import java.util.Map;
import org.h2.engine.Database;
import org.h2.schema.Schema;
import org.h2.schema.Sequence;

/** The positions of all sequences, so that they can be restored. */
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

  /** Restores the sequences that have moved. */
  void restore() {
    next.forEach(
        (sequence, value) -> {
          if (sequence.getBaseValue() != value) {
            sequence.modify(value, null, null, null, null, null, null);
          }
        });
  }
}
